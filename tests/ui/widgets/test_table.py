"""The table: the cursor stays on its row, and the row on its line of the screen."""

from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from ui.fake_feed import painted

from zktop.ui.styled_text import Run, line, text_of
from zktop.ui.widgets.table import Column, Table, cut_cell, first_in_sight, shortened


class Item(NamedTuple):
    """A row of the table."""

    name: str
    size: int = 0


COLUMNS = (
    Column[Item]("NAME", 8, lambda item: line(item.name), lambda item: item.name, share=1),
    Column[Item](
        "SIZE", 4, lambda item: line(str(item.size)), lambda item: item.size, at_right=True,
        descending=True,
    ),
    Column[Item]("EXTRA", 6, lambda _: line("extra"), needs=60),
)  # fmt: skip
HUNDRED = [Item(f"i{number:02d}", number) for number in range(100)]
HEIGHT = 11  # a head and ten rows


class TableApp(App[None]):
    """A screen with only the table."""

    def __init__(self, table: Table[Item]) -> None:
        super().__init__()
        self.table = table
        self.asked: list[str] = []

    def compose(self) -> ComposeResult:
        """The table."""
        yield self.table

    def on_press_key(self, message: object) -> None:
        """Record the keys that the table asks for."""
        self.asked.append(message.what)  # type: ignore[attr-defined]  # a PressKey


def new_table() -> Table[Item]:
    """A table with all columns."""
    return Table(COLUMNS, lambda item: item.name)


async def screen(pilot: Pilot[None]) -> list[str]:
    """The lines on screen."""
    await pilot.pause()
    return [strip.text.rstrip() for strip in painted(pilot.app)]


def line_on_screen(table: Table[Item]) -> int:
    """The line of the cursor below the head."""
    assert table.cursor is not None
    return table.cursor - int(table.scroll_offset.y)


@given(
    index=st.integers(0, 200), line=st.integers(0, 30), count=st.integers(1, 200),
    room=st.integers(1, 30),
)  # fmt: skip
def test_a_row_stays_on_its_line_as_far_as_the_ends_allow(
    index: int, line: int, count: int, room: int
) -> None:
    """It moves only near the ends of the table."""
    index, line = min(index, count - 1), min(line, room - 1)
    top = first_in_sight(index, line, count, room)

    assert 0 <= top <= max(0, count - room)
    assert top <= index < top + room
    assert index - top == line or top in (0, count - room)


@settings(max_examples=12)
@given(
    start=st.integers(0, 99),
    orders=st.lists(
        st.tuples(st.permutations(range(100)), st.integers(40, 100)), min_size=1, max_size=4
    ),
)
async def test_the_cursor_follows_its_row(start: int, orders: list[tuple[list[int], int]]) -> None:
    """In any order: the same row on the same line, unless an end of the table is visible."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)) as pilot:
        table.show(HUNDRED)
        await pilot.pause()
        table.go_to(start)
        await pilot.pause()
        for order, count in orders:
            before, name = line_on_screen(table), table.chosen
            rows = [HUNDRED[place] for place in order if place < count or place == start]
            table.show(rows)
            top, room = int(table.scroll_offset.y), table.lines_in_sight()

            assert table.row is not None
            assert table.row.name == name == f"i{start:02d}"
            assert 0 <= line_on_screen(table) < room
            assert line_on_screen(table) == before or top in (0, len(rows) - room)


async def test_without_a_moved_cursor_the_top_stays_visible() -> None:
    """The cursor is on the new first row."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        table.show(HUNDRED)
        table.show([Item("worst"), *HUNDRED])

        assert table.row == Item("worst")
        assert table.scroll_offset.y == 0


