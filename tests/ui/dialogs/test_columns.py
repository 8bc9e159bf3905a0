"""The columns dialog: what a column means, which are shown, and the order of the rows."""

import pytest
from textual.pilot import Pilot
from ui.example_ensemble import LONG, ORDERS, trouble
from ui.fake_feed import app_of, panel, settled
from ui.screens.locks.locks_app import SMALL, WIDE, page_of

from zktop.ui.screens.locks.table import LockTable
from zktop.ui.screens.sessions import server_rows
from zktop.ui.screens.sessions.table import COLUMNS as SESSION_COLUMNS
from zktop.ui.screens.sessions.table import ServerTable
from zktop.ui.widgets.text_view import TextList

FILM = trouble()


async def after(pilot: Pilot[int], *keys: str) -> list[str]:
    """The screen after these keys."""
    await pilot.press(*keys)
    return await settled(pilot)


def heads(lines: list[str]) -> str:
    """The names of the columns of screen 1."""
    return panel(lines, "Locks")[0]


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_each_column_has_its_full_name_and_its_meaning(size: tuple[int, int]) -> None:
    """The meaning is below the list."""
    app = app_of(*FILM)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        shown = "\n".join(await after(pilot, "o", "t"))

        assert "[x]   TOTAL WAIT     Sum of all waits" in shown
        assert "How long all clients have waited for this lock, added up." in shown


async def test_the_usual_order_is_explained_in_a_sentence() -> None:
    """Like the columns below it."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)

        assert "The usual order: worst first." in "\n".join(await after(pilot, "o"))


async def test_enter_sorts_at_once_and_reverses() -> None:
    """The dialog stays open, so a second enter reverses the order."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o", "l", "enter")
        first = page_of(app).table.rows[0].path
        lines = await after(pilot, "enter", "escape")

        assert (first, page_of(app).table.rows[-1].path) == (LONG, LONG)
        assert "LOCK↓" in heads(lines)


async def test_the_first_line_is_the_usual_order() -> None:
    """Sorting by it shows the worst lock first again."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o", "l", "enter", "g", "enter", "escape")

        assert page_of(app).table.sorted_by is None
        assert page_of(app).table.rows[0].path == ORDERS


async def test_space_hides_a_column_and_shows_it_again() -> None:
    """At once, below the dialog."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        before = heads(await settled(pilot))
        hidden = await after(pilot, "o", "h", "space")
        box = next(line for line in hidden if "Who holds it" in line)
        without = heads(await after(pilot, "escape"))
        again = heads(await after(pilot, "o", "h", "space", "escape"))

        assert "[ ]   HOLDER" in box
        assert "HOLDER" in before
        assert "HOLDER" not in without
        assert again == before


async def test_hidden_columns_stay_hidden_on_the_way_to_other_screens() -> None:
    """For as long as zktop runs."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o", "h", "space", "escape", "4", "1")

        assert "HOLDER" not in heads(await settled(pilot))


async def test_the_last_column_cannot_be_hidden() -> None:
    """A table without columns shows nothing."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        columns = page_of(app).table.columns
        await after(pilot, "o", *(key for _ in columns for key in ("down", "space")))

        assert page_of(app).table.hidden == {column.name for column in columns[:-1]}


async def test_a_letter_goes_to_the_next_column_that_begins_with_it() -> None:
    """HOLDER, HELD, HOLD p50/p99, and HOLDER again."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o")
        seen = []
        for _ in range(4):
            await pilot.press("h")
            seen.append(app.screen.query_one("#columns", TextList).target)

        assert seen == ["HOLDER", "HELD", "HOLD p50/p99", "HOLDER"]


async def test_a_column_without_room_says_so() -> None:
    """It is not hidden; a wider window shows it."""
    app = app_of(*FILM)
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        lines = await after(pilot, "o", "m")

        assert any("MIX" in line and "no room, unsortable" in line for line in lines)


async def test_a_column_without_an_order_does_not_sort() -> None:
    """Its line says so."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o", "m", "enter")

        assert page_of(app).table.sorted_by is None


async def test_a_click_chooses_and_a_second_one_sorts() -> None:
    """The mouse does what the keys do."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o")
        for _ in range(2):
            await pilot.click("#columns", offset=(10, 2))
            await settled(pilot)

        assert page_of(app).table.sorted_by == "LOCK"


async def test_on_screen_4_it_lists_the_columns_of_the_focused_table() -> None:
    """The sessions, or the servers."""
    app = app_of(*FILM, page="sessions")
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        sessions = "\n".join(await after(pilot, "o"))
        await after(pilot, "escape")
        app.query_one(ServerTable).focus()
        own = "\n".join(await after(pilot, "o"))

        assert "Columns of sessions" in sessions
        assert "Columns of servers" in own


async def test_on_a_small_terminal_the_chosen_column_is_in_sight() -> None:
    """The list scrolls."""
    app = app_of(*FILM, page="sessions")
    async with app.run_test(size=(60, 15)) as pilot:
        await settled(pilot)
        lines = await after(pilot, "o", "G")

        assert any("NOTE" in line for line in lines)
        assert any("Why the session is at risk." in line for line in lines)


def every_column() -> dict[str, tuple[str, str]]:
    """Title and meaning of all columns with an order, by name."""
    tables = (LockTable().columns, SESSION_COLUMNS, server_rows.COLUMNS)
    return {one.name: (one.title, one.about) for table in tables for one in table}


def test_no_column_is_without_a_meaning() -> None:
    """Sentences that end."""
    for name, (title, about) in every_column().items():
        assert title, name
        assert about.endswith("."), name


async def test_a_letter_that_moves_the_cursor_elsewhere_goes_to_its_column() -> None:
    """K is up in other lists; here it is the column KIND, and j, no column's, is down."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "o")
        seen = []
        for key in ("k", "j"):
            await pilot.press(key)
            seen.append(app.screen.query_one("#columns", TextList).target)

        assert seen == ["KIND", "HOLDER"]
