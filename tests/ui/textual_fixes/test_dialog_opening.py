"""The page behind a dialog looks as Textual draws it."""

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.renderables.background_screen import BackgroundScreen

from zktop.ui.textual_fixes import dialog_opening

PAGE = (
    Segment("bold", Style(color="red", bgcolor="#102030", bold=True)),
    Segment("link", Style(color="#ffffff", meta={"@click": "open"})),
    Segment("plain"),
)


def test_a_page_is_tinted_as_textual_does_it() -> None:
    """Colours are mixed, and nothing on it is a link."""
    for color in (Color(0, 0, 0, 0.6), Color(0, 0, 0, 0)):
        ours = list(dialog_opening.tinted(PAGE, color))
        assert ours == list(dialog_opening._tint(PAGE, color))


def test_the_fix_replaces_what_textual_calls() -> None:
    """A new version of Textual may rename it."""
    dialog_opening.draw_page_behind_faster()
    assert BackgroundScreen.process_segments is dialog_opening.tinted
