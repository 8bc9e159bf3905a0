"""The help of a screen: a summary, then all keys, signs, colours and rules."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from textual.widgets import Input

from zktop.model.findings.catalogue import RULES
from zktop.ui.dialogs.base import TextDialog
from zktop.ui.inks import Ink
from zktop.ui.keys import KEYS, Action, Group, key_label
from zktop.ui.screens.common.example_row import example_row
from zktop.ui.screens.common.lock_status import legend
from zktop.ui.screens.page import Page
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, hanging_lines, line, text_of, wrapped

GROUPS: Final[dict[Group, str]] = {
    "move": "Navigation",
    "find": "Search",
    "look": "Display",
    "time": "Time",
    "keep": "Copy, export, record",
    "commands": "Your own commands",
    "contenders": "Demo clients",
    "zktop": "zktop",
}
_MARKS: Final = re.compile(r"`([^`]*)`|\\(.)|\*")  # Markdown: code, escapes, emphasis
RULE_IDS: Final = "Rules: their ids in JSON and for --fail-on, their names, what they mean"
NAMES: Final = "Action names, for ui.keys in the config"
KEY_WIDTH: Final = 16
SHORT_KEY_WIDTH: Final = 7
MAX_KEY_COLUMN_CELLS: Final = 36  # there are two columns of keys
MIN_TEXT_CELLS: Final = 40
RULE_WIDTH: Final = 3

INKS: Final[tuple[tuple[str, Ink, str], ...]] = (
    ("holds", "holds", "has the lock"),
    ("waits", "waits", "waits for the lock"),
    ("standby", "standby", "a candidate that is not the leader"),
    ("critical", "critical", "a proven problem"),
    ("warning", "warning", "a possible problem, or one that is about to happen"),
    ("info", "info", "worth knowing"),
    ("ok", "good", "no problem"),
    ("?", "unknown", "no data: not the same as ok"),
    ("demo", "ours", "a demo client, started by zktop"),
    ("PAUSED", "paused", "the display does not show the newest state"),
)
SIGNS: Final = (
    (">= 5s", "at least: it began before zktop started"),
    ("X: R: W:", "mode of the lock that follows: exclusive, read, write"),
    ("DEADLOCK?", "a question mark after a state: likely, not confirmed"),
    ("times", "in UTC; ages count from the creation of the znode"),
)


class HelpEntry(NamedTuple):
    """Lines that belong together, and the text that a search matches."""

    lines: Sequence[Line]
    words: str


def help_lines(page: Page, keys: Sequence[Action], width: int, wanted: str = "") -> list[Line]:
    """Return the lines of the help. A search text selects the entries with all its words."""
    words = wanted.casefold().split()
    paragraphs, lines = _paragraphs(page, keys, width), list[Line]()
    if not words:
        lines = _summary(page, keys, width)
        paragraphs = paragraphs[1:]  # the summary contains the first one
    for heading, section in [("About this screen", paragraphs), *_sections(keys, width)]:
        matching = [entry for entry in section if _matches(entry, words)]
        section_lines = [drawn for entry in matching for drawn in entry.lines]
        if section_lines:
            lines += [NOTHING] if lines else []
            lines += [line((heading, "title")), *section_lines]
    return lines or [line(("No match.", "dim"))]


def _matches(entry: HelpEntry, words: Sequence[str]) -> bool:
    text = entry.words.casefold()
    return all(word in text for word in words)


def _summary(page: Page, keys: Sequence[Action], width: int) -> list[Line]:
    """Return one screenful: what the screen shows, its most useful keys, an example row."""
    first = _paragraphs(page, keys, width)[:1]
    return [
        *(drawn for entry in first for drawn in entry.lines),
        NOTHING,
        *_useful_keys(page, keys, width),
        *([NOTHING, *example_row(page.HELP_ROW, width)] if page.HELP_ROW else []),
    ]


def _useful_keys(page: Page, keys: Sequence[Action], width: int) -> list[Line]:
    """Return the most useful keys of the screen, in two columns."""
    names = {key.id: key_label(key.names[0]) for key in keys if key.names}
    cells = min(MAX_KEY_COLUMN_CELLS, width // 2)
    pieces = [
        fitted(line(" ", *_padded(Run(names[action], "key"), SHORT_KEY_WIDTH), does), cells)
        for action, does in page.HELP_KEYS.items()
        if action in names
    ]
    half = -(-len(pieces) // 2)
    right_column: list[Line] = [*pieces[half:], NOTHING][:half]
    return [(*left, *right) for left, right in zip(pieces, right_column, strict=False)]


def _sections(keys: Sequence[Action], width: int) -> Iterator[tuple[str, Iterable[HelpEntry]]]:
    for group, heading in GROUPS.items():
        yield heading, [_key(key, width) for key in keys if key.group == group]
    yield "States of a lock", [_entry(line("  ", *example)) for example in legend()]
    yield "Colours", [_entry(_row(Run(word, ink), says)) for word, ink, says in INKS]
    yield "Signs", [_entry(_row(Run(sign, "strong"), says)) for sign, says in SIGNS]
    names = [(key.id, "  ".join(map(key_label, key.names))) for key in keys]
    yield NAMES, [_entry(_row(Run(name, "strong"), says)) for name, says in names]
    yield RULE_IDS, [_rule(rule.id, rule.name, rule.means, width) for rule in RULES]


def _paragraphs(page: Page, keys: Sequence[Action], width: int) -> list[HelpEntry]:
    """Wrap each paragraph about the screen, with the user's own keys filled in."""
    replaced = _replaced_keys(keys)

    def plain(mark: re.Match[str]) -> str:
        code = mark[1] or ""
        return replaced.get(code, code) + (mark[2] or "")

    about = (page.HELP or "").strip()
    texts = [_MARKS.sub(plain, text) for text in re.split(r"\n\s*\n", about)]
    return [HelpEntry(wrapped(text, width, indent=" "), text) for text in texts if text]


