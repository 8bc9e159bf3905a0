"""What the first frame needs is there at once; all else comes after it, and is not waited for."""

import subprocess
import sys

import pytest
from textual.css.stylesheet import Stylesheet
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled

from zktop.app.run_ui import design_of
from zktop.config.themes import theme_named
from zktop.ui.styled_text import INKS
from zktop.ui.widgets.filter_line import FilterLine

ONLY_FOR_REPORTS = {
    "zktop.model.report",
    "zktop.model.findings.apply",
    "zktop.ui.screens.common.status_codes",
    "zktop.ui.screens.locks.screen",
}


def test_what_only_reports_need_is_not_imported() -> None:
    """The rules and the history take as long to import as the half of Textual."""
    command = [sys.executable, "-c", "import zktop.ui.app, sys; print(*sys.modules)"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert "zktop.ui.app" in told.split()
    assert not ONLY_FOR_REPORTS.intersection(told.split())


def test_the_theme_is_worn_from_the_beginning() -> None:
    """Nothing is styled in another one first."""
    theme = design_of(theme_named("zktop-light", {}, (*INKS, "cursor"))).theme

    app = app_of(theme=theme)

    assert app.theme == theme.name
    assert app.current_theme is theme
    assert app.theme_variables["primary"].lower() == theme.primary


async def test_styles_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A theme that comes later would have all of them read again before the first frame."""
    read: list[bool] = []
    monkeypatch.setattr(Stylesheet, "reparse", lambda _sheet: read.append(True))
    theme = design_of(theme_named("zktop-light", {}, (*INKS, "cursor"))).theme
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
