"""An example row with a label below each of its columns, for the help of a screen."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, Run, fitted, hanging_lines, line, width_of

GAP_CELLS: Final = 2  # between two columns
MARGIN: Final = 1
NAME_CELLS: Final = 12  # for the name of a column in the narrow form


class ExampleCell(NamedTuple):
    """One column of the row: its name (or none), an example, and its meaning."""

    name: str
    text: str
    says: str
    ink: Ink = "plain"


def example_row(cells: Sequence[ExampleCell], width: int) -> list[Line]:
    """Draw the row with its labels. If it is too wide, list the columns instead.

    >>> from zktop.ui.styled_text import text_of
    >>> row = [ExampleCell("LOCK", "/a", "its path"), ExampleCell("HELD", "17s", "for how long")]
    >>> for drawn in example_row(row, 40): print(text_of(drawn).rstrip())
     LOCK  HELD
     /a    17s
     │     └ for how long
     └ its path
    """
    widths = [max(len(cell.name), len(cell.text)) for cell in cells]
    starts = [MARGIN + sum(widths[:at]) + GAP_CELLS * at for at in range(len(cells))]
    heads = [_placed([(cell.name, "title") for cell in cells], starts)]
    lines = heads if any(cell.name for cell in cells) else []
    lines.append(_placed([(cell.text, cell.ink) for cell in cells], starts))
    for last in reversed(range(len(cells))):
        strokes: list[tuple[str, Ink]] = [("│", "dim")] * last
        label = Run(cells[last].says)
        lines.append((*_placed([*strokes, ("└ ", "dim")], starts), label))
    return lines if max(map(width_of, lines)) <= width else listed(cells, width)


def listed(cells: Sequence[ExampleCell], width: int) -> list[Line]:
    """List the columns, each with its meaning."""
    return [
        text
        for cell in cells
        for text in hanging_lines(
            fitted(line(" ", (cell.name or cell.text, "title")), NAME_CELLS),
            cell.says,
            max(width, 2 * NAME_CELLS),
        )
    ]


def _placed(pieces: Sequence[tuple[str, Ink]], starts: Sequence[int]) -> Line:
    """Return a line with each piece at its start cell."""
    drawn: list[Run] = []
    for (text, ink), start in zip(pieces, starts, strict=False):
        drawn += [Run(" " * (start - width_of(tuple(drawn)))), Run(text, ink)]
    return tuple(drawn)
