"""The cells of one lock in the table of all locks."""

import msgspec
import pytest
from model.findings.cases import Minute
from model.make_facts import NOW, kazoo_name, lock, own
from ui.example_ensemble import IMPORT, LATER, ORDERS, QUIET, rows_of, seen, trouble
from ui.example_queues import lock_of
from ui.fake_feed import app_of, frames, panel, settled

from zktop.model.facts import Children, Denied, Node, Stat, join
from zktop.model.findings.catalogue import RULES
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.screens.common.graphs import sparkline
from zktop.ui.screens.common.lock_status import CODES, OTHER_CODE, status_of
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.table import NO_AGE, LockCells, columns
from zktop.ui.styled_text import text_of
from zktop.ui.terminal_filters import to_ascii

AGES = ("HELD", "OLDEST")


@pytest.fixture
def report() -> Report:
    """The last report of the example ensemble."""
    return trouble()[-1].report


def cells_of(report: Report, row: LockRow, *, is_ascii: bool = False) -> dict[str, str]:
    """All cells of a row, by the names of their columns."""
    cells = LockCells()
    cells.report, cells.is_ascii = report, is_ascii
    return {column.name: text_of(column.draw(row)) for column in columns(cells)}


def test_draws_a_lock_in_a_deadlock(report: Report) -> None:
    """Times that are only lower bounds have a sign."""
    drawn = cells_of(report, rows_of(report).rows[ORDERS])

    assert drawn == {
        "STATE": " DEADLOCK? ",
        "LOCK": "/locks/orders",
        "KIND": "mutex",
        "HOLDER": "X ann",
        "HELD": "≥1m10s",
        "QUEUE": "▌      2",
        "MIX": "X2",
        "OLDEST": "≥1m10s",
        "TOTAL WAIT": "2m20s",
        "REQ/s": "-",
        "HOLD p50/p99": "-",
        "60s": "⣤" * 5,
    }


def test_an_ascii_terminal_gets_ascii(report: Report) -> None:
    """No cell needs other characters, but for the dots of the graph, which the filter replaces."""
    drawn = cells_of(report, rows_of(report).rows[ORDERS], is_ascii=True)
    graph = to_ascii(drawn.pop("60s"))

    assert all(text.isascii() for text in drawn.values())
    assert (drawn["HELD"], graph) == (">=1m10s", ":" * 5)


def test_says_that_an_orphan_has_no_owner(report: Report) -> None:
    """A persistent node may have a label, but no session owns it."""
    assert cells_of(report, rows_of(report).rows[IMPORT])["HOLDER"] == "X no owner (zed)"


def test_a_grant_that_was_seen_has_an_exact_age(report: Report) -> None:
    """The second client acquired the lock when the first one released it."""
    drawn = cells_of(report, rows_of(report).rows[QUIET])

    assert (drawn["HOLDER"], drawn["HELD"], drawn["OLDEST"]) == ("X api-2", "<1s", "-")


def read_write(*modes: str) -> list[Node | Children]:
    """A lock with readers and writers in this order."""
    path = Text("/locks/rw")
    names = tuple(kazoo_name(f"c{place}", place, mode) for place, mode in enumerate(modes))
    root = Stat(1, 1, 0, cversion=len(names), num_children=len(names), pzxid=50)
    listing = Children(path=path, names=names, stat=root, zxid=50, at=NOW)
    stats = (Stat(2 + place, 2 + place, NOW, owner=0x100 + place) for place in range(len(names)))
    nodes = [
        Node(path=join(path, name), stat=stat, zxid=50, at=NOW)
        for name, stat in zip(names, stats, strict=True)
    ]
    return [listing, *nodes]


LOCK, RLOCK = "lock", "rlock"


@pytest.mark.parametrize(
    ("modes", "holder", "mix"),
    [
        ([RLOCK] * 3, "R 0x100 +2", ""),
        ([LOCK, *[RLOCK] * 5, LOCK, RLOCK], "W 0x100", "R5.W.R"),
        ([LOCK, *[RLOCK, LOCK] * 10], "W 0x100", "R.W.R.W.R.W.R.W.."),
    ],
)
def test_writes_the_queue_as_runs(modes: list[str], holder: str, mix: str) -> None:
    """Adjacent readers are one run; a long mix is cut."""
    report, live = seen(read_write(*modes))
    drawn = cells_of(report, live.rows[Text("/locks/rw")])

    assert (drawn["HOLDER"], drawn["MIX"]) == (holder, mix)


