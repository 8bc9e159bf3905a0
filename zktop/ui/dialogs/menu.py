"""A menu in a form, which a page key may reach before it is laid out."""

from typing import Literal

from textual.app import ComposeResult
from textual.widgets import Select

# Textual gives it no public name, and an own one would be a second menu to look after.
from textual.widgets._select import SelectCurrent, SelectOverlay


class Menu(Select[str]):
    """One of several words."""

    def compose(self) -> ComposeResult:
        """Give the chosen word, and the list that opens below it."""
        yield SelectCurrent(self.prompt)
        yield Unrolled(type_to_search=self._type_to_search).data_bind(compact=Select.compact)


class Unrolled(SelectOverlay):
    """The open list of a menu.

    Textual asks it for the line of the chosen word as soon as it has the keys, and it has lines
    only once it has been drawn: a page key that came in between ended the program.
    """

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)
