"""The rows of all locks: one for each, made again only when its lock changed."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, ZK1, connections, lock, own, row, session, watches
from msgspec.structs import replace
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
    read_whole,
    released,
    servers,
    trouble,
)
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Children, Gone, Node, OwnerNames, Stat, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import parsed_filter
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.rows import GONE_SHOWN_MS, LockRows


def reports(*moments: tuple[int, object]) -> list[Report]:
    """The reports of these moments."""
    return [frame.report for frame in frames(*moments)]


def paths(rows: list[LockRow]) -> list[str]:
    """The locks of these rows."""
    return [row.path for row in rows]


@pytest.fixture
def live() -> LockRows:
    """The rows after all reports of the example ensemble."""
    made = LockRows()
    for frame in trouble():
        read_whole(made, frame.report)
    return made


def test_puts_the_worst_first(live: LockRows) -> None:
    """Deadlocks, then the orphan, then by total wait, then by path."""
    assert paths(listed(live)) == [ORDERS, STOCK, IMPORT, QUIET, LONG]


def test_problems_come_before_long_queues() -> None:
    """A long queue that moves is less urgent than a short one that is stuck."""
    busy = lock("/locks/busy", *"abcdefghi")
    live = LockRows()
    for report in reports((NOW, [*servers(), *deadlock(), *busy]), (NOW + 9_000, ())):
        read_whole(live, report)

    assert paths(listed(live)) == [ORDERS, STOCK, "/locks/busy"]


def test_contended_locks_come_before_those_that_were() -> None:
    """However long clients once waited for a lock: none waits for it now."""
    crowd, calm = lock("/locks/crowd", *"abcdefghi"), lock("/locks/now", "x", "y")
    left = [Gone(path=one.path, zxid=2_000, at=NOW + 60_000) for one in crowd[2:]]
    live = LockRows()
    moments = (NOW, [*servers(), *crowd]), (NOW + 60_000, [*left, *calm])
    for report in reports(*moments):
        read_whole(live, report)

    assert paths(listed(live)) == ["/locks/now", "/locks/crowd"]


def test_each_lock_has_a_status(live: LockRows) -> None:
    """Three letters; a question mark while a problem is only probable."""
    codes = {path: live.rows[path].status.code for path in (ORDERS, IMPORT, QUIET)}

    assert codes == {ORDERS: "DED?", IMPORT: "ORP", QUIET: "ok"}


def test_only_changed_rows_are_made_again() -> None:
    """A row is the same object while nothing about its lock changes."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    live = LockRows()
    read_whole(live, first)
    before = dict(live.rows)

    assert read_whole(live, second) == {QUIET}
    assert live.rows[LONG] is before[LONG]
    assert live.rows[QUIET] is not before[QUIET]


def test_a_finding_changes_the_rows_of_its_locks() -> None:
    """When a deadlock is over, its locks are ok although they did not change."""
    (then,) = reports((NOW, [*servers(), *deadlock()]))
    live = LockRows()
    read_whole(live, then)
    (now,) = reports((NOW, [*servers(), *lock(ORDERS, "ann", "bob", "cid"), *quiet()]))

    read_whole(live, now)

    assert live.rows[ORDERS].status.code == "ok"