@pytest.mark.parametrize(
    ("waiters", "mix"), [("WR" * 4, "W.R.W.R.W.R.W.R"), ("WR" * 4 + "W", "W.R.W.R.W.R.W.R..")]
)
def test_the_mix_says_that_it_is_cut_only_when_it_is(waiters: str, mix: str) -> None:
    """Eight runs fit."""
    (row,) = rows_of(lock_of(f"W{waiters}")).rows.values()

    assert row.mix == mix


def test_a_lock_that_cannot_be_read_is_neither_free_nor_ok() -> None:
    """Unknown is not ok."""
    root = Settings(roots=(Root(Text("/locks/secret")),))
    report, live = seen(
        [Denied(path=Text("/locks/secret"), what="list", zxid=5, at=NOW)], NOW, root
    )
    drawn = cells_of(report, live.rows[Text("/locks/secret")])

    assert (drawn["HOLDER"], drawn["HELD"]) == ("?", "?")
    assert (drawn["STATE"], drawn["QUEUE"], drawn["OLDEST"], drawn["TOTAL WAIT"]) == (
        " DENIED ",
        "?",
        "?",
        "?",
    )
    assert "DENIED" in live.rows[Text("/locks/secret")].states.split()  # for state:denied


def test_a_lock_that_became_unreadable_is_not_dated_by_what_was_known_before() -> None:
    """Its holder may have released it since."""
    denied = Denied(path=Text("/locks/orders"), what="list", zxid=2_000_000, at=NOW + 5_000)
    *_, last = frames((NOW, lock("/locks/orders", "ann", "bob")), (NOW + 5_000, [denied]))
    row = rows_of(last.report).rows[Text("/locks/orders")]
    drawn = cells_of(last.report, row)
    age_keys = {one.key(row) for one in columns(LockCells()) if one.name in AGES and one.key}

    assert drawn["STATE"] == " DENIED "
    assert {drawn[one] for one in ("HOLDER", *AGES, "QUEUE", "TOTAL WAIT")} == {"?"}
    assert age_keys == {NO_AGE}


def test_the_row_of_a_deleted_lock_says_so(report: Report) -> None:
    """It shows no values that are no longer true."""
    row = msgspec.structs.replace(rows_of(report).rows[ORDERS], gone_at=LATER)
    drawn = cells_of(report, row)

    assert (drawn["STATE"], drawn["HOLDER"], drawn["HELD"], drawn["60s"]) == (
        " gone",
        "-",
        "-",
        "",
    )


@pytest.mark.parametrize(
    ("seconds", "said"), [(86_465, "1d00h"), (12_345, "3h25m"), (123_456_789, "1428d")]
)
def test_a_long_sum_of_waits_is_a_duration(report: Report, seconds: int, said: str) -> None:
    """Like all others; nobody divides five digits by 3,600 at a glance."""
    row = rows_of(report).rows[ORDERS]
    past = msgspec.structs.replace(row.history, blocked_ms=seconds * 1000, at=LATER, changed_at=0)

    assert cells_of(report, msgspec.structs.replace(row, history=past))["TOTAL WAIT"] == said


def test_a_rate_falls_without_new_requests(report: Report) -> None:
    """The window of one minute moves on."""
    row = rows_of(report).rows[QUIET]
    minute = Minute(requests_per_s=2.0)
    past = msgspec.structs.replace(row.history, minute=minute, at=LATER)
    row = msgspec.structs.replace(row, history=past)

    assert row.rate(LATER) == 2.0
    assert row.rate(LATER + 30_000) == pytest.approx(2.0 * 60 / 90)
    assert row.rate(LATER + 60_000) == 0.0


