"""Panels: views in a frame with a title, facts on the right, and keys at the bottom.

In a small window only the title line of the frame is drawn.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.actions import SkipAction
from textual.content import Content
from textual.widget import Widget

from zktop.ui.messages import ShowPage
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.widgets.scrolling_view import ScrollingView
from zktop.ui.widgets.text_view import LogView, TextList, TextView

RULE: Final = "─"
NAMED_KEY: Final = re.compile(r"\{(\w+)\}")
CORNERS_CELLS: Final = 6  # with a piece of the border and a blank at each corner
MIN_FACTS_CELLS: Final = 12  # a shorter piece would be useless
MIN_RULE_CELLS: Final = 4  # between the title and the facts, with a blank at each end


class FrameWords(NamedTuple):
    """The texts in the border of a panel."""

    title: str
    facts: str = ""
    keys: str = ""  # what they do; `{tree}` is the user's key of the action `tree`
    is_alarm: bool = False  # the content is critical: the frame is red


PANEL_CSS: Final = """
.panel {
    border: round $line; background: $surface;
    border-title-color: $foreground; border-title-style: bold;
    border-subtitle-color: $secondary;
}
.panel:focus { border: round $primary; border-title-color: $primary; }
.panel:focus:nocolor { border: heavy $primary; }
.panel.-alarm { border: round $error; border-title-color: $error; }
.-air .panel { padding-left: 1; }
.-short .panel, .-short .panel:focus, .-short .panel:focus:nocolor, .-short .panel.-alarm {
    border-bottom: none; border-left: none; border-right: none;
}
"""

# A mixin, not a widget: Textual takes a widget's style sheet and name from its first base.
if TYPE_CHECKING:
    from zktop.ui.base_app import BaseApp

    _View = ScrollingView
else:
    _View = object


class Panel(_View):
    """Base of all views in a frame. The frame of the focused panel has another colour."""

    DEFAULT_CLASSES = "panel"
    words = FrameWords("")

    @property
    def is_active(self) -> bool:
        """True if keys go to this panel. Only then is its cursor bright."""
        return self.has_focus

    def key_of(self, action: str) -> str:
        return cast("BaseApp", self.app).key_of(action)

    def frame(self, words: FrameWords) -> None:
        """Set the texts in the border."""
        if words != self.words:
            self.words = words
            self.set_class(words.is_alarm, "-alarm")
            self._write()

    def _write(self) -> None:
        words, width = self.words, self.outer_size.width
        rule_colour = "$primary" if self.has_focus else "$line"
        if words.is_alarm:
            rule_colour = "$error"
        title = titled(words.title, words.facts, width, rule_colour)
        has_corners = bool(self.styles.border_left[0])  # then Textual adds the blanks
        self.border_title = title if has_corners else Content.assemble(" ", title, " ")
        key_colour = "$primary" if self.has_focus else ""
        self.border_subtitle = hinted(words.keys, self.key_of, key_colour)

    def on_focus(self, _event: events.Focus) -> None:
        """Draw the rule in the title in the colour of the focused frame."""
        self._write()

    def on_blur(self, _event: events.Blur) -> None:
        """Give the rule in the title the colour of the frame."""
        self._write()

    def on_resize(self, _event: events.Resize) -> None:
        """Move the facts to the right end."""
        self._write()


class TextPanel(Panel, TextView):
    """A text in a frame."""


class LinkPanel(TextPanel):
    """A text whose lines lead to other screens. Its cursor is visible only with the focus."""

    keeps_cursor = False

    def action_open(self) -> None:
        if not isinstance(self.target, LineLink):
            raise SkipAction
        self.post_message(ShowPage(self.target.page, self.target.subject))


class ListPanel(Panel, TextList):
    """A list to choose from, in a frame."""


class LogPanel(Panel, LogView):
    """A log in a frame."""


def set_height(widget: Widget, height: int) -> None:
    """Set the height of a widget if it differs. Textual then lays out the screen again."""
    current = widget.styles.height
    if current is None or current.cells != height:
        widget.styles.height = height


def hinted(keys: str, key_of: Callable[[str], str], colour: str) -> Content:
    """Return the lower border: what keys do, with the keys in a colour.

    >>> shown = hinted("{tree} waits  {fold} fold", {"tree": "w", "fold": "f9"}.get, "$primary")
    >>> shown.plain, [(span.start, span.end) for span in shown.spans]
    ('w waits  f9 fold', [(0, 1), (9, 11)])
    """
    pieces = NAMED_KEY.split(keys)  # text, action, text, action, ..., text
    return Content.assemble(
        *((key_of(piece), colour) if at % 2 else piece for at, piece in enumerate(pieces))
    )


def titled(title: str, facts: str, width: int, colour: str = "") -> Content:
    """Return the upper border: the title, a rule, and as much of the facts as fits.

    >>> titled("Locks", "412 · worst first", 40).plain
    'Locks ────────── 412 · worst first'
    >>> titled("Locks", "412 · worst first", 30).plain, titled("Locks", "412", 14).plain
    ('Locks ── 412 · worst fi…', 'Locks')
    """
    room = width - CORNERS_CELLS
    rest = room - cell_len(title) - cell_len(facts)
    if (
        facts
        and rest < MIN_RULE_CELLS
        and rest + cell_len(facts) >= MIN_RULE_CELLS + MIN_FACTS_CELLS
    ):
        facts = set_cell_size(facts, rest + cell_len(facts) - MIN_RULE_CELLS - 1) + "…"
        rest = MIN_RULE_CELLS
    if not facts or rest < MIN_RULE_CELLS:
        return Content(title if cell_len(title) <= room else set_cell_size(title, max(0, room)))
    rule = f" {RULE * (rest - 2)} "
    return Content.assemble(title, (rule, colour), (facts, "not bold $secondary"))
