"""A row is drawn again because times in it pass: only what ages is then drawn."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, session
from msgspec.structs import replace
from output.stories import facts
from ui.example_past import past
from ui.fake_feed import app_of, frames, settled

from zktop.ui.ports import Frame
from zktop.ui.screens.locks.table import FEW, MANY_AGES_MS
from zktop.ui.styled_text import Line, line, text_of
from zktop.ui.widgets.table import Column, Table


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


async def blocked(count: int) -> list[str]:
    """Give the blocked seconds of the worst root blocker, each second, beside so many locks."""
    begin = NOW - NOW % MANY_AGES_MS + 60_000
    story = [fact for n in range(count) for fact in facts(f"L{n:02} x: A{n} B{n} C{n}", at=NOW)]
    film = frames((begin, story), *((begin + 1_000 * second, []) for second in (1, 2, 3)))
    app = app_of(film[0])
    said: list[str] = []
    async with app.run_test(size=(120, 50)) as pilot:
        for frame in film:
            app.feed.tell(frame)  # type: ignore[attr-defined]  # the feed of a test
            lines = await settled(pilot)
            said.append(_first_blocker(lines).split()[3])
    return said


async def test_root_blockers_grow_older_each_second() -> None:
    """Where there are few rows, so do they."""
    first, *others = map(int, await blocked(FEW))

    assert others == [first + 2, first + 4, first + 6]


async def test_root_blockers_beside_many_rows_grow_older_with_these() -> None:
    """What changes at the same time is written at one go."""
    first, *others = map(int, await blocked(FEW + 1))

    assert others == [first, first + 4, first + 4]


async def test_what_is_found_of_a_root_blocker_is_told_before_it_is_older() -> None:
    """Within the same second, the reason why it blocks may be another one."""
    (frame,) = frames((NOW + 60_000, facts("L x: A B C", at=NOW)))
    some = next(one for each in past() for one in each.report.findings)
    found = replace(some, severity="warning", sessions=(session("A"),), name="slow-holder")
    app = app_of(frame)
    async with app.run_test(size=(120, 50)) as pilot:
        before = await settled(pilot)
        app.feed.tell(Frame(replace(frame.report, findings=(found,)), ()))  # type: ignore[attr-defined]  # the feed of a test
        after = await settled(pilot)

    assert "holds /locks/l" in _first_blocker(before)
    assert "slow holder" in _first_blocker(after)


def _first_blocker(lines: list[str]) -> str:
    head = next(n for n, one in enumerate(lines) if one.startswith(" ROOT BLOCKERS"))
    return lines[head + 1]
