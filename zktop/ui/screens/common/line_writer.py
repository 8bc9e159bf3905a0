"""Writes lines of text. Some lines open another screen, or fold the lines below them."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, hanging_lines, line, wrapped
from zktop.ui.view_state import Selection


class LineLink(NamedTuple):
    """The screen that a line opens. `name` distinguishes lines that open the same place."""

    page: str
    subject: Selection
    name: str = ""


class FoldLink(NamedTuple):
    """The heading of a foldable section."""

    section: str


class LineWriter:
    """Collects lines that are `width` cells wide, and their links.

    Sections are folded unless they are in `open_sections`. With None, they cannot fold.
    """

    def __init__(self, width: int, open_sections: Collection[str] | None = None) -> None:
        self.width, self.open_sections = width, open_sections
        self.lines: list[Line] = []
        self.links: list[LineLink | FoldLink | None] = []

    def write(self, drawn: Line = (), link: LineLink | FoldLink | None = None) -> None:
        self.lines.append(drawn)
        self.links.append(link)

    def write_all(self, lines: Iterable[Line]) -> None:
        for drawn in lines:
            self.write(drawn)

    def title(self, text: str, note: str = "") -> None:
        """Write the title of a section, after an empty line or directly below a fold."""
        if self.lines and self.lines[-1] and not isinstance(self.links[-1], FoldLink):
            self.write()
        self.write(line((f" {text}", "title"), (f"  {note}" if note else "", "dim")))

    def fold(self, section: str, text: str, note: str = "") -> bool:
        """Write the heading of a foldable section. Return whether the section is open."""
        if self.open_sections is None:
            self.title(text, note)
            return True
        is_open = section in self.open_sections
        mark = "▾" if is_open else "▸"
        drawn = line((f" {mark} ", "key"), (text, "title"), (f"  {note}" if note else "", "dim"))
        self.write(drawn, FoldLink(section))
        return is_open

    def say(self, text: str, ink: Ink = "plain", indent: str = "  ") -> None:
        """Write text, wrapped between words."""
        self.write_all(wrapped(text, max(20, self.width - 1), ink, indent))

    def item(
        self, mark: tuple[str, Ink], text: str, ink: Ink = "plain", link: LineLink | None = None
    ) -> None:
        """Write text after a mark. Only the first line has the link."""
        first, *rest = hanging_lines(line(mark), text, max(20 + len(mark[0]), self.width - 1), ink)
        self.write(first, link)
        self.write_all(rest)
