"""The usual order of rows, and how often it may change."""

from collections.abc import Callable, Iterator, Mapping
from math import inf
from time import perf_counter, sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.history.lock_history import FirstLook, LockHistory
from zktop.model.layouts.layout import LockKind
from zktop.model.locks.lock import Lock
from zktop.model.text import Text
from zktop.ui.filters import parsed_filter
from zktop.ui.inks import Ink
from zktop.ui.screens.common import live_rows
from zktop.ui.screens.common.live_rows import AFTER_KEY_S, AGING_S, RowSorter
from zktop.ui.screens.common.lock_status import QUIET_RANK, LockStatus
from zktop.ui.screens.common.throttle import READABLE_S
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.rows import LockRows

NOW = 1_800_000_000_000
MARKS: list[tuple[int, Ink]] = [
    (0, "critical"),
    (12, "warning"),
    (1_012, "warning"),
    (QUIET_RANK, "good"),
]
NAMES = [Text(f"/locks/{letter}") for letter in "abcdefgh"]


def lock(path: Text, kind: LockKind) -> Lock:
    """A lock of this kind without members."""
    return Lock(path, "kazoo-lock", kind, (), None, 0, NOW)


@st.composite
def rows(draw: st.DrawFn, path: Text) -> LockRow:
    """A row of this lock; many values are equal, so that there are ties."""
    known_at = NOW - draw(st.sampled_from([0, 1_000, 60_000]))
    is_old = draw(st.booleans())
    history = LockHistory(
        at=known_at,
        first_look=FirstLook(known_at, known_at),
        changed_at=known_at if is_old else None,
        blocked_ms=draw(st.sampled_from([0, 0, 4_000, 60_000, 10**13])),
    )
    rank, ink = draw(st.sampled_from(MARKS))
    mark = LockStatus("x", ink, rank)
    kind: LockKind = draw(st.sampled_from(["mutex", "mutex", "election"]))
    waiting = draw(st.sampled_from([None, 0, 1, 4, 50_000]))
    gone_at = draw(st.sampled_from([None, None, None, known_at + 500]))
    return LockRow(lock(path, kind), history, mark, waiting, gone_at)


def tables() -> st.SearchStrategy[list[LockRow]]:
    """Rows in the order of their paths."""
    chosen = st.lists(st.sampled_from(NAMES), unique=True).map(sorted)
    return chosen.flatmap(lambda paths: st.tuples(*map(rows, paths)).map(list))


def as_documented(table: list[LockRow], now: int) -> list[LockRow]:
    """By status, contended locks before quiet ones, by total wait and path."""

    def key(row: LockRow) -> tuple[int, bool, int, str]:
        blocked = row.blocked_ms(now)
        number = -1 if blocked is None else blocked
        return row.status.rank, row.is_quiet, -number, row.path

    return sorted(table, key=key)


@given(tables(), st.data())
def test_rows_are_in_the_usual_order(table: list[LockRow], data: st.DataObject) -> None:
    """At any time, with ties by path, after any changes."""
    live = LockRows()
    for later in (0, 3_000, 500_000):
        for at, row in enumerate(table):
            if data.draw(st.booleans()):
                table[at] = data.draw(rows(row.path))
            live.put(table[at])

        assert live.ordered(NOW + later) == as_documented(table, NOW + later)


def test_rows_are_not_sorted_again_while_their_waits_grow_alike() -> None:
    """Sorting 100,000 rows takes a tenth of a second, and time alone changes nothing."""
    live = LockRows()
    for path in NAMES:
        live.put(quiet_row(path))
    first = live.ordered(NOW)

    assert live.ordered(NOW + 60_000) is first


def test_a_filter_of_many_rows_is_searched_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is searched once; then only one that was replaced is."""
    monkeypatch.setattr(live_rows, "TEXTS_AT_ONCE", 2)
    searched: list[str] = []

    def text(row: LockRow) -> str:
        searched.append(row.path)
        return row.path

    live, wanted = NamedRows({"": text}), parsed_filter("/c")
    for path in NAMES:
        live.put(quiet_row(path))
    steps = [len(searched) for _ in live.search(wanted)]
    found = live.listed(NOW, wanted, is_sorted=True)
    live.put(quiet_row(NAMES[0]))
    again = live.listed(NOW, wanted, is_sorted=True)

    assert steps == [2, 4, 6, 8]
    assert found == again == [live.rows[NAMES[2]]]
    assert searched == [*NAMES, NAMES[0]]


def test_rows_whose_texts_are_ready_are_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps would draw two pictures for a letter: one while it searches, one with the rows."""
    monkeypatch.setattr(live_rows, "TEXTS_AT_ONCE", 2)
    live, wanted = NamedRows({"": lambda row: row.path}), parsed_filter("/c")
    for path in NAMES:
        live.put(quiet_row(path))
    assert len([*live.prepare()]) == len(NAMES) // 2

    assert not [*live.search(wanted)]
    assert live.listed(NOW, wanted, is_sorted=True) == [live.rows[NAMES[2]]]


