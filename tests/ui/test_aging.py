"""A row is drawn again because times in it pass: only what ages is then drawn."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from zktop.ui.ink import Line, line, text_of
from zktop.ui.widgets.column import Column
from zktop.ui.widgets.table import Table


class Item(NamedTuple):
    """A row to be shown."""

    name: str
    size: int = 0


class Clocked:
    """What a drawing may look at besides the row."""

    def __init__(self) -> None:
        self.now, self.drawn = 0, 0

    def name(self, item: Item) -> Line:
        """Draw what is in the row."""
        self.drawn += 1
        return line(item.name)


def clocked() -> tuple[Clocked, Table[Item]]:
    """A table with a column that ages, and one that does not."""
    clock = Clocked()
    columns = (
        Column[Item]("NAME", 8, clock.name, share=1, ages=False),
        Column[Item]("AGE", 4, lambda item: line(str(clock.now - item.size)), at_right=True),
    )
    return clock, Table(columns, lambda item: item.name, stamp=lambda _: clock.now)


def drawn(table: Table[Item], width: int = 14) -> str:
    """What the first row looks like."""
    return text_of(table.drawn(0, width))


def test_only_what_ages_is_drawn_again() -> None:
    """A row that stays the same object keeps the rest of its look."""
    clock, table = clocked()
    table.rows = [Item("one")]
    seen = [drawn(table) for clock.now in (1, 2)]

    assert seen == ["one          1", "one          2"]
    assert clock.drawn == 1


def test_another_row_of_the_same_name_is_drawn_anew() -> None:
    """Nothing of the row before it stays."""
    clock, table = clocked()
    table.rows = [Item("one", 1)]
    drawn(table)
    table.rows = [Item("one", 2)]
    clock.now = 9

    assert drawn(table) == "one          7"
    assert clock.drawn == 2


@given(widths=st.lists(st.integers(1, 40), min_size=1, max_size=6), now=st.integers(0, 9999))
def test_a_row_is_as_wide_as_the_table(widths: list[int], now: int) -> None:
    """Also where the table becomes wider or narrower, down to less than a column needs."""
    clock, table = clocked()
    table.rows = [Item("a name that is long", 1)]
    clock.now = now

    assert [len(drawn(table, width)) for width in widths] == widths
