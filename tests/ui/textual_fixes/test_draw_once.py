"""A page is drawn once, when all of its content is there; the first frame does not wait."""

from collections.abc import Callable

import pytest
from rich.console import RenderableType
from textual.app import App
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static
from ui.example_states import busy
from ui.fake_feed import app_of, settled

from zktop.ui.app import Zktop
from zktop.ui.screens.page import Page
from zktop.ui.textual_fixes.draw_once import DrawnOnce

pytestmark = pytest.mark.usefixtures("paints")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[Zktop], list[str]]:
    """Note the kind of each drawing of an app from now on."""

    def noting(app: Zktop) -> list[str]:
        drawings: list[str] = []
        plain = app._display

        def noted(screen: Screen[object], renderable: RenderableType | None) -> None:
            if renderable is not None:
                drawings.append(type(renderable).__name__)
            plain(screen, renderable)

        monkeypatch.setattr(app, "_display", noted)
        return drawings

    return noting


@pytest.mark.parametrize("key", "23456")
async def test_a_page_is_drawn_once_when_it_is_opened_again(
    key: str, drawn: Callable[[Zktop], list[str]]
) -> None:
    """With its new content; Textual alone draws it as it was left, too."""
    app = app_of(*busy().news)
    async with app.run_test(size=(120, 36)) as pilot:
        for one in (key, "1"):
            await pilot.press(one)
            await settled(pilot)
        drawings = drawn(app)
        await pilot.press(key)
        await settled(pilot)

        assert drawings == ["LayoutUpdate"]


class Growing(Static):
    """Asks for a new layout each time it is laid out, until it has four lines."""

    def on_resize(self) -> None:
        """Grow by a line."""
        if self.size.height < 4:
            self.styles.height = self.size.height + 1


class GrowingApp(App[None]):
    """Counts the drawings of a screen with a growing widget."""

    drawings = 0

    def get_default_screen(self) -> Screen[object]:
        """The screen under test."""
        return DrawnOnce()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        self.drawings += renderable is not None
        super()._display(screen, renderable)


async def test_layouts_that_follow_each_other_are_drawn_once() -> None:
    """A page that fills its panes asks for several; a picture of each would flicker."""
    app = GrowingApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        before = app.drawings
        widget = Growing("text")
        widget.styles.height = 1
        await app.mount(widget)
        while widget.size.height < 4:
            await pilot.pause()
        await pilot.pause()

        assert app.drawings - before == 1


async def test_a_dialog_that_opens_is_laid_out_once_at_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Textual sends it its size once more when it is on the screen."""
    sizes: list[Size | None] = []
    plain = Screen._refresh_layout

    def noted(screen: Screen[object], size: Size | None = None, *scroll: bool) -> None:
        if len(screen.app.screen_stack) > 1:
            sizes.append(size)
        plain(screen, size, *scroll)

    app = app_of(*busy().news)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(Screen, "_refresh_layout", noted)
        await pilot.press("question_mark")
        await settled(pilot)

    assert sizes.count(Size(120, 36)) == 1


async def test_the_page_below_a_dialog_is_drawn_once_when_that_closes(
    drawn: Callable[[Zktop], list[str]],
) -> None:
    """Its layout is the same as before the dialog."""
    app = app_of(*busy().news)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        await settled(pilot)
        drawings = drawn(app)
        await pilot.press("escape")
        await settled(pilot)

        assert drawings == ["LayoutUpdate"]


async def test_the_first_frame_does_not_wait_for_the_first_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The user sees at once that the program has started."""
    pages: list[int] = []  # that exist at each drawing
    plain = Zktop._display

    def noted(app: Zktop, screen: Screen[object], renderable: RenderableType | None) -> None:
        if renderable is not None:
            pages.append(len(screen.query(Page)))
        plain(app, screen, renderable)

    monkeypatch.setattr(Zktop, "_display", noted)
    async with app_of(*busy().news).run_test() as pilot:
        await settled(pilot)

    assert pages[0] == 0
    assert pages[-1] == 1
