"""Themes on a living app: tried on a copy of its stylesheet first, so that none can end it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.theme import Theme

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

PLAIN = "zktop-plain"  # what terminals with few colours get


class NamedTheme(NamedTuple):
    """A theme, and a line about it."""

    theme: Theme
    about: str = ""


class ThemeList(NamedTuple):
    """All themes that there are now, and what is wrong with the files of others."""

    designs: Sequence[NamedTheme] = ()
    mistakes: Sequence[str] = ()


LoadThemes = Callable[[], ThemeList]  # reads the files anew


def theme_error(app: "Zktop", theme: Theme) -> str | None:
    """Say why a theme cannot be worn; the app keeps what it wears meanwhile.

    To read a copy of all styles takes as long as to wear them, and leaves thousands of pieces
    behind: what was tried is not tried again, unless there are more styles by now.
    """
    trial = theme, len(app.stylesheet.source)
    if app.tried.get(theme.name) == trial:
        return None
    try:
        values = {
            **app.get_theme_variable_defaults(),
            **theme.to_color_system().generate(),
            **theme.variables,
        }
        sheet = app.stylesheet.copy()
        sheet.set_variables(values)
        sheet.reparse()
        list(sheet.rules)
    except Exception as error:  # noqa: BLE001  whatever it is, the app would end with it
        return f"The theme {theme.name} cannot be used: {type(error).__name__}: {error}"
    app.tried[theme.name] = trial
    return None


def apply_theme(app: "Zktop", theme: Theme) -> str | None:
    """Switch to a theme, or say why not."""
    wrong = theme_error(app, theme)
    if wrong is None:
        app.register_theme(theme)
        if app.theme == theme.name:
            app.refresh_css(animate=False)  # the file of what is worn has changed
        app.theme = theme.name
    return wrong
