"""The sessions in order: those at the highest risk first, or by a column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, ZK1, connections, expiry, figures, lock, own, row, session
from model.make_facts import NOW as AT
from msgspec.structs import replace
from ui.example_ensemble import read_whole
from ui.fake_feed import frames

from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import Filter, parsed_filter
from zktop.ui.screens.common import live_rows
from zktop.ui.screens.sessions.directory import MEMBERS_AT_ONCE, MEMBERS_PER_LOCK
from zktop.ui.screens.sessions.risks import RISKS
from zktop.ui.screens.sessions.rows import (
    ROWS_AT_ONCE,
    SessionRow,
    SessionRows,
)
from zktop.ui.screens.sessions.table import COLUMNS, SessionTable

LOCKS = 11  # one more, and sessions with similar names would be a group
NAMES = [f"{letter}{number}" for letter in "ABCDE" for number in range(LOCKS)]


def report_of(*idle: str, silent_ms: int = 300) -> Report:
    """Eleven locks with queues; some of the sessions are silent; the idle ones have no lock."""
    queues = [(f"A{n}", f"B{n}", f"C{n % 5}", f"D{n % 3}") for n in range(LOCKS)]
    facts = [one for n, queue in enumerate(queues) for one in lock(f"/locks/l{n}", *queue)]
    rows = [row(name, silent_ms * at, received=at) for at, name in enumerate((*NAMES, *idle))]
    tables = (
        own(),
        figures(ZK1),
        connections(ZK1, *rows),
        expiry(ZK1, {name: 9_000 - 100 * at for at, name in enumerate(NAMES[:40])}),
    )
    return frames((NOW, [*facts, *tables]))[-1].report


def rows_of(*reports: Report) -> SessionRows:
    """The rows after these reports."""
    rows = SessionRows()
    for report in reports:
        read_whole(rows, report)
    return rows


def listed(rows: SessionRows, wanted: Filter, *, is_sorted: bool = True) -> list[SessionRow]:
    """The rows that are shown."""
    lines = rows.listed(AT, wanted, is_sorted=is_sorted)
    return [one for one in lines if isinstance(one, SessionRow)]


REPORT = report_of("idle-1", "idle-2")
FILTERS = st.sampled_from(["", "A", "risk:high", "!B state:holding", "nobody"]).map(parsed_filter)


def usual(one: SessionRow) -> tuple[int, int, int, int]:
    """The highest risk first, then the most locks, then the session id."""
    locks = one.locks
    return RISKS.index(one.risk.level), -len(locks.holds), -len(locks.waits), one.session


@given(FILTERS, st.booleans())
def test_the_usual_order(wanted: Filter, is_grouped: bool) -> None:  # noqa: FBT001  drawn
    """By risk, then by locks, whatever the filter."""
    rows = rows_of(REPORT)
    rows.set_grouped(on=is_grouped)
    shown = listed(rows, wanted)
    expected = wanted.passing(rows.rows.values(), rows.fields)

    assert shown == sorted(expected, key=usual)
    assert len(rows.rows) == len(NAMES) + 2 or is_grouped


def test_the_order_does_not_depend_on_time() -> None:
    """So fifty thousand rows are not sorted each time the screen is opened."""
    rows = rows_of(REPORT)

    assert rows.ordered(AT) is rows.ordered(AT + 3_600_000)


def test_the_texts_of_a_filter_follow_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made before the first letter; the text of a row that changed is made again."""
    monkeypatch.setattr(live_rows, "TEXTS_AT_ONCE", 1)
    rows = rows_of(REPORT)
    for _ in rows.prepare():
        pass
    texts = rows._texts[""]
    assert texts.keys() == set(rows.rows.values())

    before = rows.rows[session("A1")]
    rows.put(replace(before, name=Text("renamed")))
    assert before not in texts
    assert [one.session for one in listed(rows, parsed_filter("renamed"))] == [before.session]


