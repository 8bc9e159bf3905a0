"""The first frame of zktop, and that of a page: nothing is read twice, lost, or squeezed."""

import pytest
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled

from zktop.app.ui_settings import textual_theme
from zktop.config.theme_files import theme_named
from zktop.ui.inks import INKS
from zktop.ui.widgets.filter_line import FilterLine


def test_the_theme_is_applied_from_the_beginning() -> None:
    """No other theme is applied first."""
    theme = textual_theme(theme_named("zktop-light", {}, (*INKS, "cursor"))).theme

    app = app_of(theme=theme)

    assert app.theme == theme.name
    assert app.current_theme is theme
    assert app.theme_variables["primary"].lower() == theme.primary


async def test_styles_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a theme came later, Textual would read all styles again before the first frame."""
    read: list[bool] = []
    monkeypatch.setattr(Stylesheet, "reparse", lambda _sheet: read.append(True))
    theme = textual_theme(theme_named("zktop-light", {}, (*INKS, "cursor"))).theme
    app = app_of(*trouble(), theme=theme)
    async with app.run_test() as pilot:
        await settled(pilot)

        assert read == []


async def test_the_line_for_filters_is_there_with_the_first_page() -> None:
    """A filter may be asked for before there is a page."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        is_early = app.page is None
        await pressed(pilot, "slash")
        await settled(pilot)

        assert is_early
        assert isinstance(app.focused, FilterLine)


async def test_a_page_is_not_squeezed_while_the_next_one_is_built() -> None:
    """On its first use, a page was shown below the one before it."""
    heights: set[int] = set()

    def measure(_message: Message) -> None:
        page = app.page
        if page is not None and page.size.height:
            heights.add(page.size.height)

    app = app_of(*trouble())
    async with app.run_test(size=(120, 36), message_hook=measure) as pilot:
        await settled(pilot)
        heights.clear()
        for key in "2345":
            await pressed(pilot, key)
            await settled(pilot)

    assert len(heights) == 1