async def test_the_cursor_goes_to_the_row_in_place_of_a_removed_one() -> None:
    """It does not jump to an end."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        table.show(HUNDRED)
        table.go_to(5)
        table.show([item for item in HUNDRED if item.size != 5])

        assert table.row == Item("i06", 6)


async def test_writes_only_the_lines_that_changed() -> None:
    """One changed row of a hundred is one line for the terminal."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)) as pilot:
        table.show(list(HUNDRED))
        await pilot.pause()
        dirty: list[int] = []
        table.refresh = lambda *regions, **_: dirty.extend(r.y for r in regions)  # type: ignore[assignment,method-assign,return-value]  # to see what is written
        table.show([*HUNDRED[:3], Item("i03", 1_000), *HUNDRED[4:]])

        assert dirty == [4]


async def test_draws_only_visible_rows() -> None:
    """Ten thousand rows cost no more than ten."""
    drawn: list[Item] = []
    column = Column[Item]("NAME", 8, lambda item: drawn.append(item) or line(item.name))
    table = Table([column], lambda item: item.name)
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        table.show([Item(str(number)) for number in range(10_000)])

        assert 10 <= len(drawn) <= 3 * HEIGHT


@pytest.mark.parametrize(
    ("width", "names"), [(40, ["NAME", "SIZE"]), (62, ["NAME", "SIZE", "EXTRA"]), (9, ["NAME"])]
)
async def test_a_narrow_table_has_fewer_columns(width: int, names: list[str]) -> None:
    """The least important ones are left out first."""
    table = new_table()
    async with TableApp(table).run_test(size=(width, HEIGHT)) as pilot:
        table.show(HUNDRED)

        assert (await screen(pilot))[0].split() == names


async def test_sorts_by_a_column_or_in_the_usual_order() -> None:
    """With an arrow, in the more useful direction."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        rows = [Item("b", 1), Item("a", 3), Item("c", 2)]
        table.show(rows)
        seen = []
        for step in (
            partial(table.sort_by, "NAME"),
            partial(table.sort_by, "SIZE"),
            table.action_reverse,
            partial(table.sort_by, None),
        ):
            step()
            seen.append((text_of(table.heads(40)[0]).split()[:2], [r.name for r in table.rows]))

        assert seen[0] == (["NAME↑", "SIZE"], ["a", "b", "c"])
        assert seen[1] == (["NAME", "SIZ↓"], ["a", "c", "b"])
        assert seen[2] == (["NAME", "SIZ↑"], ["b", "c", "a"])
        assert seen[3][0] == ["NAME", "SIZE"]


async def test_a_click_on_a_head_sorts_by_it() -> None:
    """A second click reverses the order."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)) as pilot:
        table.show([Item("b", 1), Item("a", 3)])
        await pilot.click(Table, offset=(2, 0))
        first = [item.name for item in table.rows]
        await pilot.click(Table, offset=(2, 0))

        assert (first, [item.name for item in table.rows]) == (["a", "b"], ["b", "a"])


async def test_a_click_selects_and_a_second_one_opens() -> None:
    """A single click opens nothing."""
    table = new_table()
    app = TableApp(table)
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        table.show(HUNDRED)
        await pilot.pause()
        await pilot.click(Table, offset=(2, 4))
        first = (table.row, list(app.asked))
        await pilot.click(Table, offset=(2, 4))
        await pilot.pause()

        assert first == (HUNDRED[3], [])
        assert app.asked == ["open"]


async def test_keys_go_on_from_the_visible_rows() -> None:
    """After the wheel has scrolled the cursor out of sight."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)) as pilot:
        table.show(HUNDRED)
        await pilot.pause()
        table.scroll_to(y=50, animate=False, immediate=True)
        table.action_down()

        assert table.row == HUNDRED[50]


async def test_a_table_without_rows_says_why() -> None:
    """It has no heads then."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)) as pilot:
        table.show((), [line("nothing here")])

        assert (await screen(pilot))[0] == "nothing here"
        assert table.row is None


