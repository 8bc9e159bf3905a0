"""Lines with links: some of them lead to another page when they are opened."""

from collections.abc import Iterable
from typing import NamedTuple

from zktop.ui.state import Selection
from zktop.ui.styled_text import Ink, Line, line, wrapped


class LineLink(NamedTuple):
    """Where a line leads; `name` tells two lines apart that lead to the same place."""

    name: str
    page: str
    subject: Selection


class LineWriter:
    """Writes lines one below the other in so many cells."""

    def __init__(self, width: int) -> None:
        """Begin with an empty sheet."""
        self.width = width
        self.lines: list[Line] = []
        self.links: list[LineLink | None] = []

    def write(self, drawn: Line = (), link: LineLink | None = None) -> None:
        """Write one line."""
        self.lines.append(drawn)
        self.links.append(link)

    def all(self, drawn: Iterable[Line]) -> None:
        """Write several lines."""
        for one in drawn:
            self.write(one)

    def title(self, text: str, note: str = "") -> None:
        """Begin a section."""
        if self.lines and self.lines[-1]:
            self.write()
        self.write(line((f" {text}", "title"), (f"  {note}" if note else "", "dim")))

    def say(self, text: str, ink: Ink = "plain", indent: str = "  ") -> None:
        """Write a sentence, folded between words."""
        self.all(wrapped(text, max(20, self.width - 1), ink, indent))

    def item(
        self, mark: tuple[str, Ink], text: str, ink: Ink = "plain", link: LineLink | None = None
    ) -> None:
        """Write a sentence behind a mark; only its first line is a link."""
        room = len(mark[0])
        first, *rest = wrapped(text, max(20, self.width - room - 1), ink) or [()]
        self.write((*line(mark), *first), link)
        self.all((*line(" " * room), *more) for more in rest)
