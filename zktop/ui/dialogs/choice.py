"""Dialogs for choosing an item from a list that narrows while the user types, and a theme."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from textual.app import ComposeResult
from textual.theme import Theme
from textual.widgets import Input

from zktop.ui.base_app import BaseApp
from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.filters import parsed_filter
from zktop.ui.styled_text import Line, Run, fitted, wrapped
from zktop.ui.themes import NamedTheme, ThemeList, apply_theme
from zktop.ui.widgets.text_view import TextList, TextView

NAME_WIDTH = 20
MAX_ABOUT_WIDTH = 94
FIELD_LINES = 2  # the text field, and the border above the description
MIN_LIST_LINES, MAX_LIST_LINES = 4, 16
MAX_ABOUT_LINES = 9


class Choosable(NamedTuple):
    """One item of the list: its name, its title, and a description."""

    name: str
    title: str
    about: tuple[str, ...] = ()


class ChoiceDialog(Dialog[str]):
    """Returns the name of the chosen item."""

    DEFAULT_CSS = """
    ChoiceDialog TextView { height: auto; max-height: 16; background: $surface; }
    ChoiceDialog #about { max-height: 10; border-top: solid $panel; }
    """
    moves_in = "#options"

    def __init__(
        self, title: str, options: Sequence[Choosable], chosen: str | None = None
    ) -> None:
        super().__init__()
        self._title, self._options, self._first = title, options, chosen
        self._typed = ""

    def compose(self) -> ComposeResult:
        with Box(self._title, "enter choose   esc cancel"):
            yield Input(placeholder="type to narrow the list", compact=True)
            yield TextList(id="options")
            yield TextView(id="about")

    def on_mount(self) -> None:
        self.query_one("#options", TextList).target = self._first
        self._narrow("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    def action_accept(self) -> None:
        self.dismiss(self.chosen)

    def on_text_list_moved(self) -> None:
        option = next((option for option in self._options if option.name == self.chosen), None)
        view = self.query_one("#about", TextView)
        lines = self._about(option)
        view.styles.height = max(1, len(lines)) + 1
        view.show(lines)

    @property
    def chosen(self) -> str | None:
        target = self.query_one("#options", TextList).target
        return target if isinstance(target, str) else None

    def _narrow(self, text: str) -> None:
        wanted = parsed_filter(text)
        matches = [
            option
            for option in self._options
            if wanted.passes({"": f"{option.name} {option.title}"})
        ]
        matches.sort(key=lambda option: (option.name != text, not option.name.startswith(text)))
        lines = [self.line_of(option) for option in matches]
        view = self.query_one("#options", TextList)
        view.styles.height = max(1, min(self._list_lines, len(lines)))
        if text and matches and text != self._typed:
            view.target = matches[0].name  # while typing, select the best match
        self._typed = text
        view.show(lines, [option.name for option in matches])
        self.on_text_list_moved()

    def line_of(self, option: Choosable) -> Line:
        """Draw one item; for subclasses."""
        return option_line(option)

    def replace_options(self, options: Sequence[Choosable]) -> None:
        """Show other options. The selected name stays selected."""
        self._options = options
        self._narrow(self._typed)

    @property
    def _list_lines(self) -> int:
        """The lines of the list that leave room for the longest description below it."""
        about = max((len(self._about(option)) for option in self._options), default=1)
        room = self.lines_without(FIELD_LINES + min(about, MAX_ABOUT_LINES))
        return min(MAX_LIST_LINES, max(MIN_LIST_LINES, room))

    def on_resize(self) -> None:
        self._narrow(self.query_one(Input).value)

    def _about(self, option: Choosable | None) -> list[Line]:
        width = max(20, min(MAX_ABOUT_WIDTH, self.app.size.width * 9 // 10 - 5))
        about = option.about if option else ("No match.",)
        return [line for text in about for line in wrapped(text, width)]


def option_line(option: Choosable, width: int = NAME_WIDTH) -> Line:
    return (*fitted((Run(option.name, "strong"),), width), Run(f" {option.title}"))


class ThemeDialog(ChoiceDialog):
    """Applies each theme while it is selected. Esc restores the old one.

    So does Enter without a match. The old one is in the list, even if its file has a mistake now.
    """

    def __init__(self, themes: ThemeList, current: Theme) -> None:
        designs = list(themes.designs)
        if current.name not in [design.theme.name for design in designs]:
            designs.insert(0, NamedTheme(current, "the theme in use"))
        options = [
            Choosable(
                design.theme.name,
                design.about,
                (
                    f"{design.about[:1].upper()}{design.about[1:]}.",
                    "To keep it, set ui.theme in the config.",
                ),
            )
            for design in designs
        ]
        super().__init__("Theme", options, current.name)
        self._themes = {design.theme.name: design.theme for design in designs}
        self._current = current.name

    def on_text_list_moved(self) -> None:
        super().on_text_list_moved()
        self._apply(self.chosen)

    def action_accept(self) -> None:
        if self.chosen is None:
            self.action_leave()
        else:
            super().action_accept()

    def action_leave(self) -> None:
        self._apply(self._current)
        super().action_leave()

    def _apply(self, name: str | None) -> None:
        app = cast("BaseApp", self.app)
        theme = self._themes.get(name or "")
        if theme is not None and app.theme != theme.name:
            apply_theme(app, theme)
