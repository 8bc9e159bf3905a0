"""The board: a row for each lock, made anew only where something changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, ZK1, connections, lock, own, row, session, watches
from ui.example_ensemble import (
    IMPORT,
    LATER,
    LONG,
    ORDERS,
    QUIET,
    STOCK,
    deadlock,
    listed,
    quiet,
    released,
    servers,
    trouble,
)
from ui.fake_feed import frames

from zktop.model.facts import Children, Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import parsed
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.screens.locks.rows import GONE_SHOWN_MS, LockRows


def reports(*moments: tuple[int, object]) -> list[Report]:
    """The reports of these moments."""
    return [frame.report for frame in frames(*moments)]


def paths(rows: list[LockRow]) -> list[str]:
    """The locks of these rows."""
    return [row.path for row in rows]


@pytest.fixture
def board() -> LockRows:
    """A board that was told of all the trouble."""
    made = LockRows()
    for frame in trouble():
        made.update(frame.report)
    return made


def test_puts_the_worst_first(board: LockRows) -> None:
    """Deadlocks, then the orphan, then by the time lost in waiting, then by path."""
    assert paths(listed(board)) == [ORDERS, STOCK, IMPORT, QUIET, LONG]


def test_trouble_comes_before_mere_waiting() -> None:
    """A long queue that moves is less urgent than a short one that never will."""
    busy = lock("/locks/busy", *"abcdefghi")
    board = LockRows()
    for report in reports((NOW, [*servers(), *deadlock(), *busy]), (NOW + 9_000, ())):
        board.update(report)

    assert paths(listed(board)) == [ORDERS, STOCK, "/locks/busy"]


def test_knows_the_state_of_each_lock(board: LockRows) -> None:
    """What was found there in three letters; a question mark while it is only probable."""
    codes = {path: board.rows[path].status.code for path in (ORDERS, IMPORT, QUIET)}

    assert codes == {ORDERS: "DED?", IMPORT: "ORP", QUIET: "ok"}


def test_makes_only_changed_rows_anew() -> None:
    """A row is the same object for as long as nothing about its lock changed."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    board = LockRows()
    board.update(first)
    before = dict(board.rows)

    assert board.update(second) == {QUIET}
    assert board.rows[LONG] is before[LONG]
    assert board.rows[QUIET] is not before[QUIET]


def test_a_finding_changes_the_rows_of_its_locks() -> None:
    """A deadlock that is over leaves its locks as they are, and yet they look different."""
    (then,) = reports((NOW, [*servers(), *deadlock()]))
    board = LockRows()
    board.update(then)
    (now,) = reports((NOW, [*servers(), *lock(ORDERS, "ann", "bob", "cid"), *quiet()]))

    board.update(now)

    assert board.rows[ORDERS].status.code == "ok"


