"""The help: what the screen in sight shows, its keys as they are now, and what marks mean.

What the help says: about the screen in sight, its keys, and what marks and inks mean.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.keys import Action, Group, shown
from zktop.ui.screens.common.status_codes import legend
from zktop.ui.styled_text import NOTHING, Ink, Line, Run, line, text_of, wrapped
from zktop.ui.widgets.text_view import TextView

GROUPS: Final[dict[Group, str]] = {
    "move": "Moving",
    "find": "Finding",
    "look": "The picture",
    "time": "Time",
    "keep": "Taking something out",
    "contenders": "Contenders of ours",
    "zktop": "zktop itself",
}
_MARKS: Final = re.compile(r"`([^`]*)`|\\(.)|\*")  # of Markdown: code, what is escaped, emphasis
NAMES: Final = "Names of the actions, to give them other keys with ui.keys in the config"
KEY_WIDTH: Final = 16
INKS: Final[tuple[tuple[str, Ink, str], ...]] = (
    ("holds", "holds", "has the lock"),
    ("waits", "waits", "has to wait for somebody"),
    ("standby", "standby", "is a candidate that somebody else leads before"),
    ("critical", "critical", "wrong, and proven to be"),
    ("warning", "warning", "may be wrong, or soon will be"),
    ("info", "info", "worth knowing"),
    ("ok", "good", "as it should be"),
    ("?", "unknown", "could not be seen; that is never the same as fine"),
    ("ours", "ours", "a contender that zktop has started itself"),
    ("PAUSED", "paused", "what you look at is not the newest"),
)
SIGNS: Final = (
    (">= 5s", "at least so long: it was like this already when we first looked"),
    ("W: R: X:", "a writer, a reader, an exclusive contender of the lock that follows"),
    ("C1 ... C4", "how sure a finding is: C1 a hint, C2 likely, C3 and C4 proven"),
    ("DED?", "a question mark behind a state: likely, not proven"),
    ("times", "are UTC; ages count from when the znode was made"),
)


def help_lines(
    title: str, about: str, keys: Sequence[Action], width: int, wanted: str = ""
) -> list[Line]:
    """Draw the help; with a text that is wanted only the lines that have it."""
    lines: list[Line] = []
    for heading, told in _sections(title, about, keys, width):
        kept = [one for one in told if wanted.casefold() in text_of(one).casefold()]
        if kept:
            lines += [NOTHING] if lines else []
            lines += [line((heading, "title")), *kept]
    return lines or [line(("Nothing here says that.", "dim"))]


def _sections(
    title: str, about: str, keys: Sequence[Action], width: int
) -> Iterator[tuple[str, Iterable[Line]]]:
    yield f"Screen {title}", _paragraphs(about, width)
    for group, heading in GROUPS.items():
        yield heading, [one for key in keys if key.group == group for one in _key(key, width)]
    yield "States of a lock", [line("  ", *one) for one in legend()]
    yield "Words and their colours", [_row(Run(word, ink), says) for word, ink, says in INKS]
    yield "Signs", [_row(Run(sign, "strong"), says) for sign, says in SIGNS]
    yield NAMES, [_row(Run(key.id, "strong"), "  ".join(map(shown, key.names))) for key in keys]


def _paragraphs(about: str, width: int) -> list[Line]:
    """Fold each by itself; a heading would only repeat the screen's name."""
    texts = re.split(r"\n\s*\n|\n\s*(?=- )", about)
    told = [_MARKS.sub(r"\1\2", text) for text in texts if not text.lstrip().startswith("#")]
    return [one for text in told for one in wrapped(text, width, indent="  ")]


def _key(key: Action, width: int) -> Iterator[Line]:
    names = "  ".join(map(shown, key.names))
    says = f"{key.help} (writes)" if key.writes else key.help
    first, *rest = wrapped(says, max(20, width - KEY_WIDTH - 3)) or [NOTHING]
    yield (*_row(Run(names, "key"), ""), *first)
    yield from ((Run(" " * (KEY_WIDTH + 3)), *one) for one in rest)


def _row(first: Run, says: str) -> Line:
    return line("  ", first, " " * max(1, KEY_WIDTH + 1 - len(first.text)), says)


class HelpDialog(Dialog[str]):
    """Scrolls, and narrows to what is typed."""

    DEFAULT_CSS = """
    HelpDialog Box { height: 90%; }
    HelpDialog TextView { height: 1fr; background: $surface; }
    HelpDialog Input { border: none; height: 1; padding: 0; background: $surface; }
    """

    def __init__(self, title: str, about: str, keys: Sequence[Action]) -> None:
        super().__init__()
        self._title, self._about, self._keys = title, about, keys

    def compose(self) -> ComposeResult:
        """Give the text, and a line to narrow it with."""
        box = Box()
        box.border_title, box.border_subtitle = "Help", "up, down scroll   esc leave"
        with box:
            field = Input(placeholder="type to find a key or a word", compact=True)
            field.cursor_blink = False
            yield field
            yield TextView(id="text")

    def on_mount(self) -> None:
        """Show all of it."""
        self.call_after_refresh(self._draw)

    def on_input_changed(self) -> None:
        """Narrow it."""
        self._draw()

    def on_resize(self, _event: events.Resize) -> None:
        """Fold it for the new width."""
        self.call_after_refresh(self._draw)

    def do_up(self) -> None:
        """Scroll up."""
        self.query_one(TextView).do_up()

    def do_down(self) -> None:
        """Scroll down."""
        self.query_one(TextView).do_down()

    def do_page_up(self) -> None:
        """Scroll up a page."""
        self.query_one(TextView).do_page_up()

    def do_page_down(self) -> None:
        """Scroll down a page."""
        self.query_one(TextView).do_page_down()

    def action_accept(self) -> None:
        """Close it: there is nothing to choose."""
        self.dismiss(None)

    def on_input_submitted(self) -> None:
        """Close it."""
        self.action_accept()

    def _draw(self) -> None:
        sheet = self.query_one(TextView)
        wanted = self.query_one(Input).value.strip()
        sheet.show(help_lines(self._title, self._about, self._keys, sheet.room.width, wanted))
