"""The mouse: rows and links light up below it, and text can be selected and copied."""

import pytest
from textual import events
from textual.geometry import Offset
from textual.pilot import Pilot
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled, until

from zktop.ui.screens.locks.table import LockTable
from zktop.ui.styled_text import text_of
from zktop.ui.widgets.scrolling_view import ScrollingView
from zktop.ui.widgets.text_view import TextView


def background(view: ScrollingView, y: int) -> object:
    """The background of a line of a view, without its pills."""
    styles = [one.style for one in view.render_line(y) if one.text.strip() and one.style]
    (colour,) = {style.bgcolor for style in styles if not style.reverse}
    return colour


async def test_the_row_at_the_mouse_lights_up() -> None:
    """Until the mouse leaves it."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        table = app.screen.query_one(LockTable)
        usual = background(table, 3)
        await pilot.hover("#locks", offset=(10, 4))
        lit = background(table, 3)
        await pilot.hover("#head")
        left = background(table, 3)

    assert lit != usual
    assert left == usual


async def test_only_two_lines_are_drawn_for_a_move() -> None:
    """They are the line that the mouse has left, and the line that it is on."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        table = app.screen.query_one(LockTable)
        await pilot.hover("#locks", offset=(10, 4))
        await settled(pilot)
        drawn: list[int] = []
        render = table.render_line
        table.render_line = lambda y: (drawn.append(y), render(y))[1]  # type: ignore[method-assign]
        await pilot.hover("#locks", offset=(10, 5))
        await settled(pilot)

    assert set(drawn) <= {3, 4}


@pytest.mark.parametrize("y", [1, 20])
async def test_heads_and_blank_lines_do_not_light_up(y: int) -> None:
    """The cursor cannot go there."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        table = app.screen.query_one(LockTable)
        await pilot.hover("#locks", offset=(10, y))

        assert not table._hovered.is_row


async def test_a_link_at_the_mouse_is_underlined() -> None:
    """Only that one."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)
        at = lines[-1].index("Filter")
        await pilot.hover("#foot", offset=(at, 0))
        foot = app.screen.query_one("#foot", ScrollingView)
        underlined = [one.text for one in foot.render_line(0) if one.style and one.style.underline]

    assert underlined == ["/", " Filter"]


async def dragged(pilot: Pilot[int], begin: Offset, end: Offset) -> None:
    """Drag the mouse over the screen."""
    app = pilot.app
    for kind, at in (
        (events.MouseDown, begin),
        (events.MouseMove, end),
        (events.MouseUp, end),
    ):
        app.screen._forward_event(
            kind(None, at.x, at.y, 0, 0, 1, False, False, False, at.x, at.y)  # noqa: FBT003
        )
        await pilot.pause()


async def help_text(pilot: Pilot[int]) -> tuple[Offset, str, str]:
    """Open the help: two lines of its text, and where the first begins on the screen."""
    await settled(pilot)
    await pressed(pilot, "question_mark")
    await settled(pilot)
    view = pilot.app.screen.query_one(TextView)
    lines = [text_of(view.draw(y, 80)) for y in range(20)]
    y = next(y for y in range(20) if len(lines[y].strip()) > 40 and len(lines[y + 1].strip()) > 10)
    return view.content_region.offset + Offset(0, y), lines[y], lines[y + 1]


async def test_text_is_selected_and_copied() -> None:
    """The clipboard is the same as for `y`."""
    copied: list[str] = []
    app = app_of(*trouble(), copy=lambda text: copied.append(text) or "the test")
    async with app.run_test(size=(120, 36)) as pilot:
        at, first, _ = await help_text(pilot)
        await dragged(pilot, at + Offset(4, 0), at + Offset(11, 0))
        await until(pilot, lambda: copied, "the copy")

    assert copied == [first[4:12]]


async def test_several_lines_are_copied_as_lines() -> None:
    """Without the blanks at their ends."""
    copied: list[str] = []
    app = app_of(*trouble(), copy=lambda text: copied.append(text) or "the test")
    async with app.run_test(size=(120, 36)) as pilot:
        at, first, second = await help_text(pilot)
        await dragged(pilot, at + Offset(4, 0), at + Offset(5, 1))
        await until(pilot, lambda: copied, "the copy")

    assert copied == [f"{first[4:].rstrip()}\n{second[:6]}"]


async def test_y_copies_what_is_selected() -> None:
    """In place of the row under the cursor."""
    copied: list[str] = []
    app = app_of(*trouble(), page="findings", copy=lambda text: copied.append(text) or "the test")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        view = app.screen.query_one("#case", TextView)
        at = view.content_region.offset
        await dragged(pilot, at, at + Offset(9, 0))
        await until(pilot, lambda: len(copied) == 1, "the copy of the mouse")
        await pressed(pilot, "y")
        await until(pilot, lambda: len(copied) == 2, "the copy of the key")

    assert copied[0] == copied[1]


@pytest.mark.parametrize(("page", "view"), [("locks", "locks"), ("findings", "cases")])
async def test_rows_are_not_selected_as_text(page: str, view: str) -> None:
    """In a list, the mouse moves the cursor."""
    app = app_of(*trouble(), page=page)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)

        assert not app.screen.query_one(f"#{view}", ScrollingView).allow_select


async def test_selecting_text_does_not_move_the_cursor() -> None:
    """A click on the same line would."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        view = app.screen.query_one("#events", TextView)
        before, at = view.cursor, view.content_region.offset + Offset(0, 2)
        await dragged(pilot, at, at + Offset(8, 0))
        selected = app.screen.get_selected_text()
        await pilot._post_mouse_events([events.Click], "#events", offset=(5, 3))
        await settled(pilot)

        assert selected
        assert view.cursor == before


async def test_a_click_on_the_cluster_in_the_header_lists_the_clusters() -> None:
    """If there is only one cluster, a message says so."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)
        await pilot.click("#head", offset=(lines[0].index("test"), 0))
        await settled(pilot)

        said = [one.message for one in app._notifications]
        assert any(one.startswith("No other clusters.") for one in said)


async def test_the_page_in_the_header_is_a_link_to_it() -> None:
    """So is the lock on it."""
    app = app_of(*trouble(), page="lock")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        head = app.screen.query_one("#head", ScrollingView)
        links = [run.link for run in head.draw(0, 120) if run.text in {"Lock", "test"}]

        assert links == ["app.act('clusters')", "app.act('page_2')"]
