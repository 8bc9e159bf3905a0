"""The order form of contenders: recipe, path, mode, how long, how many.

A menu in a form, which a page key may reach before it is laid out.
"""

import re
from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Button, Input, Label, Select
from textual.widgets._select import SelectCurrent, SelectOverlay

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.ports import RecipeCard, Wish

# Textual gives it no public name, and an own one would be a second menu to look after.


class Menu(Select[str]):
    """One of several words."""

    def compose(self) -> ComposeResult:
        """Give the chosen word, and the list that opens below it."""
        yield SelectCurrent(self.prompt)
        yield OpenMenu(type_to_search=self._type_to_search).data_bind(compact=Select.compact)


class OpenMenu(SelectOverlay):
    """The open list of a menu.

    Textual asks it for the line of the chosen word as soon as it has the keys, and it has lines
    only once it has been drawn: a page key that came in between ended the program.
    """

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}
_WHOLE = 20  # contenders that one order may ask for


class NewContender(Dialog[Wish]):
    """Gives a wish; what cannot be is said below the form before it is closed."""

    DEFAULT_CSS = """
    NewContender Horizontal { height: 1; }
    NewContender Label { width: 11; }
    NewContender Input { border: none; height: 1; padding: 0 1; width: 1fr; }
    NewContender Input:focus { background: $primary 30%; }
    NewContender Menu { width: 1fr; height: 1; }
    NewContender #story { width: 1fr; height: auto; max-height: 6; margin: 1 0; }
    NewContender #wrong { width: 1fr; height: auto; color: $error; text-style: bold; }
    NewContender Button { min-width: 12; margin-right: 2; }
    """

    def __init__(self, recipes: Sequence[RecipeCard], wish: Wish) -> None:
        super().__init__()
        self._recipes = {one.name: one for one in recipes}
        self._wish = wish

    def compose(self) -> ComposeResult:
        """Give the form."""
        wish = self._wish
        names = [(f"{one.name}  {one.source}", one.name) for one in self._recipes.values()]
        box = Box()
        box.border_title = "New contender"
        box.border_subtitle = "tab next field   enter start   esc leave"
        with box:
            yield Horizontal(
                Label("recipe"),
                Menu(names, value=wish.recipe, allow_blank=False, id="recipe", compact=True),
            )
            yield Horizontal(Label("path"), _field("path", wish.path))
            yield Horizontal(Label("mode"), Menu([], id="mode", compact=True, prompt="-"))
            yield Horizontal(
                Label("mistake"),
                Menu([], id="flaw", compact=True, prompt="none: as it should be"),
            )
            hold = "" if wish.hold_s is None else f"{wish.hold_s:g}s"
            yield Horizontal(Label("hold for"), _field("hold", hold, "until released; or 13s, 2m"))
            yield Horizontal(
                Label("wait for"), _field("timeout", "", "as long as it takes; or 5s")
            )
            yield Horizontal(Label("how many"), _field("count", str(wish.count)))
            yield Label("", id="story", markup=False)
            yield Label("", id="wrong", markup=False)
            yield Horizontal(
                Button("Start", id="start", variant="primary", compact=True),
                Button("Leave", id="no", compact=True),
            )

    def on_mount(self) -> None:
        """Begin at the path, which is what differs most often."""
        self._fit(self._wish.recipe)
        if self._wish.mode in self._recipes[self._wish.recipe].modes:
            self.query_one("#mode", Select).value = self._wish.mode
        self.query_one("#path", Input).focus()

    def on_select_changed(self, event: Select.Changed) -> None:
        """Offer what the recipe knows."""
        if event.select.id == "recipe" and isinstance(event.value, str):
            self._fit(event.value)
        elif event.select.id == "flaw":
            self._tell()

    def on_input_submitted(self) -> None:
        """Start, from whatever field."""
        self.action_accept()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Start, or leave."""
        if event.button.id == "start":
            self.action_accept()
        else:
            self.action_leave()

    def action_accept(self) -> None:
        """Give the wish, or say what is wrong with it."""
        try:
            wish = self._filled_in()
        except ValueError as wrong:
            self.query_one("#wrong", Label).update(str(wrong))
            return
        self.dismiss(wish)

    def _fit(self, recipe: str) -> None:
        card = self._recipes[recipe]
        mode, flaw = self.query_one("#mode", Select), self.query_one("#flaw", Select)
        mode.set_options([(one, one) for one in card.modes])
        mode.value = card.modes[0]
        flaw.set_options([(name, name) for name, _ in card.flaws])
        self._tell()

    def _tell(self) -> None:
        """Tell the story of the recipe, and of the mistake that was chosen."""
        card = self._recipes[str(self.query_one("#recipe", Select).value)]
        flaw = dict(card.flaws).get(str(self.query_one("#flaw", Select).value))
        told = [
            card.story,
            f"BROKEN: {card.broken}" if card.broken else "",
            f"MISTAKE: {flaw}" if flaw else "",
        ]
        self.query_one("#story", Label).update("\n".join(filter(None, told)))

    def _filled_in(self) -> Wish:
        flaw = self.query_one("#flaw", Select).value
        count = self._text("count") or "1"
        if not count.isdecimal() or not 1 <= int(count) <= _WHOLE:
            raise ValueError(f"How many has to be a number from 1 to {_WHOLE}.")
        path = self._text("path")
        if not path.startswith("/") or path.endswith("/") or "//" in path:
            raise ValueError("The path has to look like /zktop-demo/name.")
        return Wish(
            recipe=str(self.query_one("#recipe", Select).value),
            path=path,
            mode=str(self.query_one("#mode", Select).value),
            hold_s=seconds(self._text("hold")),
            timeout_s=seconds(self._text("timeout")),
            count=int(count),
            flaw=flaw if isinstance(flaw, str) else None,
        )

    def _text(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()


def _field(name: str, value: str, hint: str = "") -> Input:
    field = Input(value, placeholder=hint, id=name, compact=True)
    field.cursor_blink = False
    return field


def seconds(text: str) -> float | None:
    """Read a length of time; nothing is None.

    >>> seconds("13s"), seconds("2m"), seconds("")
    (13.0, 120.0, None)
    """
    if not text:
        return None
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no length of time: it has to look like 13s, 500ms or 2m.")
    return float(found[1]) * _SECONDS[found[2]]
