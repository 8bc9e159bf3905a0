"""Themes, and how to change the theme of a running app."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.theme import Theme

if TYPE_CHECKING:
    from zktop.ui.base_app import BaseApp  # its settings hold a `LoadThemes`

PLAIN = "zktop-plain"  # the default on terminals with 16 colours


class NamedTheme(NamedTuple):
    """A theme, and a line about it."""

    theme: Theme
    about: str = ""


class ThemeList(NamedTuple):
    """All valid themes, and the mistakes in the files of the others."""

    designs: Sequence[NamedTheme] = ()
    mistakes: Sequence[str] = ()


LoadThemes = Callable[[], ThemeList]  # reads the files again


def apply_theme(app: "BaseApp", theme: Theme) -> None:
    """Switch to a theme. Its file was checked when it was read."""
    app.register_theme(theme)
    if app.theme == theme.name:
        app.refresh_css(animate=False)  # its file has changed
    app.theme = theme.name
