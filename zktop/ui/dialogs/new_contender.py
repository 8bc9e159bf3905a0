"""Dialog that starts demo clients: recipe, path, mode, flaw, times, how many."""

import re
from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Button, Input, Label, Select
from textual.widgets._select import SelectCurrent, SelectOverlay

from zktop.demo_types.contender_order import ContenderOrder, LockClaim, Mode, RecipeInfo
from zktop.ui.dialogs.base import Box, Dialog, text_field


class Menu(Select[str]):
    """A drop-down menu of words that opens an `OpenMenu`."""

    def compose(self) -> ComposeResult:
        yield SelectCurrent(self.prompt)
        yield OpenMenu(type_to_search=self._type_to_search).data_bind(compact=Select.compact)


class OpenMenu(SelectOverlay):
    """The open list of a menu.

    Ignores page keys until it has been drawn: Textual would look up the line of the chosen word,
    which does not exist before that, and crash.
    """

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}
MAX_COUNT = 20


class NewContender(Dialog[tuple[ContenderOrder, ...]]):
    """Returns the orders. With an invalid field, the form stays open and shows the mistake."""

    DEFAULT_CSS = """
    NewContender Horizontal { height: 1; }
    NewContender Label { width: 11; }
    NewContender Input { padding: 0 1; width: 1fr; }
    NewContender Input:focus { background: $primary 30%; }
    NewContender Menu { width: 1fr; height: 1; }
    NewContender #story { width: 1fr; height: auto; max-height: 6; margin: 1 0; }
    NewContender Button { min-width: 12; margin-right: 2; }
    """

    def __init__(self, recipes: Sequence[RecipeInfo], order: ContenderOrder) -> None:
        super().__init__()
        self._recipes = {recipe.name: recipe for recipe in recipes}
        self._order = order
        self._menus_for = ""  # the recipe whose modes and mistakes the menus list

    def compose(self) -> ComposeResult:
        order, claim = self._order, self._order.claims[0]
        recipe = self._recipes[claim.recipe]
        names = [
            (f"{listed.name}  {listed.source}", listed.name) for listed in self._recipes.values()
        ]
        with Box("New demo client", "tab next field   enter start   esc close"):
            yield Horizontal(
                Label("recipe"),
                Menu(names, value=claim.recipe, allow_blank=False, id="recipe", compact=True),
            )
            yield Horizontal(Label("path"), text_field(claim.path, name="path"))
            yield Horizontal(
                Label("mode"),
                Menu(
                    _modes(recipe),
                    value=claim.mode if claim.mode in recipe.modes else recipe.modes[0],
                    allow_blank=False,
                    id="mode",
                    compact=True,
                ),
            )
            yield Horizontal(
                Label("mistake"),
                Menu([], id="flaw", compact=True, prompt="none: a correct client"),
            )
            hold = "" if order.hold_s is None else f"{order.hold_s:g}s"
            yield Horizontal(
                Label("hold for"), text_field(hold, "until released; or 13s, 2m", "hold")
            )
            yield Horizontal(
                Label("wait for"), text_field("", "as long as it takes; or 5s", "timeout")
            )
            yield Horizontal(Label("how many"), text_field("1", name="count"))
            yield Label("", id="story", markup=False)
            yield Label("", id="wrong", markup=False)
            yield Horizontal(
                Button("Start", id="start", variant="primary", compact=True),
                Button("Cancel", id="no", compact=True),
            )

    def on_mount(self) -> None:
        """Focus the path, which users change most often."""
        self._show_mistakes(self._order.claims[0].recipe)
        self.query_one("#path", Input).focus()

    def on_select_changed(self, event: Select.Changed) -> None:
        if event.select.id == "recipe" and isinstance(event.value, str):
            if event.value != self._menus_for:
                self.query_one("#mode", Select).set_options(_modes(self._recipes[event.value]))
                self._show_mistakes(event.value)
        elif event.select.id == "flaw":
            self._show_story()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        await self.app.run_action("accept" if event.button.id == "start" else "leave", self)

    def action_accept(self) -> None:
        try:
            orders = self._orders()
        except ValueError as wrong:
            self.refuse(str(wrong))
            return
        self.dismiss(orders)

    def _show_mistakes(self, recipe: str) -> None:
        """List the mistakes that this recipe can make, and tell its story."""
        self._menus_for = recipe
        flaws = self._recipes[recipe].flaws
        self.query_one("#flaw", Select).set_options([(flaw.name, flaw.name) for flaw in flaws])
        self._show_story()

    def _show_story(self) -> None:
        """Show the story of the recipe, and what the chosen flaw does."""
        info = self._recipes[str(self.query_one("#recipe", Select).value)]
        chosen = self.query_one("#flaw", Select).value
        lines = [info.story]
        lines += [f"BROKEN: {info.broken}"] if info.broken else []
        lines += [f"MISTAKE: {flaw.does}" for flaw in info.flaws if flaw.name == chosen]
        self.query_one("#story", Label).update("\n".join(lines))

    def _orders(self) -> tuple[ContenderOrder, ...]:
        flaw = self.query_one("#flaw", Select).value
        count = self._text("count") or "1"
        if not count.isdecimal() or not 1 <= int(count) <= MAX_COUNT:
            raise ValueError(f"Not a count from 1 to {MAX_COUNT}.")
        path = self._text("path")
        if not path.startswith("/") or path.endswith("/") or "//" in path:
            raise ValueError("Not a lock path. Example: /zktop-demo/name")
        recipe = self._recipes[str(self.query_one("#recipe", Select).value)]
        mode = self.query_one("#mode", Select).value
        chosen_mode = next(name for name in recipe.modes if name == mode)
        claim = LockClaim(
            recipe.name,
            path,
            chosen_mode,
            flaw=flaw if isinstance(flaw, str) else None,
            timeout_s=seconds(self._text("timeout")),
            leases=self._order.claims[0].leases,
        )
        order = ContenderOrder(recipe.name, (claim,), hold_s=seconds(self._text("hold")))
        return (order,) * int(count)

    def _text(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()


def _modes(recipe: RecipeInfo) -> list[tuple[str, Mode]]:
    """Return the entries of the menu, the recipe's first mode first."""
    return [(mode, mode) for mode in recipe.modes]


def seconds(text: str) -> float | None:
    """Parse a duration. An empty text becomes None.

    >>> seconds("13s"), seconds("2m"), seconds("")
    (13.0, 120.0, None)
    """
    if not text:
        return None
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration. Examples: 13s, 500ms, 2m.")
    return float(match[1]) * _SECONDS[match[2]]
