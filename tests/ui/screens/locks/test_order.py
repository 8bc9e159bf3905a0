"""The usual order of ten thousand rows, put right again after a change."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.history.lock_history import FirstLook, LockHistory
from zktop.model.layouts.layout import LockKind
from zktop.model.locks.lock import Lock
from zktop.model.text import Text
from zktop.ui.screens.common.status_codes import QUIET_RANK, LockStatus
from zktop.ui.screens.locks.order import Ranking, places
from zktop.ui.screens.locks.row import LockRow, row_of
from zktop.ui.screens.locks.rows import worst_first
from zktop.ui.styled_text import Ink

NOW = 1_800_000_000_000
MARKS: list[tuple[int, Ink]] = [
    (0, "critical"),
    (12, "warning"),
    (1_012, "warning"),
    (QUIET_RANK, "good"),
]
NAMES = [Text(f"/locks/{letter}") for letter in "abcdefgh"]


def lock(path: Text, kind: LockKind) -> Lock:
    """A lock of a kind, with nobody in it."""
    return Lock(path, "kazoo-lock", kind, (), None, 0, NOW)


@st.composite
def rows(draw: st.DrawFn, path: Text) -> LockRow:
    """A row of this lock; much is alike, so that there are ties."""
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
    return row_of(lock(path, kind), history, mark, waiting, gone_at)


def tables() -> st.SearchStrategy[list[LockRow]]:
    """Rows in the order of their paths."""
    chosen = st.lists(st.sampled_from(NAMES), unique=True).map(sorted)
    return chosen.flatmap(lambda paths: st.tuples(*map(rows, paths)).map(list))


def as_told(table: list[LockRow], now: int) -> list[LockRow]:
    """The order as the help tells it: what is wrong, who has blocked most, the path."""

    def key(row: LockRow) -> tuple[int, int, str]:
        blocked = row.blocked_ms(now)
        number = -1 if blocked is None else blocked
        return row.mark.rank, -number, row.path

    return sorted(table, key=key)


@given(tables(), st.integers(0, 10**9))
def test_puts_rows_in_the_usual_order(table: list[LockRow], later: int) -> None:
    """At any time, with ties by path."""
    assert worst_first(table, NOW + later) == as_told(table, NOW + later)


@given(tables(), st.data())
def test_goes_on_from_the_order_of_before(table: list[LockRow], data: st.DataObject) -> None:
    """Whatever changed meanwhile: it is the same as from nothing."""
    ranking = Ranking(table)
    for later in (0, 3_000, 500_000):
        ranking.ordered(NOW + later)
        for at, row in enumerate(table):
            other = data.draw(rows(row.path))
            if data.draw(st.booleans()) and ranking.put(row.path, other):
                table[at] = other

        assert ranking.ordered(NOW + later) == as_told(table, NOW + later)


def test_gives_the_same_list_while_nothing_moves() -> None:
    """Who shows ten thousand rows has nothing to do then."""
    history = LockHistory(at=NOW, first_look=FirstLook(NOW, NOW))
    slow, fast = (
        row_of(lock(path, "mutex"), history, LockStatus("ok", "good"), waiting)
        for path, waiting in zip(NAMES, (1, 2), strict=False)
    )
    ranking = Ranking([slow, fast])

    first = ranking.ordered(NOW + 1_000)
    assert first == [fast, slow]
    assert ranking.ordered(NOW + 9_000) is first
    assert ranking.put(slow.path, slow)
    assert ranking.ordered(NOW + 9_000) is not first


def test_a_lock_that_came_or_went_needs_another_ranking() -> None:
    """As does the shadow of one, which stands behind all others."""
    history = LockHistory(at=NOW)
    row, shadow = (
        row_of(lock(NAMES[0], "mutex"), history, LockStatus("ok", "good"), 0, gone_at)
        for gone_at in (None, NOW)
    )
    ranking = Ranking([row])

    assert not ranking.put(NAMES[1], row)
    assert not ranking.put(NAMES[0], None)
    assert not ranking.put(NAMES[0], shadow)


def test_knows_the_place_of_each_path() -> None:
    """To find the rows that changed."""
    history = LockHistory(at=NOW)
    table = [row_of(lock(path, "mutex"), history, LockStatus("ok", "good"), 0) for path in NAMES]

    assert places(table) == {path: at for at, path in enumerate(NAMES)}
