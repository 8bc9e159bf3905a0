"""A potential deadlock: the locks that each client takes, in turns, a column per client."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import clock, count
from zktop.model.waits.lock_order_story import Inversion, StoryLine
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.writer import LineLink, LineWriter
from zktop.ui.screens.findings.ring import letter
from zktop.ui.screens.findings.steps import brief_paths
from zktop.ui.state import Selection
from zktop.ui.styled_text import Ink, Line, Run, fitted, line

LEAST: Final = 22  # cells of a column; narrower columns are written below each other
COLUMNS: Final = 4
GAP: Final = 2
SAYS: Final[dict[str, tuple[str, Ink]]] = {"got": ("got ", "holds"), "asks": ("asks", "waits")}


def write_lock_order(writer: LineWriter, told: Inversion) -> None:
    """Write what would happen if all of them ran at the same time."""
    writer.title("IF THEY RUN AT THE SAME TIME", _missed(told))
    names = brief_paths(list(dict.fromkeys(turn.lock for turn in told.turns)))
    columns = len(told.actors)
    width = (writer.width - 3) // max(1, columns)
    if columns <= COLUMNS and width >= LEAST:
        _beside(writer, told, names, width)
    else:
        _below(writer, told, names)
    end = "Then each of them waits for the next one forever."
    writer.say(end, "warning")


def _missed(told: Inversion) -> str:
    if told.missed_by_ms is None:
        return "not so far"
    if not told.missed_by_ms:
        return "it happened already, without a deadlock"
    return f"they have missed each other by {elapsed(told.missed_by_ms)} so far"


def _beside(writer: LineWriter, told: Inversion, names: dict[str, str], width: int) -> None:
    writer.write(_row([_who(told, column) for column in range(len(told.actors))], width))
    writer.write(_row([_habit(told, column) for column in range(len(told.actors))], width))
    for _, turns in groupby(told.turns, key=lambda turn: turn.verb):
        for turn in turns:
            cells: list[Line] = [() for _ in told.actors]
            cells[turn.column] = _said(turn, names)
            writer.write(_row(cells, width), _door(turn))


def _below(writer: LineWriter, told: Inversion, names: dict[str, str]) -> None:
    for column in range(len(told.actors)):
        writer.write((Run("  "), *_who(told, column), Run("  "), *_habit(told, column)))
    for turn in told.turns:
        writer.write((*line(("  ", "dim"), (f"{letter(turn.column)} ", "strong")),
                   *_said(turn, names)), _door(turn))  # fmt: skip


def _row(cells: Sequence[Line], width: int) -> Line:
    drawn: list[Run] = [Run("  ")]
    for cell in cells:
        drawn += [*fitted(cell, width - GAP), Run(" " * GAP)]
    return tuple(drawn)


def _who(told: Inversion, column: int) -> Line:
    return line((f"{letter(column)}  ", "strong"), (told.actors[column], "strong"))


def _habit(told: Inversion, column: int) -> Line:
    """How often it took the locks in this order, and when last."""
    seen = count(told.seen[column], "time") if column < len(told.seen) else ""
    last: Millis | None = told.last_ms[column] if column < len(told.last_ms) else None
    when = f", last {clock(last)}" if last is not None else ""
    return line((f"{seen}{when}" if seen else "", "dim"))


def _said(turn: StoryLine, names: dict[str, str]) -> Line:
    says, ink = SAYS[turn.verb]
    return line((f"{says} ", "dim"), (f"{turn.mode}:{names[turn.lock]}", ink))


def _door(turn: StoryLine) -> LineLink:
    subject = Selection(path=turn.lock, node=turn.node)
    return LineLink(f"{turn.verb} {turn.column} {turn.lock}", "lock", subject)
