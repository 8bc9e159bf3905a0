"""The help: what the visible screen shows, its keys, and what signs and colours mean."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from textual.widgets import Input

from zktop.ui.dialogs.base import TextDialog
from zktop.ui.keys import Action, Group, shown
from zktop.ui.screens.common.status_codes import legend
from zktop.ui.styled_text import NOTHING, Ink, Line, Run, hanging, line, text_of, wrapped

GROUPS: Final[dict[Group, str]] = {
    "move": "Navigation",
    "find": "Search",
    "look": "Display",
    "time": "Time",
    "keep": "Copy, export, record",
    "commands": "Your own commands",
    "contenders": "Demo contenders",
    "zktop": "zktop",
}
_MARKS: Final = re.compile(r"`([^`]*)`|\\(.)|\*")  # Markdown: code, escapes, emphasis
NAMES: Final = "Action names, for ui.keys in the config"
KEY_WIDTH: Final = 16
INKS: Final[tuple[tuple[str, Ink, str], ...]] = (
    ("holds", "holds", "has the lock"),
    ("waits", "waits", "waits for the lock"),
    ("standby", "standby", "a candidate that is not the leader"),
    ("critical", "critical", "a proven problem"),
    ("warning", "warning", "a possible problem, or one that is about to happen"),
    ("info", "info", "worth knowing"),
    ("ok", "good", "no problem"),
    ("?", "unknown", "unknown: not the same as ok"),
    ("demo", "ours", "a demo contender, started by zktop"),
    ("PAUSED", "paused", "the display does not show the newest state"),
)
SIGNS: Final = (
    (">= 5s", "at least: it was so when zktop first looked"),
    ("W: R: X:", "a writer, a reader, an exclusive client of the lock that follows"),
    ("DEADLOCK?", "a question mark after a state: likely, not confirmed"),
    ("times", "UTC; ages count from the creation of the znode"),
)


def help_lines(
    title: str, about: str, keys: Sequence[Action], width: int, wanted: str = ""
) -> list[Line]:
    """The lines of the help; with a search text, only those that contain it."""
    lines: list[Line] = []
    for heading, section in _sections(title, about, keys, width):
        kept = [one for one in section if wanted.casefold() in text_of(one).casefold()]
        if kept:
            lines += [NOTHING] if lines else []
            lines += [line((heading, "title")), *kept]
    return lines or [line(("No match.", "dim"))]


def _sections(
    title: str, about: str, keys: Sequence[Action], width: int
) -> Iterator[tuple[str, Iterable[Line]]]:
    yield f"Screen {title}", _paragraphs(about, width)
    for group, heading in GROUPS.items():
        yield heading, [one for key in keys if key.group == group for one in _key(key, width)]
    yield "States of a lock", [line("  ", *one) for one in legend()]
    yield "Colours", [_row(Run(word, ink), says) for word, ink, says in INKS]
    yield "Signs", [_row(Run(sign, "strong"), says) for sign, says in SIGNS]
    yield NAMES, [_row(Run(key.id, "strong"), "  ".join(map(shown, key.names))) for key in keys]


def _paragraphs(about: str, width: int) -> list[Line]:
    """Wrap each paragraph; drop headings, which repeat the name of the screen."""
    texts = re.split(r"\n\s*\n|\n\s*(?=- )", about)
    paragraphs = [_MARKS.sub(r"\1\2", text) for text in texts if not text.lstrip().startswith("#")]
    return [one for text in paragraphs for one in wrapped(text, width, indent="  ")]


def _key(key: Action, width: int) -> Iterator[Line]:
    names = "  ".join(map(shown, key.names))
    says = f"{key.help} (writes to ZooKeeper)" if key.writes else key.help
    yield from hanging(_row(Run(names, "key"), ""), says, max(KEY_WIDTH + 23, width))


def _row(first: Run, says: str) -> Line:
    return line("  ", first, " " * max(1, KEY_WIDTH + 1 - len(first.text)), says)


class HelpDialog(TextDialog):
    """Shows only the lines that contain the typed text."""

    def __init__(self, title: str, about: str, keys: Sequence[Action]) -> None:
        super().__init__("Help", "up, down scroll   esc close", search_hint="type to search")
        self._title, self._about, self._keys = title, about, keys

    def lines(self, width: int) -> list[Line]:
        wanted = self.query_one(Input).value.strip()
        return help_lines(self._title, self._about, self._keys, width, wanted)