def test_rows_whose_field_is_not_ready_are_searched_in_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the text of plain words is prepared while the filter line opens."""
    monkeypatch.setattr(live_rows, "TEXTS_AT_ONCE", 2)
    live = NamedRows({"": lambda row: row.path, "holder": lambda _: "ann"})
    for path in NAMES:
        live.put(quiet_row(path))
    assert [*live.prepare()]

    assert [*live.search(parsed_filter("holder:ann"))]
    assert not [*live.search(parsed_filter("holder:an"))]


class NamedRows(LockRows):
    """Rows with given texts for a filter."""

    def __init__(self, fields: dict[str, Callable[[LockRow], str]]) -> None:
        super().__init__()
        self._fields = fields

    @property
    def fields(self) -> Mapping[str, Callable[[LockRow], str]]:
        """Those that were given."""
        return self._fields


def quiet_row(path: Text) -> LockRow:
    """A row without a problem."""
    history = LockHistory(at=NOW, first_look=FirstLook(NOW, NOW), changed_at=None)
    return LockRow(lock(path, "mutex"), history, LockStatus("ok", "good", QUIET_RANK), 0)


class NoTable:
    """As much of a table as the timer needs."""

    moved_at = 0.0

    def repaint(self) -> None:
        """Draw nothing."""


@pytest.fixture
def sorter() -> RowSorter:
    """A timer for an order that takes no time."""
    return RowSorter(NoTable(), lambda: None)  # type: ignore[arg-type]  # all that it needs


def test_rows_are_put_in_order_at_once_and_then_twice_a_second(sorter: RowSorter) -> None:
    """Without a change, only after half a minute: waiting times have grown."""
    first = sorter.wait_s(perf_counter(), 0.0)
    sorter.now()
    done = perf_counter()
    without_change = sorter.wait_s(done, 0.0), sorter.wait_s(done + AGING_S, 0.0)
    sorter.changed()

    assert first == 0
    assert without_change == (None, 0)
    assert sorter.wait_s(done, 0.0) == pytest.approx(READABLE_S, abs=0.1)


def test_rows_keep_their_places_while_the_user_moves_the_cursor(sorter: RowSorter) -> None:
    """For a second after a key."""
    assert sorter.wait_s(100.0, moved_at_s=99.7) == pytest.approx(AFTER_KEY_S - 0.3)


def test_an_order_that_does_not_depend_on_time_stays() -> None:
    """Without a change, rows of sessions are never put in order again."""
    ageless = RowSorter(NoTable(), lambda: None, aging_s=inf)  # type: ignore[arg-type]  # all that it needs
    ageless.now()

    assert ageless.wait_s(perf_counter() + 1e6, 0.0) is None


def test_a_slow_order_is_rare() -> None:
    """It takes at most a fiftieth of the time."""
    slow = RowSorter(NoTable(), lambda: sleep(0.05))  # type: ignore[arg-type]  # all that it needs
    slow.now()
    slow.changed()
    wait = slow.wait_s(perf_counter(), 0.0)

    assert wait is not None
    assert wait > 2.4


def test_an_order_that_takes_long_is_prepared_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows stay as they are until the last step; another order waits for it, too."""
    later: list[Callable[[], object]] = []

    def call_in_steps(_table: object, steps: Iterator[None], then: Callable[[], object]) -> None:
        later.extend((lambda: [*steps], then))

    monkeypatch.setattr(live_rows, "call_in_steps", call_in_steps)
    done: list[str] = []
    steps = iter((None, None))
    sorter = RowSorter(NoTable(), lambda: done.append("order"), lambda: steps)  # type: ignore[arg-type]  # all that it needs
    sorter.now()
    sorter.now()
    before = [*done]
    for one in later:
        one()

    assert (before, done) == ([], ["order"])
