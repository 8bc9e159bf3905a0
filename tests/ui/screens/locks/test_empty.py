"""A screen without locks says why."""

import pytest
from model.make_facts import NOW
from ui.example_ensemble import texts, trouble
from ui.fake_feed import FakeFeed, frames

from zktop.model.facts import Children, Stat
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.filters import parsed_filter
from zktop.ui.interfaces import FeedState, Frame, Status
from zktop.ui.keys import key_of
from zktop.ui.past.pulse import Pulse
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.styled_text import width_of
from zktop.ui.view_state import ViewState


@pytest.fixture
def report() -> Report:
    """The last report of the example ensemble."""
    return trouble()[-1].report


def moment_of(report: Report | None, status: Status, text: str = "", **more: object) -> ViewState:
    """A moment without surroundings."""
    frame = None if report is None else Frame(report)
    more.setdefault("feed", FakeFeed())
    return ViewState(
        pulse=Pulse(),
        key_of=key_of,
        frame=frame,
        status=status,
        tape=Tape(),
        filter=parsed_filter(text),
        **more,  # type: ignore[arg-type]  # what a test adds
    )


@pytest.mark.parametrize(
    ("word", "says", "words"),
    [
        ("connecting", "Connecting to zk1:2181, for at most 10s.", ["zk1:2181", "only reads"]),
        ("reading", "Connected. 1200 znodes were read so far.", ["Reading", "1200 znodes"]),
        ("failed", "No answer from zk1:2181.", ["No connection", "zk1:2181", "--hosts"]),
        ("replay", "", ["No data yet."]),
    ],
)
def test_says_what_it_waits_for(word: FeedState, says: str, words: list[str]) -> None:
    """Before the first report: what zktop tries, and what the user can do."""
    text = " ".join(texts(empty_state(moment_of(None, Status(word, says)), 80)))

    assert all(one in text for one in words)


def test_says_where_it_looked_and_found_nothing() -> None:
    """It also says how to search elsewhere."""
    (nowhere,) = frames((NOW, ()))
    (rooted,) = frames((NOW, ()), settings=Settings(roots=(Root("/app/*"),)))
    said = [
        " ".join(texts(empty_state(moment_of(one.report, Status("live")), 80)))
        for one in (nowhere, rooted)
    ]

    assert "everywhere that it has permission to read" in said[0]
    assert "below /app/*" in said[1]
    assert all("as soon as" in one for one in said)
    assert all("--root" in one for one in said)


@pytest.mark.parametrize(
    ("word", "is_live", "is_newest"),
    [
        ("replay", False, False),
        ("lost", True, True),
        ("failed", True, True),
        ("live", True, False),
    ],
)
def test_new_locks_are_promised_only_for_now(
    word: FeedState, *, is_live: bool, is_newest: bool
) -> None:
    """Not of a recording, a lost connection, or the past; a recording has no other root."""
    (nowhere,) = frames((NOW, ()))
    feed = FakeFeed(is_live=is_live)
    moment = moment_of(nowhere.report, Status(word), feed=feed, is_newest=is_newest)
    said = " ".join(texts(empty_state(moment, 80)))

    assert "zktop searched everywhere" in said
    assert "as soon as" not in said
    assert ("--root" in said) == is_live


def test_says_that_a_root_does_not_exist() -> None:
    """In amber, with a suggestion; the demo root is not named, as it was not asked for."""
    listed = Children(path=Text("/"), names=(Text("locks"),), stat=Stat(1, 1, 0), zxid=9, at=NOW)
    settings = Settings(
        roots=(Root("/lock/**"), Root("/zktop-demo/**")), own_roots=("/zktop-demo/**",)
    )
    (seen,) = frames((NOW, (listed,)), settings=settings)
    drawn = empty_state(moment_of(seen.report, Status("live")), 80)
    text = " ".join(texts(drawn))

    assert "/lock (root /lock/**) does not exist (yet). Did you mean /locks/**?" in text
    assert "warning" in {run.ink for one in drawn for run in one if "not exist" in run.text}
    assert "zktop-demo" not in text


def test_names_the_filter_that_no_lock_matches(report: Report) -> None:
    """It also names the key that clears it."""
    text = "\n".join(texts(empty_state(moment_of(report, Status("live"), "nobody"), 80)))

    assert "5 locks, but none matches the filter: nobody" in text
    assert "esc clears the filter" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_fits_into_the_width(width: int) -> None:
    """No sentence is cut."""
    status = Status("failed", "A long sentence about what went wrong with this connection. " * 3)
    lines = empty_state(moment_of(None, status), width)

    assert all(width_of(line) <= max(width, 60) for line in lines)
