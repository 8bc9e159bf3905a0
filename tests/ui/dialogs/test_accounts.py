"""Who made others wait in the time in view."""

import re

import pytest
from model.make_facts import NOW, lock, own, session
from ui.example_past import past
from ui.fake_feed import Moment, app_of, frames, settled

from zktop.model.format import session_name
from zktop.model.history.expired_sessions import ExpiredSession, FreedLock
from zktop.model.text import Text
from zktop.ui.dialogs.accounts import account_lines, accounts_of, expiry_lines
from zktop.ui.styled_text import text_of

SECOND_MS = 1000


def drawn(
    *moments: Moment, since: int = NOW, until: int, is_packed: bool = False, width: int = 96
) -> list[str]:
    """The lines of the dialog."""
    reports = [one.report for one in frames(*moments)]
    accounts = accounts_of(reports, since, until)
    return [text_of(one).rstrip() for one in account_lines(accounts, width, is_packed=is_packed)]


def after(seconds: int) -> int:
    """The moment so many seconds after the beginning."""
    return NOW + seconds * SECOND_MS


HELD: Moment = (NOW, [own(), *lock("/locks/stock", "ann", "bob", "cid")])


def test_a_holder_is_charged_with_the_time_that_others_waited() -> None:
    """Bob and Cid wait for a minute each."""
    lines = drawn(HELD, (after(60), []), until=after(60))

    text = " ".join(lines)
    assert "In these 1m00s clients waited 2m00s in all" in text
    assert any(line.split()[:2] == ["ann", "2m00s"] for line in lines)
    assert any(line.split() == ["bob", "1m00s"] for line in lines)
    assert any(line.split() == ["/locks/stock", "2m00s", "ann", "2m00s"] for line in lines)


@pytest.mark.parametrize(("width", "has_all"), [(96, True), (70, True), (52, False)])
def test_the_tables_fit_the_width(width: int, *, has_all: bool) -> None:
    """Nothing is cut off at the right; a narrow window leaves out the last column."""
    lines = drawn(HELD, (after(60), []), until=after(60), width=width)

    assert not [line for line in lines if len(line) > width or line.endswith("…")]
    assert has_all is any("WORST LOCK" in line for line in lines)
    assert any("FAILED WAITS" in line for line in lines)  # as in a report


def test_only_the_period_counts() -> None:
    """From the mark to the cursor, whatever is known of other times."""
    moments = [(after(at), []) for at in (10, 20, 30, 40)]
    lines = drawn(HELD, *moments, since=after(10), until=after(30))

    assert any(line.split()[:2] == ["ann", "40s"] for line in lines)


def test_it_says_that_no_client_waited() -> None:
    """There are no empty tables."""
    lines = drawn((NOW, lock("/locks/stock", "ann")), (after(60), []), until=after(60))

    assert lines == ["No client was seen waiting for a lock in these 1m00s."]


def test_it_says_what_is_not_known() -> None:
    """Moments that are kept once a second, and times without a connection."""
    lost = (after(10), [own(state="lost", at=after(10))])
    back = (after(40), [own(at=after(40))])
    text = " ".join(drawn(HELD, lost, back, (after(60), []), until=after(60), is_packed=True))

    assert "Of older moments, only one per second is kept, so short waits are missing." in text
    assert "Nothing is known of 30s without a connection." in text
    assert "clients waited 1m00s in all" in text


def test_locks_that_differ_only_in_ids_are_added_up() -> None:
    """Their folders are one class, with one line."""
    moment = (
        NOW,
        [*lock("/locks/order-17", "ann", "bob"), *lock("/locks/order-18", "ann", "bob")],
    )
    lines = drawn(moment, (after(60), []), until=after(60))

    assert any(line.split()[:3] == ["/locks/order-*", "2m00s", "2"] for line in lines)


def test_a_long_list_is_cut() -> None:
    """It says how many are left out."""
    queues = [one for n in range(30) for one in lock(f"/l/{chr(65 + n)}x", f"h{n}", f"w{n}")]
    lines = drawn((NOW, queues), (after(60), []), until=after(60))

    assert "and 40 more" in lines  # clients: 30 blocked others, 30 waited
    assert "and 10 more" in lines  # locks


def test_expired_sessions_are_listed_newest_first() -> None:
    """What that freed, who got it and how soon, and the queues that they left."""
    freed = (
        FreedLock(Text("/locks/stock"), Text("bob"), session("bob"), 2_000),
        FreedLock(Text("/locks/orders")),
        FreedLock(Text("/locks/shelf"), None, None, 1_000),
    )
    first = ExpiredSession(NOW, session("ann"), Text("ann"), Text("10.0.0.1:4711"), freed)
    second = ExpiredSession(after(5), session("cid"), None, None, left=(Text("/locks/mail"),))

    lines = [text_of(one) for one in expiry_lines([first, second], 96)]

    assert lines[1] == "2 sessions expired"
    assert lines[2].endswith(f"  {session_name(session('cid'))}")
    assert lines[3] == "  left the queue of /locks/mail"
    assert lines[4].endswith("  ann 10.0.0.1:4711")
    assert lines[5:] == [
        "  freed /locks/stock: bob got it 2s later",
        "  freed /locks/orders: not acquired yet",
        "  freed /locks/shelf: an unknown client got it 1s later",
    ]


@pytest.mark.parametrize(
    ("keys", "length_ms"), [((), 21_000), (("H", "m", "H"), 1_000)], ids=["in view", "marked"]
)
async def test_a_key_opens_it_on_the_timeline(keys: tuple[str, ...], length_ms: int) -> None:
    """For the time in view, or from the mark to the cursor."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("5", *keys, "b")
        text = "\n".join(await settled(pilot))

    title = re.search(r"Who made others wait: \S+:(\S+) to \S+:(\S+)Z", text)
    assert title is not None
    assert round((float(title[2]) - float(title[1])) * SECOND_MS) == length_ms
