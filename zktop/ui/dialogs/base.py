"""Base class of all dialogs: a box with a title, which Esc closes without a result."""

from typing import ClassVar, Final, Generic, TypeVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from zktop.ui.keys import KEYS, MOVES
from zktop.ui.styled_text import Line
from zktop.ui.textual_fixes.draw_once import DrawnOnce
from zktop.ui.widgets.text_view import TextView

T = TypeVar("T")
MAX_BOX_PERCENT: Final = 90  # of the screen
FRAME_LINES: Final = 2


class Box(Vertical):
    """The visible part of a dialog, with its title and its keys in the border."""

    def __init__(self, title: str, keys: str) -> None:
        super().__init__()
        self.frame(title, keys)

    def frame(self, title: str, keys: str) -> None:
        self.border_title, self.border_subtitle = Content(title), Content(keys)  # no markup


def text_field(value: str = "", hint: str = "", name: str | None = None) -> Input:
    """Return a text field whose cursor does not blink."""
    field = Input(value, placeholder=hint, id=name, compact=True)
    field.cursor_blink = False
    return field


class Overlay(ModalScreen[T | None], DrawnOnce[T | None], Generic[T]):
    """A screen above the pages. Closing it twice is harmless."""

    # No style depends on the size. Without breakpoints, an overlay opens with one drawing less.
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = []  # noqa: RUF012  as Textual declares it
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = []  # noqa: RUF012  likewise
    is_closing = False

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close the overlay, unless it is closing already.

        Textual closes the topmost screen, whichever screen it is called on: a second call, or one
        on an overlay below another, would close the wrong screen. An overlay that is not mounted
        yet closes once it is; otherwise Textual would mount it without its fields.
        """
        if not self.is_mounted:
            self.call_later(self._dismiss_later, result)
            return AwaitComplete()
        if self.is_closing or self.app.screen_stack[-1:] != [self]:
            return AwaitComplete()
        self.is_closing = True
        return super().dismiss(result)

    def _dismiss_later(self, result: T | None) -> None:
        self.dismiss(result)  # without returning it, which Textual would wait for


class Dialog(Overlay[T], Generic[T]):
    """Returns the user's choice, or None after Escape.

    Cursor keys move in the list `moves_in`, even while the focus is on a text field. Escape and
    Enter mean the same in every dialog.
    """

    BINDINGS: ClassVar = [
        Binding("escape", "leave", "Close", show=True),
        Binding("enter", "accept", "OK", show=True),
        *(key.binding() for key in KEYS if key.id in MOVES),
    ]
    DEFAULT_CSS = f"""
    Dialog {{ align: center middle; background: $background 60%; }}
    Box {{
        width: {MAX_BOX_PERCENT}%; max-width: 100; height: auto; max-height: {MAX_BOX_PERCENT}%;
        background: $surface; border: round $primary; padding: 0 1;
        border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $secondary;
    }}
    Dialog Input {{ border: none; height: 1; padding: 0; background: $surface; }}
    Dialog #wrong {{ width: 1fr; height: auto; color: $error; text-style: bold; }}
    """
    moves_in = ""  # CSS selector of the list or text that cursor keys move in

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow only the key that closes the dialog until its fields are mounted."""
        is_possible = self.is_mounted or action == "leave"
        return is_possible and super().check_action(action, parameters)

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def action_accept(self) -> None:
        """Close with the user's choice."""
        self.dismiss(None)

    async def on_input_submitted(self) -> None:
        await self.app.run_action("accept", self)  # which survives errors

    def lines_without(self, others: int) -> int:
        """Return the lines left in a box of full height after its frame and this many others."""
        return self.app.size.height * MAX_BOX_PERCENT // 100 - FRAME_LINES - others

    def refuse(self, why: str) -> None:
        """Show below the fields why the dialog stays open."""
        self.query_one("#wrong", Label).update(why)

    def _move(self, action: str) -> None:
        if self.moves_in:
            getattr(self.query_one(self.moves_in, TextView), f"action_{action}")()

    def action_up(self) -> None:
        self._move("up")

    def action_down(self) -> None:
        self._move("down")

    def action_page_up(self) -> None:
        self._move("page_up")

    def action_page_down(self) -> None:
        self._move("page_down")


class TextDialog(Dialog[None]):
    """A text that scrolls, drawn for its width. With a search hint, it has a search field."""

    DEFAULT_CSS = """
    TextDialog Box { height: 90%; }
    TextDialog TextView { height: 1fr; background: $surface; overflow-y: scroll; }
    """
    moves_in = "#text"

    def __init__(self, title: str, keys: str, search_hint: str = "") -> None:
        super().__init__()
        self._box, self._search_hint = Box(title, keys), search_hint

    def lines(self, width: int) -> list[Line]:
        """Draw the text; for subclasses."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with self._box:
            if self._search_hint:
                yield text_field(hint=self._search_hint)
            yield TextView(id="text")

    def on_input_changed(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()  # also for the first time

    def _draw(self) -> None:
        view = self.query_one(TextView)
        view.show(self.lines(view.room.width))