@given(st.sampled_from([one for one in COLUMNS if one.key]), st.booleans())
def test_every_column_sorts(column: object, is_reversed: bool) -> None:  # noqa: FBT001  drawn
    """Rows with equal values keep the usual order."""
    table = SessionTable()
    table.sorted_by, table.reversed = column.name, is_reversed  # type: ignore[attr-defined]  # a Column
    rows = listed(rows_of(REPORT), parsed_filter(""))
    key, descends = column.key, is_reversed != column.descending  # type: ignore[attr-defined]

    assert table.ordered(rows) == sorted(rows, key=key, reverse=descends)


def shape(rows: SessionRows) -> list[tuple[object, ...]]:
    """What the rows are, in order."""
    return [
        (
            one.session,
            one.risk,
            one.is_quiet,
            one.group,
            set(one.locks.holds),
            set(one.locks.waits),
        )
        for one in listed(rows, parsed_filter(""))
    ]


@given(st.lists(st.sampled_from(range(4)), min_size=1, max_size=6))
def test_rows_are_the_same_whatever_was_shown_before(steps: list[int]) -> None:
    """An update costs what changed, and gives what the last report alone gives."""
    film = [
        REPORT,
        report_of(silent_ms=10),
        replace(report_of(), ours=frozenset({session("A1")})),
        frames((NOW, lock("/locks/other", "A1", "Z9")))[-1].report,
    ]
    reports = [film[step] for step in steps]

    assert shape(rows_of(*reports)) == shape(rows_of(reports[-1]))


def test_only_changed_rows_are_made_again() -> None:
    """A row stays the same object while nothing about its session changes."""
    later = replace(REPORT, now=NOW + 5_000)
    rows = rows_of(REPORT)
    before = dict(rows.rows)

    assert read_whole(rows, later) == set()
    assert rows.rows == before
    assert rows.rows[session("A1")].report is later


def test_a_large_ensemble_is_read_in_steps() -> None:
    """First the locks of all sessions, then the rows; the result is that of one step."""
    each = 5
    locks = 2 * MEMBERS_AT_ONCE // (MEMBERS_PER_LOCK + each)
    names = [[f"w{n}-{place}" for place in range(each)] for n in range(locks)]
    facts = [one for n, queue in enumerate(names) for one in lock(f"/locks/l{n}", *queue)]
    report = frames((NOW, facts))[-1].report
    rows = SessionRows()
    made = [(len(rows.directory.locks), len(rows.rows)) for _ in rows.read(report)]

    assert made[:2] == [(locks // 2 * each, 0), (locks * each, 0)]
    assert made[2:] == [
        (locks * each, count) for count in range(ROWS_AT_ONCE, locks * each + 1, ROWS_AT_ONCE)
    ]
    assert shape(rows) == shape(rows_of(report))


def test_a_small_ensemble_is_read_at_once() -> None:
    """Its screen is complete in its first frame."""
    assert list(SessionRows().read(REPORT)) == []


def test_an_expired_session_without_locks_is_no_row() -> None:
    """Findings name the sessions of a mass expiry for two minutes; these have nothing left."""
    silent = report_of(silent_ms=9_000)
    seen = next(finding for finding in silent.findings if finding.sessions)
    sessions = (session("idle-1"), session("gone"))
    rows = SessionRows()
    listed = dict.fromkeys(("idle-1", "zktop"), 9_000)
    tables = connections(ZK1, row("idle-1")), expiry(ZK1, {**listed, "gone": 9_000})
    film = frames(
        (NOW, [*lock("/locks/l", "A"), own(), figures(ZK1), *tables]),
        (NOW + 3_000, [expiry(ZK1, listed, at=NOW + 3_000)]),
    )
    for frame, is_listed in zip(film, (True, False), strict=True):
        read_whole(rows, replace(frame.report, findings=(replace(seen, sessions=sessions),)))

        assert session("idle-1") in rows.rows
        assert (session("gone") in rows.rows) == is_listed