def _replaced_keys(keys: Sequence[Action]) -> dict[str, str]:
    """Map each letter that the user has replaced to the first new key of its action.

    Other characters are left alone: in texts, `?` and `-` may be signs instead of keys.
    """
    current = {key.id: key.names for key in keys if key.names}
    return {
        name: key_label(current[key.id][0])
        for key in KEYS
        for name in key.names
        if name.isalpha() and key.id in current and name not in current[key.id]
    }


def _key(key: Action, width: int) -> HelpEntry:
    names = "  ".join(map(key_label, key.names))
    says = f"{key.help} (writes to ZooKeeper)" if key.writes else key.help
    head = _row(Run(names, "key"), "")
    words = f"{names} {key.short} {key.id.replace('_', ' ')} {says}"
    return HelpEntry(hanging_lines(head, says, max(KEY_WIDTH + MIN_TEXT_CELLS // 2, width)), words)


def _rule(rule: str, name: str, means: str, width: int) -> HelpEntry:
    head = line("  ", *_padded(Run(rule, "strong"), RULE_WIDTH))
    lines = hanging_lines(head, f"{name}: {means}", max(MIN_TEXT_CELLS, width))
    return HelpEntry(lines, f"{rule} {name} {name.replace('-', ' ')} {means}")


def _entry(drawn: Line) -> HelpEntry:
    return HelpEntry([drawn], text_of(drawn))


def _row(first: Run, says: str) -> Line:
    return line("  ", *_padded(first, KEY_WIDTH), says)


def _padded(first: Run, cells: int) -> Line:
    return line(first, " " * max(1, cells + 1 - len(first.text)))


class HelpDialog(TextDialog):
    """Shows the help of a page, or only the entries that contain the typed words."""

    def __init__(self, page: Page, keys: Sequence[Action]) -> None:
        title = f"Help: {page.entry.title}"
        super().__init__(title, "up, down scroll   esc close", search_hint="type to search")
        self._page, self._keys = page, keys

    def lines(self, width: int) -> list[Line]:
        wanted = self.query_one(Input).value
        return help_lines(self._page, self._keys, width, wanted)
