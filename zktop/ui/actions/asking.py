"""Dialogs about zktop itself: the help, and the choice of a theme."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zktop.ui.keys import known_on

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


def _help(app: "Zktop") -> None:
    from zktop.ui.dialogs.help import Help  # noqa: PLC0415  the first frame needs no dialog

    page = app.page
    if page is not None:
        app.push_screen(Help(page.TITLE, page.HELP or "", tuple(known_on(page.NAME, app.table))))


def _theme(app: "Zktop") -> None:
    from zktop.ui.dialogs.wardrobe import ChooseTheme  # noqa: PLC0415  as above

    wardrobe = app.look.themes()
    for wrong in wardrobe.mistakes:
        app.tell(wrong, is_wrong=True)
    if not wardrobe.designs:
        app.tell("There are no themes to choose from.", is_wrong=True)
        return

    def chosen(name: str | None) -> None:
        if name is not None:
            app.tell(f"The theme is {name} now.")

    app.push_screen(ChooseTheme(wardrobe, app.theme), chosen)


HELP_ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"help": _help, "theme": _theme}
