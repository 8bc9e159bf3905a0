"""Views of lines give Textual what its own, longer way through borders and opacity would give."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget
from ui.example_ensemble import trouble
from ui.fake_contenders import FakeContenders
from ui.fake_feed import ToldFeed, app_of, pressed, settled

from zktop.ui.app import Zktop
from zktop.ui.screens import PAGES
from zktop.ui.widgets.canvas import Backdrop, BoxBackdrop, Canvas
from zktop.ui.widgets.line_cache import ScrollbarStrip

LINES = 20  # so many at least are looked at


def in_sight(app: Zktop) -> Iterator[tuple[Widget, Region]]:
    """All views on the screen and all that is behind or around them, with all their cells."""
    behind = [one for one in app.screen.query("*") if isinstance(one, Backdrop | BoxBackdrop)]
    for view in (*app.screen.query(Canvas), *behind, app.screen):
        if view.region and view.display:
            yield view, view.region.size.region


def looks(strips: list[Strip]) -> list[list[Segment]]:
    """What the cells look like, whoever cut it into pieces."""
    return [list(strip.simplify()) for strip in strips]


async def seen_alike(pilot: Pilot[int]) -> int:
    """Compare both ways for each view on the screen; count their lines."""
    await settled(pilot)
    lines = 0
    for view, all_of_it in in_sight(pilot.app):  # type: ignore[arg-type]  # there is no other app
        ours = view.render_lines(all_of_it)
        assert looks(ours) == looks(Widget.render_lines(view, all_of_it)), view
        lines += len(ours)
    return lines


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
@pytest.mark.parametrize("terminal", ["colours", "ascii", "no colours"])
async def test_every_page(entry: object, terminal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In all terminals: what is filtered out is filtered out either way."""
    if terminal == "no colours":
        monkeypatch.setenv("NO_COLOR", "1")
    app = app_of(*trouble(), page=entry.name, is_ascii=terminal == "ascii")
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await seen_alike(pilot)

    assert lines >= LINES


@pytest.mark.parametrize("key", ["question_mark", "x", "N", "S"])
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_every_dialog(key: str, size: tuple[int, int]) -> None:
    """The frame around it, with its title, however few lines there are inside."""
    app = Zktop(ToldFeed(*trouble()), FakeContenders())
    async with app.run_test(size=size) as pilot:
        await pressed(pilot, key)
        lines = await seen_alike(pilot)

        assert lines >= LINES
        assert any(isinstance(one, BoxBackdrop) for one, _ in in_sight(app))


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark", "ansi-light"])
async def test_another_theme(theme: str) -> None:
    """What was made in the colours of before is thrown away."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await seen_alike(pilot)
        app.theme = theme
        lines = await seen_alike(pilot)

    assert lines >= LINES


@pytest.mark.parametrize(
    "keys", [["down"], ["tab"], ["tab", "tab"], ["end"], ["space", "pagedown"]]
)
async def test_after_keys(keys: list[str]) -> None:
    """The line under the cursor is another one, and lit only where the keys go."""
    app = app_of(*trouble())
    async with app.run_test(size=(80, 24)) as pilot:
        await seen_alike(pilot)
        for key in keys:
            await pressed(pilot, key)
            lines = await seen_alike(pilot)

    assert lines >= LINES


def test_the_screen_of_the_pages_is_one_that_is_behind_them() -> None:
    """Else all that is behind would be looked at in vain."""
    assert isinstance(app_of(*trouble()).get_default_screen(), Backdrop)


@given(st.lists(st.integers(1, 12), unique=True).map(sorted))
def test_a_line_beside_a_scroll_bar_is_divided_as_any_other(cuts: list[int]) -> None:
    """Wherever other widgets, and the edge of the screen, want it to be divided."""
    line, rest = Strip([Segment("ab"), Segment("cdefghij")], 10), Strip([Segment("  ")], 2)
    whole = Strip([Segment("ab"), Segment("cdefghij"), Segment("  ")], 12)
    parts, of_whole = ScrollbarStrip(line, rest).divide(cuts), whole.divide(cuts)

    assert [one.text for one in parts] == [one.text for one in of_whole]
    assert [one.cell_length for one in parts] == [one.cell_length for one in of_whole]


def test_a_line_beside_a_scroll_bar_gives_the_parts_it_was_made_of() -> None:
    """That is what it is for."""
    line, rest = Strip([Segment("abc")], 3), Strip([Segment(" ")], 1)

    assert list(ScrollbarStrip(line, rest).divide([3, 4])) == [line, rest]
    assert ScrollbarStrip(line, rest).divide([3, 4])[0] is line
