"""One out of many: a list that narrows while something is typed, and words about what is on it.

The choice of a theme: worn while the cursor is on it; escape puts the old one back.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.widgets import Input

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.filters import parsed
from zktop.ui.styled_text import Line, Run, fitted, wrapped
from zktop.ui.themes import ThemeList, apply_theme
from zktop.ui.widgets.text_view import TextList, TextView

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

NAME_WIDTH = 20
WIDEST = 94  # of what is told of an option
HIGHEST = 90  # per cent of the screen, as the style of a box says
AROUND = 3  # its frame, and the line that is typed in
LEAST_LISTED, MOST_LISTED = 4, 16  # lines
MOST_TOLD = 9


class Choosable(NamedTuple):
    """What can be chosen: its name, its title, and what there is to say of it."""

    name: str
    title: str
    about: tuple[str, ...] = ()


class ListDialog:
    """A dialog with a list in it."""

    def rests(self) -> None:
        """Take note of the line that the cursor rests on."""


class ChoiceDialog(ListDialog, Dialog[str]):
    """Gives the name of the chosen one."""

    DEFAULT_CSS = """
    ChoiceDialog TextView { height: auto; max-height: 16; background: $surface; }
    ChoiceDialog #about { max-height: 10; border-top: solid $panel; }
    ChoiceDialog Input { border: none; height: 1; padding: 0; background: $surface; }
    """

    def __init__(
        self, title: str, options: Sequence[Choosable], chosen: str | None = None
    ) -> None:
        super().__init__()
        self._title, self._options, self._first = title, options, chosen
        self._typed = ""

    def compose(self) -> ComposeResult:
        """Give the list, and what is told of the line under the cursor."""
        box = Box()
        box.border_title, box.border_subtitle = self._title, "enter choose   esc leave"
        with box:
            yield Input(placeholder="type to narrow the list", compact=True)
            yield DialogList(id="options")
            yield TextView(id="about")

    def on_mount(self) -> None:
        """Begin with all of them."""
        sheet = self.query_one("#options", DialogList)
        sheet.target = self._first
        self._narrow("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._narrow(event.value)

    def do_up(self) -> None:
        """Go one up."""
        self.query_one("#options", DialogList).move(-1)

    def do_down(self) -> None:
        """Go one down."""
        self.query_one("#options", DialogList).move(1)

    def do_page_up(self) -> None:
        """Go up a page."""
        self.query_one("#options", DialogList).do_page_up()

    def do_page_down(self) -> None:
        """Go down a page."""
        self.query_one("#options", DialogList).do_page_down()

    def action_accept(self) -> None:
        """Choose the line under the cursor."""
        self.dismiss(self.chosen)

    def on_input_submitted(self) -> None:
        """Choose the line under the cursor."""
        self.action_accept()

    def rests(self) -> None:
        """Tell of the line under the cursor."""
        self._tell()

    @property
    def chosen(self) -> str | None:
        """The name of the line under the cursor."""
        target = self.query_one("#options", DialogList).target
        return target if isinstance(target, str) else None

    def _narrow(self, text: str) -> None:
        wanted = parsed(text)
        kept = [one for one in self._options if wanted.passes({"": f"{one.name} {one.title}"})]
        kept.sort(key=lambda one: (one.name != text, not one.name.startswith(text)))
        lines = [drawn(one) for one in kept]
        sheet = self.query_one("#options", DialogList)
        sheet.styles.height = max(1, min(self._room, len(lines)))
        if text and kept and text != self._typed:
            sheet.target = kept[0].name  # who types a name means the first that fits
        self._typed = text
        sheet.show(lines, [one.name for one in kept])
        self.rests()

    @property
    def _room(self) -> int:
        """The lines that are left for the list beside the longest that is told below it."""
        about = max((len(self._told(one)) for one in self._options), default=1)
        inside = self.app.size.height * HIGHEST // 100 - AROUND
        return min(MOST_LISTED, max(LEAST_LISTED, inside - min(about, MOST_TOLD) - 1))

    def on_resize(self) -> None:
        """Share the room out anew."""
        self._narrow(self.query_one(Input).value)

    def _tell(self) -> None:
        option = next((one for one in self._options if one.name == self.chosen), None)
        sheet = self.query_one("#about", TextView)
        lines = self._told(option)
        sheet.styles.height = max(1, len(lines)) + 1
        sheet.show(lines)

    def _told(self, option: Choosable | None) -> list[Line]:
        width = max(20, min(WIDEST, self.app.size.width * 9 // 10 - 5))
        about = option.about if option else ("Nothing is called so.",)
        return [line for text in about for line in wrapped(text, width)]


class DialogList(TextList):
    """A list whose cursor tells where it rests."""

    def moved(self) -> None:
        """Pass it on."""
        super().moved()
        if isinstance(self.screen, ListDialog):
            self.screen.rests()


def drawn(option: Choosable, width: int = NAME_WIDTH) -> Line:
    """Draw one line of the list; its names take so many cells."""
    return (*fitted((Run(option.name, "strong"),), width), Run(f" {option.title}"))


class ThemeDialog(ChoiceDialog):
    """Gives the name of the theme that is worn from now on."""

    def __init__(self, wardrobe: ThemeList, worn: str) -> None:
        options = [
            Choosable(one.theme.name, one.about, _about(one.about)) for one in wardrobe.designs
        ]
        super().__init__("Theme", options, worn)
        self._themes = {one.theme.name: one.theme for one in wardrobe.designs}
        self._worn = worn

    def rests(self) -> None:
        """Try on what the cursor rests on."""
        super().rests()
        self._try(self.chosen)

    def action_leave(self) -> None:
        """Put the old one back."""
        self._try(self._worn)
        super().action_leave()

    def _try(self, name: str | None) -> None:
        app: Zktop = self.app  # type: ignore[assignment]  # there is no other app
        theme = self._themes.get(name or "")
        if theme is None or app.theme == theme.name:
            return
        wrong = apply_theme(app, theme)
        if wrong is not None:
            app.tell(wrong, is_wrong=True)


def _about(about: str) -> tuple[str, ...]:
    return (f"{about[:1].upper()}{about[1:]}.", "Set it for good with ui.theme in the config.")
