"""A grid of cells on which boxes, arrows and text are drawn."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, Run, merged

HARD: Final = "─│"  # the strokes of a horizontal and a vertical line
SOFT: Final = "┄┊"


class Point(NamedTuple):
    """A cell of the grid."""

    x: int
    y: int


CORNERS: Final[dict[tuple[Point, Point], str]] = {  # keys: the directions before and after it
    (Point(1, 0), Point(0, 1)): "╮", (Point(0, -1), Point(-1, 0)): "╮",
    (Point(1, 0), Point(0, -1)): "╯", (Point(0, 1), Point(-1, 0)): "╯",
    (Point(-1, 0), Point(0, 1)): "╭", (Point(0, -1), Point(1, 0)): "╭",
    (Point(-1, 0), Point(0, -1)): "╰", (Point(0, 1), Point(1, 0)): "╰",
}  # fmt: skip
HEADS: Final = {Point(1, 0): "▶", Point(-1, 0): "◀", Point(0, 1): "▼", Point(0, -1): "▲"}


class CellGrid:
    """A grid on which later drawings cover earlier ones. All are clipped at its edges."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows: list[list[Run]] = [[Run(" ")] * width for _ in range(height)]

    def write(self, x: int, y: int, text: str, ink: Ink = "plain") -> None:
        """Write a text that begins in this cell. Wide characters take two cells."""
        at = x
        for character in text:
            cells = cell_len(character)
            if not cells:  # it combines with the previous character
                self._append(Point(at - 1, y), character)
                continue
            self._put(Point(at, y), character, ink)
            for more in range(1, cells):
                self._put(Point(at + more, y), "", ink)
            at += cells

    def box(self, x: int, y: int, width: int, height: int) -> None:
        self.write(x, y, f"╭{'─' * (width - 2)}╮", "dim")
        for row in range(y + 1, y + height - 1):
            self.write(x, row, "│", "dim")
            self.write(x + width - 1, row, "│", "dim")
        self.write(x, y + height - 1, f"╰{'─' * (width - 2)}╯", "dim")

    def arrow(self, points: list[Point], ink: Ink, strokes: str = HARD) -> None:
        """Draw straight lines from point to point, with an arrowhead at the end.

        >>> grid = CellGrid(5, 3)
        >>> grid.arrow([Point(0, 0), Point(4, 0), Point(4, 2)], "plain")
        >>> ["".join(run.text for run in row) for row in grid.lines()]
        ['────╮', '    │', '    ▼']
        """
        before: Point | None = None
        for begin, end in pairwise(points):
            step = Point(_sign(end.x - begin.x), _sign(end.y - begin.y))
            stroke = strokes[0] if step.x else strokes[1]
            at = begin
            while at != end:
                is_corner = at == begin
                self._put(at, CORNERS[before, step] if before and is_corner else stroke, ink)
                at = Point(at.x + step.x, at.y + step.y)
            before = step
        if before is not None:
            self._put(points[-1], HEADS[before], ink)

    def lines(self) -> Iterator[Line]:
        return (merged(tuple(row)) for row in self._rows)

    def _put(self, at: Point, text: str, ink: Ink) -> None:
        if self._has(at):
            self._rows[at.y][at.x] = Run(text, ink)

    def _append(self, at: Point, text: str) -> None:
        if self._has(at):
            before = self._rows[at.y][at.x]
            self._rows[at.y][at.x] = before._replace(text=before.text + text)

    def _has(self, at: Point) -> bool:
        return 0 <= at.x < self.width and 0 <= at.y < self.height


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
