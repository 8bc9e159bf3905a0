"""What every dialog is: a box with a title, that escape closes without having done anything.

What is left once, however often it is told to: a second enter may be on its way already.

Textual pops whatever screen is on top then: another dialog, or the last screen there is.
"""

import contextlib
from typing import ClassVar, Generic, TypeVar

from textual import on, work
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from zktop.ui.keys import KEYS
from zktop.ui.widgets.canvas import BoxBackdrop

T = TypeVar("T")


class ClosesOnce(Screen[T], Generic[T]):
    """A screen that closes itself alone."""

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, where it is not closed yet."""
        return super().dismiss(result) if self.is_current else AwaitComplete()


class PaletteDialog(CommandPalette, ClosesOnce[None]):
    """Everything by name."""

    _found: str | None = None  # what the list is of
    _wanted: str | None = None  # what enter was pressed for

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)  # noqa: SLF001  it is cancelled by that name
    async def _gather_commands(self, search_value: str) -> None:
        """Look for what was typed; whoever types fast has left before, and the list is gone."""
        gather = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]  # noqa: SLF001  as every decorator keeps it
        with contextlib.suppress(NoMatches):
            await gather(self, search_value)
            self._found = search_value
            if self._wanted == search_value:
                self._select_or_command()

    @on(Input.Changed)
    def _think_again(self, event: Input.Changed) -> None:
        """Forget enter, which was pressed for something else; to look for this may never begin."""
        if self._wanted != event.value.strip():
            self._wanted = None

    @on(Input.Submitted)
    def _insist(self, event: Input.Submitted) -> None:
        """Wait for what was typed: the list may still be that of fewer letters, or of none."""
        self._wanted = event.value.strip()
        if self._selected_command is None and self._wanted != self._found:
            event.stop()
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        """Move in the list; by a page only once it is drawn, for it has no lines before."""
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)


MOVES = ("up", "down", "page_up", "page_down", "first", "last")


class Box(BoxBackdrop, Vertical):
    """The visible part of a dialog."""


class Dialog(ModalScreen[T | None], ClosesOnce[T | None], Generic[T]):
    """Gives None when it was left, and what was chosen when it was accepted.

    The cursor is moved by the keys of the table, as everywhere; where something can be typed,
    letters are typed. Escape and enter mean the same in every dialog, whatever else they do.
    """

    BINDINGS: ClassVar = [
        Binding("escape", "leave", "Leave", show=True),
        Binding("enter", "accept", "OK", show=True),
        *(
            Binding(key.movable, f"app.ask('{key.id}')", show=False, id=key.id)
            for key in KEYS
            if key.id in MOVES
        ),
    ]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Box {
        width: 90%; max-width: 100; height: auto; max-height: 90%;
        background: $surface; border: round $primary; padding: 0 1;
        border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $secondary;
    }
    """

    def action_leave(self) -> None:
        """Close it; nothing was chosen."""
        self.dismiss(None)

    def action_accept(self) -> None:
        """Close it with what was chosen."""
        raise NotImplementedError
