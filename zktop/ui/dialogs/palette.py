"""The palette: screens, locks, sessions, clusters, themes and actions by name, in groups.

Names are searched for plain text: fuzzy matching would stall the screen with 10,000 locks. A kind
before the name limits the search to that kind: `lock stock`, `cluster prod`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from zktop.ui.dialogs.base import Box, Dialog, text_field
from zktop.ui.dialogs.palette_items import PaletteGroup, PaletteItem, SessionNames, groups_of
from zktop.ui.shell import Shell
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, line, width_of
from zktop.ui.textual_fixes.work_in_steps import call_in_steps, is_done_after_step
from zktop.ui.widgets.text_view import TextList

MAX_IN_GROUP: Final = 20
NAME_SHARE: Final = 0.6  # the description gets the rest of the line
KIND_SYNONYMS: Final = {"ctx": "cluster", "context": "cluster"}  # words of kubectl and k9s


class PaletteSection(NamedTuple):
    """The listed items of one group, the best first."""

    title: str
    items: Sequence[PaletteItem]
    note: str = ""


class PaletteDialog(Dialog[PaletteItem]):
    """Returns the item that the user chose."""

    DEFAULT_CSS = """
    PaletteDialog { align: center top; }
    PaletteDialog Box { margin-top: 2; height: 80%; }
    PaletteDialog Horizontal { height: 1; }
    PaletteDialog Label { width: 2; color: $accent; text-style: bold; }
    PaletteDialog Input { width: 1fr; }
    PaletteDialog TextList { height: 1fr; background: $surface; border-top: solid $line; }
    """
    moves_in = "#found"

    def __init__(self, app: Shell) -> None:
        super().__init__()
        names = SessionNames(app.view_state.report)
        self._groups = groups_of(app, names.known)
        self._recent_names = app.visit.recent
        self._recent: Sequence[PaletteItem] = ()
        self._reading = names.read()
        self._is_reading = not is_done_after_step(self._reading)
        self._find_recent()

    def compose(self) -> ComposeResult:
        with Box("Find", "up, down choose   enter go   esc close"):
            with Horizontal():
                yield Label(":")
                yield text_field(hint="any word, or: lock NAME, session NAME, cluster NAME, q")
            yield TextList(id="found")

    def on_mount(self) -> None:
        if self._is_reading:
            call_in_steps(self, self._reading, then=self._read)

    def _read(self) -> None:
        """List the sessions as well, once their names are known."""
        self._is_reading = False
        self._find_recent()
        self._show()

    def _find_recent(self) -> None:
        named = (item_named(name, self._groups) for name in self._recent_names)
        self._recent = [item for item in named if item is not None]

    def on_input_changed(self) -> None:
        """Search, and select the best result."""
        results = self.query_one(TextList)
        results.target, results.cursor = None, 0
        self._show()

    def on_resize(self, _event: events.Resize) -> None:
        self._show()  # also for the first time

    def action_accept(self) -> None:
        item = self.query_one(TextList).target
        if isinstance(item, PaletteItem):
            self.dismiss(item)

    @property
    def _text(self) -> str:
        return self.query_one(Input).value.strip()

    def _show(self) -> None:
        results = self.query_one(TextList)
        text, width = self.query_one(Input).value, results.room.width
        if self._text:
            sections = search(self._groups, self._recent, text)
        else:
            sections = [*overview(self._groups, self._recent)]
        if self._text and self._is_reading:
            sections.append(PaletteSection("", (), "reading the names of all sessions ..."))
        rows = [row for section in sections for row in section_lines(section, width)]
        lines = [drawing for drawing, _ in rows] or [line(("No match.", "dim"))]
        items, old = [item for _, item in rows], results.target
        if isinstance(old, PaletteItem):  # each search creates new items
            same = (item for item in items if item and item[:2] == old[:2])
            results.target = next(same, None)
        results.show(lines, items)


def item_named(name: str, groups: Sequence[PaletteGroup]) -> PaletteItem | None:
    """Return the item with this name; None if it is gone, or not allowed."""
    named = (group.item(name) for group in groups)
    return next((item for item in named if item is not None), None)


def overview(
    groups: Sequence[PaletteGroup], recent: Sequence[PaletteItem]
) -> Iterator[PaletteSection]:
    """List the recent items, then all groups. A group with a note shows only the note."""
    recent_names = {item.name for item in recent}
    yield PaletteSection("Recent", recent)
    for group in groups:
        items = () if group.note else group.find(())
        others = [item for item in items if item.name not in recent_names]
        yield PaletteSection(group.title, others, group.note)


def search(
    groups: Sequence[PaletteGroup], recent: Sequence[PaletteItem], text: str
) -> list[PaletteSection]:
    """Return a few items of each group, or of the only kind that the text begins with."""
    first, *rest = text.casefold().split()
    kind = KIND_SYNONYMS.get(first, first)
    searched, words = groups, (first, *rest)
    if " " in text.lstrip() and kind in [group.kind for group in groups]:
        searched, words = [group for group in groups if group.kind == kind], tuple(rest)
    recent_names = {item.name for item in recent}
    sections = []
    for group in searched:
        items = [*islice(group.find(words), MAX_IN_GROUP + 1)]
        note = "type more letters to see the others" if items[MAX_IN_GROUP:] else ""
        items.sort(key=lambda item: (-score(item, words), item.name not in recent_names))
        sections.append(PaletteSection(group.title, items[:MAX_IN_GROUP], note))
    sections.sort(key=lambda section: -score(section.items[0], words) if section.items else 0)
    return sections


def score(item: PaletteItem, words: Sequence[str]) -> float:
    """Rank an item: an exact match, its beginning, the beginning of a word, or any part of it.

    A match in the middle of a sentence counts less than a match in a name.

    >>> names = ("or", "orders", "/locks/orders", "worker", "Reads or writes", "More", "stock")
    >>> [score(PaletteItem(name, "", print), ["or"]) for name in names]
    [2.0, 1.0, 0.9, 0.6, 0.5, 0.6, 0.0]
    """
    text = item.name.casefold()
    if " ".join(words) in (text, *item.aliases):
        return 2.0
    if text.startswith(tuple(words[:1])):
        return 1.0
    is_sentence = " " in text
    if any(re.search(rf"\b{re.escape(word)}", text) for word in words):
        return 0.5 if is_sentence else 0.9
    return 0.6 if not is_sentence and any(word in text for word in words) else 0.0


def section_lines(
    section: PaletteSection, width: int
) -> Iterator[tuple[Line, PaletteItem | None]]:
    """Draw a section: its title with the note, then its items. An empty section has no lines."""
    if not (section.items or section.note):
        return
    yield line((section.title, "title"), (f"  {section.note}", "dim")), None
    described = [width_of(line(item.name)) for item in section.items if item.about]
    name_cells = min(max(described, default=0), round(NAME_SHARE * width))
    for item in section.items:
        name = fitted(line((item.name, "strong")), name_cells) if item.about else line(item.name)
        text = (Run("  "), *name, Run(f"  {item.about}", "dim"))
        keys = line((item.keys, "key"))
        yield (*fitted(text, max(0, width - width_of(keys) - 1)), Run(" "), *keys), item
    yield NOTHING, None