def test_an_earlier_report_gives_earlier_rows() -> None:
    """The rows go back in time, too."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    live = LockRows()
    read_whole(live, second)

    read_whole(live, first)

    assert live.rows[QUIET].waiting == 1


def test_waiting_adds_up_without_changes(live: LockRows) -> None:
    """Two clients have waited for seventy seconds in orders."""
    assert live.rows[ORDERS].blocked_ms(LATER) == 2 * 70_000
    assert live.rows[ORDERS].blocked_ms(LATER + 1_000) == 2 * 71_000


def test_the_last_minute_moves_on_without_changes(live: LockRows) -> None:
    """Seconds without events have the current queue."""
    assert live.rows[ORDERS].recent(LATER) == (2,) * 60
    assert live.rows[QUIET].recent(LATER + 2_000) == (1,) * 58 + (0,) * 2


def test_seconds_before_the_first_report_are_unknown() -> None:
    """Unknown is None."""
    live = LockRows()
    for report in reports((NOW, quiet()), (NOW + 5_000, ())):
        read_whole(live, report)

    assert live.rows[QUIET].recent(NOW + 5_000) == (None,) * 54 + (1,) * 6


def test_the_row_of_a_deleted_lock_stays_under_the_cursor() -> None:
    """For some seconds; other rows go at once."""
    gone = [
        Gone(path=Text(f"{path}"), zxid=2_000_000, at=LATER)
        for path in (QUIET, join(QUIET, "x"), LONG)
    ]
    first, second, third = reports((NOW, quiet()), (LATER, gone), (LATER + GONE_SHOWN_MS, ()))
    live = LockRows()
    read_whole(live, first)
    live.kept_path = QUIET

    read_whole(live, second)

    assert paths(listed(live)) == [QUIET]
    assert live.rows[QUIET].gone_at == LATER

    read_whole(live, third)

    assert not live.rows


def test_the_row_of_a_deleted_lock_goes_when_the_cursor_moves() -> None:
    """It is not left behind."""
    gone = [Gone(path=path, zxid=2_000_000, at=LATER) for path in (QUIET, join(QUIET, "x"))]
    first, second, third = reports((NOW, quiet()), (LATER, gone), (LATER + 100, ()))
    live = LockRows()
    read_whole(live, first)
    live.kept_path = QUIET
    read_whole(live, second)
    live.kept_path = LONG

    read_whole(live, third)

    assert list(live.rows) == [LONG]


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
def test_watchers_of_a_single_node_are_its_waiters(
    watched: dict[str, tuple[str, ...]], waiting: int | None
) -> None:
    """Without a watch table their number is unknown."""
    tables = [watches(ZK1, watched)] if watched else []
    live = LockRows()
    (report,) = reports(
        (NOW, [own(), connections(ZK1, row("ann")), *tables, *single("/single/lock", "ann")])
    )
    read_whole(live, report)
    singles = [one for one in live.rows.values() if one.lock.kind == "single"]

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
def test_filters_by_fields(live: LockRows, text: str, passing: list[str]) -> None:
    """A plain word matches the path and all names; a field matches itself."""
    assert paths(listed(live, parsed_filter(text))) == passing


def test_a_changed_row_is_tested_again() -> None:
    """A client that leaves takes the lock out of the filter by its name."""
    first, second = reports((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    live, wanted = LockRows(), parsed_filter("api-1")
    read_whole(live, first)
    before = paths(listed(live, wanted))
    read_whole(live, second)

    assert (before, listed(live, wanted)) == ([QUIET], [])


@pytest.mark.parametrize(
    ("text", "learned"),
    [
        ("10.0.0.1", connections(ZK1, row("api-1"), at=LATER)),
        ("billing", OwnerNames(zxid=0, at=LATER, owners={hex(session("api-1")): "billing"})),
    ],
)
def test_a_filter_knows_names_that_come_later(text: str, learned: AnyFact) -> None:
    """A client without a label has the name of its address, or that in the list of owners."""
    nodes = [
        replace(fact, data=b"") if isinstance(fact, Node) else fact
        for fact in lock(QUIET, "api-1")
    ]
    first, second = reports((NOW, [own(), *nodes]), (LATER, [learned]))
    live, wanted = LockRows(), parsed_filter(text)
    read_whole(live, first)
    before = paths(listed(live, wanted))
    live.take_changed()
    read_whole(live, second)

    assert (before, paths(listed(live, wanted))) == ([], [QUIET])
    assert live.take_changed()


@given(steps=st.lists(st.sampled_from(["ann", "bob", "cid", "api-1", "rep-1"]), unique=True))
def test_rows_are_the_same_whatever_was_shown_before(steps: list[str]) -> None:
    """They depend on the last report alone."""
    places = {"ann": (ORDERS, 0), "bob": (ORDERS, 1), "cid": (ORDERS, 2), "api-1": (QUIET, 0)}
    moments: list[tuple[int, object]] = [(NOW, [*servers(), *deadlock(), *quiet()])]
    for number, name in enumerate(steps, start=1):
        at = NOW + number * 2_500
        path, place = places.get(name, (LONG, 0))
        moments.append((at, [released(path, name, at, place)]))
    found, fresh = LockRows(), LockRows()
    for report in reports(*moments):
        read_whole(found, report)
    read_whole(fresh, report)

    assert shapes(found) == shapes(fresh)


def test_a_collection_of_garbage_does_not_look_at_rows(live: LockRows) -> None:
    """With 100,000 of them it would take 60 ms, while a user types."""
    assert not any(map(gc.is_tracked, live.rows.values()))


def shapes(live: LockRows) -> list[tuple[object, ...]]:
    """What is known of each row, in the usual order."""
    return [(row.lock, row.history, row.status, row.waiting) for row in listed(live)]


def test_names_are_forgotten_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first connection table of a large ensemble changes the names of all its clients."""
    monkeypatch.setattr("zktop.ui.screens.locks.rows.MEMBERS_AT_ONCE", 1)
    tables = connections(ZK1, row("api-1"), row("api-2"), at=LATER)
    nodes = [*lock(QUIET, "api-1"), *lock(LONG, "api-2")]
    first, second = reports((NOW, [own(), *nodes]), (LATER, [tables]))
    live = LockRows()
    read_whole(live, first)
    listed(live, parsed_filter("api"))

    assert len([*live.read(second)]) == len(second.paths)
