"""Apply a theme to the running app, after a test on a copy of its stylesheet."""

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
    """All themes, and the mistakes in the files of others."""

    designs: Sequence[NamedTheme] = ()
    mistakes: Sequence[str] = ()


LoadThemes = Callable[[], ThemeList]  # reads the files again


def theme_error(app: "BaseApp", theme: Theme) -> str | None:
    """Why a theme cannot be used. Textual would end the app with the error."""
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
    except Exception as error:  # noqa: BLE001  any error here would end the app
        return f"The theme {theme.name} cannot be used: {type(error).__name__}: {error}"
    return None


def apply_theme(app: "BaseApp", theme: Theme) -> str | None:
    """Switch to a theme, or return the reason why not."""
    wrong = theme_error(app, theme)
    if wrong is None:
        app.register_theme(theme)
        if app.theme == theme.name:
            app.refresh_css(animate=False)  # its file has changed
        app.theme = theme.name
    return wrong