def test_past_spans_stay_as_they_were_drawn() -> None:
    """Only the last column changes with the time."""
    seconds = [0] * 20 + [8] * 20 + [0] * 20
    now = 120_000
    before = text_of(sparkline(seconds, now, 5))
    after = text_of(sparkline([*seconds[1:], 0], now + 1_000, 5))

    assert before[1:-1] == after[1:-1]


@pytest.mark.parametrize(
    ("queue", "ink"), [(None, "dim"), (0, "dim"), (1, "medium"), (5, "medium"), (9, "high")]
)
def test_a_long_queue_is_red_and_an_empty_one_is_dim(queue: int | None, ink: str) -> None:
    """Between them it is amber."""
    (run,) = sparkline([queue] * 60, 59_000, 5)

    assert run.ink == ink
    assert (run.text == " " * 5) == (queue is None)


def test_candidates_of_an_election_are_not_amber(report: Report) -> None:
    """They stand by, so a long queue of them is no problem."""
    row = rows_of(report).rows[ORDERS]
    cells = LockCells()
    cells.report = report
    elected = msgspec.structs.replace(row, lock=msgspec.structs.replace(row.lock, kind="election"))

    assert {run.ink for run in cells.minute(elected)} == {"standby"}


def test_every_rule_about_locks_has_letters() -> None:
    """All others have a common sign."""
    unnamed = {rule.id for rule in RULES} - CODES.keys()

    of_no_lock = {"P3", "P11", "P12", "P13", "P14", "P15", "P16", "P17", "R8", "R9", "R10"}
    assert unnamed <= of_no_lock | {"L11", "P5", "R1", "R5", "R6"}
    assert all(len(code) == 3 for code in CODES.values())


@pytest.mark.parametrize(
    ("confidence", "severity", "code", "ink"),
    [
        ("C4", "critical", "ORP", "critical"),
        ("C3", "critical", "ORP", "critical"),
        ("C2", "critical", "ORP?", "warning"),
        ("C1", "warning", "ORP?", "dim"),
        ("C4", "warning", "ORP", "warning"),
        ("C4", "info", "ORP", "info"),
    ],
)
def test_red_is_only_for_confirmed_findings(
    report: Report, confidence: str, severity: str, code: str, ink: str
) -> None:
    """Others have a question mark and another ink."""
    orphan_found = next(one for one in report.findings if one.rule == "B1")
    finding = msgspec.structs.replace(orphan_found, confidence=confidence, severity=severity)
    mark = status_of(finding)

    assert (mark.code, mark.ink) == (code, ink)


def test_a_filter_finds_a_finding_as_it_is_shown(report: Report) -> None:
    """Word by word, and as scripts write it."""
    finding = msgspec.structs.replace(report.findings[0], name="silent-holder")
    words = status_of(finding).words

    assert all(typed in words for typed in ("silent", "holder", "silent-holder"))


def test_a_client_that_loses_its_connection_again_and_again_is_not_silent(report: Report) -> None:
    """It is heard from each time that it has connected again."""
    finding = msgspec.structs.replace(report.findings[0], rule="P2", name="flapping-session")

    assert status_of(finding).word == "FLAPS"


def test_a_rule_without_letters_has_the_common_sign(report: Report) -> None:
    """An unknown rule is shown, too."""
    finding = msgspec.structs.replace(report.findings[0], rule="R6", name="equal-sequences")

    assert status_of(finding).code.startswith(OTHER_CODE)


@pytest.mark.parametrize(
    ("holder", "shown"),
    [("bob", "/zktop-demo/ab-ba/stock"), ("orders-api-of-the-north", "…/ab-ba/stock")],
)
async def test_a_path_gets_the_cells_that_no_holder_needs(holder: str, shown: str) -> None:
    """At 120 columns, and at once."""
    facts = [own(), *lock("/zktop-demo/ab-ba/stock", holder, "cid")]
    async with app_of(*frames((NOW, facts))).run_test(size=(120, 36)) as pilot:
        rows = panel(await settled(pilot), "Locks")

    assert rows[0].split() == ["STATE", "LOCK", "HOLDER", "HELD", "QUEUE", "60s"]
    assert rows[1].split()[1] == shown
