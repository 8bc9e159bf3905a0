"""Lines of text with inks, before a theme turns the inks into colours.

Drawings are pure functions from the model to lines, so they are tested without a terminal.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from zktop.model.format import middle
from zktop.ui.inks import Ink


class Run(NamedTuple):
    """A piece of text in one ink; `link` is the action of a click on it."""

    text: str
    ink: Ink = "plain"
    link: str | None = None


Line = tuple[Run, ...]
NOTHING: Line = ()
DASH: Line = (Run("-", "dim"),)
UNKNOWN: Line = (Run("?", "unknown"),)
COLUMN_GAP_CELLS: Final = 3


def line(*pieces: str | Run | tuple[str, Ink]) -> Line:
    """Return a line made of texts and runs.

    >>> line("a", ("b", "strong"))
    (Run(text='a', ink='plain', link=None), Run(text='b', ink='strong', link=None))
    """
    return tuple([Run(piece) if isinstance(piece, str) else Run(*piece) for piece in pieces])


def text_of(drawn: Line) -> str:
    return "".join(run.text for run in drawn)


def width_of(drawn: Line) -> int:
    # Fast path: in ASCII text, each character takes one cell.
    if len(drawn) == 1:
        text = drawn[0].text
        return len(text) if text.isascii() else cell_len(text)
    return sum([len(text) if text.isascii() else cell_len(text) for text, _, _ in drawn])


def fitted(drawn: Line, width: int) -> Line:
    """Cut or pad a line to exactly this many cells.

    >>> text_of(fitted(line("holder"), 8)), text_of(fitted(line("hold", "er"), 5))
    ('holder  ', 'hold…')
    """
    total = width_of(drawn)
    if total == width:
        return drawn
    if total < width:
        return (*drawn, Run(" " * (width - total)))
    room, cut_runs = width - 1, []
    for run in drawn:
        if room <= 0:
            break
        cells = cell_len(run.text)
        if cells <= room:
            cut_runs.append(run)
        else:
            cut_runs.append(run._replace(text=set_cell_size(run.text, room)))
        room -= min(cells, room)
    if width > 0:
        cut_runs.append(Run("…", cut_runs[-1].ink if cut_runs else "plain"))
    return tuple(cut_runs)


def cut_middle(name: str, width: int) -> str:
    """Cut the middle of a name that takes more cells than this, as `middle` does.

    >>> cut_middle("short", 5), cut_middle("a-very-long-name", 9), cut_middle("漢字漢字漢字", 7)
    ('short', 'a-ver…ame', '漢字…字')
    """
    room = min(len(name), width)
    while cell_len(cut := middle(name, room)) > width and room > 1:
        room -= 1
    return cut


def end_of(text: str, cells: int) -> str:
    """Return the end of a text that fits into these cells.

    >>> end_of("/locks/orders", 7), end_of("/漢字/漢字", 5)
    ('/orders', '/漢字')
    """
    start = len(text)
    room = cells
    while start and (room := room - cell_len(text[start - 1])) >= 0:
        start -= 1
    return text[start:]


def merged(drawn: Line) -> Line:
    """Join neighbours that look the same, which saves bytes for the terminal.

    >>> merged(line("a", "b", ("c", "dim")))
    (Run(text='ab', ink='plain', link=None), Run(text='c', ink='dim', link=None))
    """
    runs: list[Run] = []
    texts: list[str] = []
    style: tuple[Ink, str | None] | None = None
    for text, ink, link in drawn:
        if (ink, link) == style:
            texts.append(text)
            continue
        if style is not None:
            runs.append(Run("".join(texts), *style))
        texts, style = [text], (ink, link)
    if style is not None:
        runs.append(Run("".join(texts), *style))
    return tuple(runs)


def right_aligned(drawn: Line, width: int) -> Line:
    """Align a line to the right in this many cells.

    >>> text_of(right_aligned(line("12"), 4))
    '  12'
    """
    room = width - width_of(drawn)
    return (Run(" " * room), *drawn) if room > 0 else fitted(drawn, width)


def joined(lines: Iterable[Line], between: str = "  ") -> Line:
    """Join pieces of a line. Empty pieces leave no gap."""
    runs: list[Run] = []
    for piece in lines:
        if piece and runs:
            runs.append(Run(between))
        runs.extend(piece)
    return tuple(runs)


def wrapped(text: str, width: int, ink: Ink = "plain", indent: str = "") -> list[Line]:
    """Wrap a sentence between words. Break words that are longer than a line.

    >>> [text_of(drawn) for drawn in wrapped("a sentence of words", 11, indent="  ")]
    ['  a', '  sentence', '  of words']
    """
    lines: list[Line] = []
    row = ""
    for word in text.split():
        while cell_len(word) > max(1, width - len(indent)):
            head = set_cell_size(word, max(1, width - len(indent))).rstrip() or word[0]
            lines += [(Run(indent + row, ink),)] if row else []
            lines.append((Run(indent + head, ink),))
            row, word = "", word[len(head) :]  # noqa: PLW2901  the rest of it is the next word
        if row and cell_len(row) + 1 + cell_len(word) > width - len(indent):
            lines.append((Run(indent + row, ink),))
            row = word
        else:
            row = f"{row} {word}" if row else word
    if row:
        lines.append((Run(indent + row, ink),))
    return lines


def hanging_lines(mark: Line, text: str, width: int, ink: Ink = "plain") -> list[Line]:
    """Put a mark before a sentence and wrap it. Further lines are indented by the mark's width.

    >>> [text_of(drawn) for drawn in hanging_lines(line("1. "), "a sentence of words", 13)]
    ['1. a sentence', '   of words']
    """
    indent = width_of(mark)
    first, *rest = wrapped(text, width - indent, ink) or [NOTHING]
    return [(*mark, *first), *((Run(" " * indent), *more) for more in rest)]


def side_by_side(left: Sequence[Line], right: Sequence[Line], left_width: int) -> list[Line]:
    """Put two drawings side by side. The left one is `left_width` cells wide.

    >>> [text_of(drawn) for drawn in side_by_side([line("ab")], [line("c"), line("d")], 4)]
    ['ab     c', '       d']
    """
    return [
        (*fitted(left_line, left_width), Run(" " * COLUMN_GAP_CELLS), *right_line)
        for left_line, right_line in zip_longest(left, right, fillvalue=())
    ]


def stacked_lines(parts: Iterable[Sequence[Line]]) -> list[Line]:
    """Stack drawings with an empty line between them. Skip empty drawings."""
    lines: list[Line] = []
    for part in parts:
        if part and lines:
            lines.append(())
        lines += part
    return lines