async def test_rows_keep_their_order_without_the_column_that_sorted_them() -> None:
    """A column may be missing in the past, if the ensemble had only one server then."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        table.sort_by("SIZE")
        table.use(COLUMNS[:1])

        assert table.ordered(HUNDRED) == HUNDRED
        assert not table.has_order

        table.action_reverse()
        assert table.ordered(HUNDRED) == HUNDRED[::-1]


async def test_a_column_is_shown_if_all_others_are_hidden() -> None:
    """Other columns may be left out, for example if there is only one server."""
    table = new_table()
    async with TableApp(table).run_test(size=(40, HEIGHT)):
        table.hidden = frozenset({"NAME", "EXTRA"})
        table.use(COLUMNS[:1])

        assert table.columns_in_sight == {"NAME"}


async def test_a_path_is_cut_at_its_start() -> None:
    """Its end says more."""
    column = Column[Item]("PATH", 8, lambda item: line(item.name), keeps_end=True)
    table = Table([column], lambda item: item.name, mark=lambda _: Run("*"))
    async with TableApp(table).run_test(size=(11, HEIGHT)) as pilot:
        table.show([Item("/locks/orders")])

        assert (await screen(pilot))[1] == "*…/orders"


async def test_a_name_that_the_wheel_reveals_gets_its_cells_back() -> None:
    """The lines that a scroll reveals are drawn before the table is."""
    path = Column[Item](
        "PATH", 10, lambda _: line("/a/long/path/of/a/lock"), share=1, keeps_end=True
    )
    name = Column[Item]("NAME", 14, lambda item: line(item.name), share=1)
    rows = [*HUNDRED[:20], *(Item(f"a-long-name-{number}") for number in range(20))]
    table = Table([path, name], lambda item: item.name)
    async with TableApp(table).run_test(size=(28, HEIGHT)) as pilot:
        table.show(rows)
        await pilot.pause()
        table.scroll_to(y=25, animate=False, immediate=True)
        assert "a-lo…" in (await screen(pilot))[1]
        table.show(rows)

        assert "a-long-name-5" in (await screen(pilot))[1]


async def test_a_path_gets_its_cells_back_once_a_long_name_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not at once: names that come and go would move the columns."""
    path = Column[Item](
        "PATH", 10, lambda _: line("/a/long/path/of/a/lock"), share=1, keeps_end=True
    )
    name = Column[Item]("NAME", 14, lambda item: line(item.name), share=1)
    table = Table([path, name], lambda item: item.name)
    async with TableApp(table).run_test(size=(28, HEIGHT)) as pilot:
        table.show([Item("a-long-name-5")])
        table.show([Item("ann")])
        early = (await screen(pilot))[1]
        monkeypatch.setattr("zktop.ui.widgets.table.KEEPS_WIDTH_S", 0.0)
        table.show([Item("ann")])
        table.show([Item("ann")])
        late = (await screen(pilot))[1]

    assert "/long/path" not in early
    assert late.startswith("…/long/path/of/a/lock ann")


async def test_a_column_without_a_share_of_its_own_takes_cells_that_a_name_leaves() -> None:
    """Instead of a cut text: a whole id of a session is rare, and needs more cells than others."""
    name = Column[Item]("NAME", 8, lambda _: line("ann"), share=1)
    number = Column[Item]("ID", 7, lambda item: line(item.name), keeps_end=True)
    table = Table([name, number], lambda item: item.name)
    async with TableApp(table).run_test(size=(30, HEIGHT)) as pilot:
        table.show([Item("0x100000d0d270000")])

        assert (await screen(pilot))[1].split() == ["ann", "0x100000d0d270000"]


@pytest.mark.parametrize(
    ("name", "cells", "shown"),
    [("/" + "漢" * 30, 20, "…" + "漢" * 9 + " "), ("/locks/漢字漢字/a", 9, "…字漢字/a")],
)
def test_the_end_of_a_path_of_wide_characters_stays(name: str, cells: int, shown: str) -> None:
    """Other names of locks end otherwise."""
    column = Column[Item]("PATH", cells, lambda item: line(item.name), keeps_end=True)

    assert text_of(cut_cell(column, Item(name), line(name), cells)) == shown


def test_the_middle_of_wide_characters_is_cut() -> None:
    """They take two cells each."""
    assert text_of(shortened(line("漢字" * 10), 13)) == "漢字漢字…漢字"