def test_goes_back_in_time_as_well() -> None:
    """An earlier report gives the rows of then."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    board = LockRows()
    board.update(second)

    board.update(first)

    assert board.rows[QUIET].waiting == 1


def test_waiting_adds_up_without_news(board: LockRows) -> None:
    """Two have waited for seventy seconds in orders."""
    assert board.rows[ORDERS].blocked_ms(LATER) == 2 * 70_000
    assert board.rows[ORDERS].blocked_ms(LATER + 1_000) == 2 * 71_000


def test_the_last_minute_goes_on_without_news(board: LockRows) -> None:
    """Seconds that nobody told anything about have the queue that there is."""
    assert board.rows[ORDERS].recent(LATER) == (2,) * 60
    assert board.rows[QUIET].recent(LATER + 2_000) == (1,) * 58 + (0,) * 2


def test_does_not_make_up_seconds_before_the_first_look() -> None:
    """Unknown is None."""
    board = LockRows()
    for report in reports((NOW, quiet()), (NOW + 5_000, ())):
        board.update(report)

    assert board.rows[QUIET].recent(NOW + 5_000) == (None,) * 54 + (1,) * 6


def test_mourns_only_the_row_under_the_cursor() -> None:
    """A lock that vanished stays as a row for some seconds, if somebody looks at it."""
    gone = [
        Gone(path=Text(f"{path}"), zxid=2_000_000, at=LATER)
        for path in (QUIET, join(QUIET, "x"), LONG)
    ]
    first, second, third = reports((NOW, quiet()), (LATER, gone), (LATER + GONE_SHOWN_MS, ()))
    board = LockRows()
    board.update(first)
    board.kept = QUIET

    board.update(second)

    assert paths(listed(board)) == [QUIET]
    assert board.rows[QUIET].gone_at == LATER

    board.update(third)

    assert not board.rows


def test_forgets_a_shadow_that_nobody_looks_at_any_more() -> None:
    """The cursor has gone on: no shadow is left behind."""
    gone = [Gone(path=path, zxid=2_000_000, at=LATER) for path in (QUIET, join(QUIET, "x"))]
    first, second, third = reports((NOW, quiet()), (LATER, gone), (LATER + 100, ()))
    board = LockRows()
    board.update(first)
    board.kept = QUIET
    board.update(second)
    board.kept = LONG

    board.update(third)

    assert list(board.rows) == [LONG]


def single(path: str, owner: str) -> list[Node | Children]:
    """A lock that is one ephemeral node."""
    stat = Stat(5, 5, NOW, owner=session(owner))
    node = Node(path=Text(path), stat=stat, data=owner.encode(), zxid=50, at=NOW)
    root = Stat(1, 1, 0, cversion=1, num_children=1, pzxid=5)
    name = Text(path.rpartition("/")[2])
    return [Children(path=Text("/single"), names=(name,), stat=root, zxid=50, at=NOW), node]


@pytest.mark.parametrize(
    ("watched", "waiting"),
    [({}, None), ({"bob": ("/single/lock",), "cid": ("/single/lock",)}, 2)],
)
def test_counts_watchers_as_waiters_where_there_are_no_others(
    watched: dict[str, tuple[str, ...]], waiting: int | None
) -> None:
    """Whoever watches a lock of a single node waits for it; without a watch table: unknown."""
    tables = [watches(ZK1, watched)] if watched else []
    board = LockRows()
    (report,) = reports(
        (NOW, [own(), connections(ZK1, row("ann")), *tables, *single("/single/lock", "ann")])
    )
    board.update(report)
    singles = [one for one in board.rows.values() if one.lock.kind == "single"]

    assert [one.waiting for one in singles] == [waiting]


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("orders", [ORDERS]),
        ("api-2", [QUIET]),
        ("!locks", []),
        ("state:deadlock", [ORDERS, STOCK]),
        ("state:waiting !state:critical", []),
        ("owner:rep", [LONG]),
        ("kind:mutex layout:kazoo path:user", [QUIET]),
        ("state:orphan", [IMPORT]),
        ("/user|import/", [IMPORT, QUIET]),
        (f"session:{session('rep-1'):#x}", [LONG]),
        ("nothing:here", []),
    ],
)
def test_filters_by_fields(board: LockRows, text: str, passing: list[str]) -> None:
    """A plain word looks at the path and at everybody's name; a field at itself."""
    assert paths(listed(board, parsed(text))) == passing


def test_a_changed_row_is_tested_again() -> None:
    """Whoever leaves takes the lock out of the filter by his name."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    board, wanted = LockRows(), parsed("api-1")
    board.update(first)
    before = paths(listed(board, wanted))
    board.update(second)

    assert (before, listed(board, wanted)) == ([QUIET], [])


@given(steps=st.lists(st.sampled_from(["ann", "bob", "cid", "api-1", "rep-1"]), unique=True))
def test_a_fold_gives_what_a_new_board_would(steps: list[str]) -> None:
    """Whatever happened on the way, the rows are those of the last report."""
    places = {"ann": (ORDERS, 0), "bob": (ORDERS, 1), "cid": (ORDERS, 2), "api-1": (QUIET, 0)}
    moments: list[tuple[int, object]] = [(NOW, [*servers(), *deadlock(), *quiet()])]
    for number, name in enumerate(steps, start=1):
        at = NOW + number * 2_500
        path, place = places.get(name, (LONG, 0))
        moments.append((at, [released(path, name, at, place)]))
    told, fresh = LockRows(), LockRows()
    for report in reports(*moments):
        told.update(report)
    fresh.update(report)

    assert shapes(told) == shapes(fresh)


def shapes(board: LockRows) -> list[tuple[object, ...]]:
    """What is known of each row, in the usual order."""
    return [(row.lock, row.history, row.status, row.waiting) for row in listed(board)]
