"""What every dialog is: a box with a title, that escape closes without having done anything."""

from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen

from zktop.ui.dialogs.once import Once
from zktop.ui.keys import KEYS
from zktop.ui.widgets.backdrop import Framed

T = TypeVar("T")
MOVES = ("up", "down", "page_up", "page_down", "first", "last")


class Box(Framed, Vertical):
    """The visible part of a dialog."""


class Dialog(ModalScreen[T | None], Once[T | None], Generic[T]):
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
