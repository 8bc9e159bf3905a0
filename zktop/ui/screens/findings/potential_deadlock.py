"""A potential deadlock: the order in which each client takes its locks, a column per client."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import clock, count
from zktop.model.waits.lock_order_story import Inversion, StoryLine
from zktop.ui.inks import Ink
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.numbers_and_times import MODE_WORDS, elapsed
from zktop.ui.screens.findings.deadlock_steps import brief_paths
from zktop.ui.styled_text import Line, Run, cut_middle, fitted, line
from zktop.ui.view_state import Selection

MIN_COLUMN_CELLS: Final = 22  # narrower columns are merged into one list
MAX_COLUMNS: Final = 4
GAP_CELLS: Final = 2
SAYS: Final[dict[str, tuple[str, Ink]]] = {"got": ("got ", "holds"), "asks": ("asks", "waits")}


def letter(at: int) -> str:
    """Return the letter of the client in a column.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    rounds, index = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[index] + (str(rounds + 1) if rounds else "")


def write_lock_order(writer: LineWriter, inversion: Inversion) -> None:
    """Write what would happen if these clients ran at the same time."""
    writer.title("IF THEY RUN AT THE SAME TIME", _how_close(inversion))
    names = brief_paths(list(dict.fromkeys(turn.lock for turn in inversion.turns)))
    columns = len(inversion.actors)
    width = (writer.width - 3) // max(1, columns)
    if columns <= MAX_COLUMNS and width >= MIN_COLUMN_CELLS:
        _write_columns(writer, inversion, names, width)
    else:
        _write_list(writer, inversion, names)
    end = "Then each of them waits for the next one forever."
    writer.say(end, "warning")


def _how_close(inversion: Inversion) -> str:
    if inversion.deadlocked_at is not None:
        return f"it happened at {clock(inversion.deadlocked_at)}"
    if inversion.missed_by_ms is None:
        return "not so far"
    if not inversion.missed_by_ms:
        return "it happened already, without a deadlock"
    return f"they have missed each other by {elapsed(inversion.missed_by_ms)} so far"


def _write_columns(
    writer: LineWriter, inversion: Inversion, names: dict[str, str], width: int
) -> None:
    writer.write(
        _row([_actor(inversion, column) for column in range(len(inversion.actors))], width)
    )
    writer.write(
        _row([_habit(inversion, column) for column in range(len(inversion.actors))], width)
    )
    for turn in inversion.turns:
        cells: list[Line] = [() for _ in inversion.actors]
        cells[turn.column] = _step(turn, names, width - GAP_CELLS)
        writer.write(_row(cells, width), _link(turn))


def _write_list(writer: LineWriter, inversion: Inversion, names: dict[str, str]) -> None:
    for column in range(len(inversion.actors)):
        writer.write(
            (Run("  "), *_actor(inversion, column), Run("  "), *_habit(inversion, column))
        )
    for turn in inversion.turns:
        writer.write((*line(("  ", "dim"), (f"{letter(turn.column)} ", "strong")),
                   *_step(turn, names, writer.width - 4)), _link(turn))  # fmt: skip


def _row(cells: Sequence[Line], width: int) -> Line:
    drawn: list[Run] = [Run("  ")]
    for cell in cells:
        drawn += [*fitted(cell, width - GAP_CELLS), Run(" " * GAP_CELLS)]
    return tuple(drawn)


def _actor(inversion: Inversion, column: int) -> Line:
    return line((f"{letter(column)}  ", "strong"), (inversion.actors[column], "strong"))


def _habit(inversion: Inversion, column: int) -> Line:
    """Return how often a client took the locks in this order, and when it last did."""
    times = count(inversion.seen[column], "time") if column < len(inversion.seen) else ""
    last: Millis | None = inversion.last_ms[column] if column < len(inversion.last_ms) else None
    when = f", last {clock(last)}" if last is not None else ""
    return line((f"{times}{when}" if times else "", "dim"))


def _step(turn: StoryLine, names: dict[str, str], cells: int) -> Line:
    """Return what a client does. A name that is too long is cut, not the mode."""
    says, ink = SAYS[turn.verb]
    mode = MODE_WORDS[turn.mode]
    name = cut_middle(names[turn.lock], max(1, cells - len(f"{says} {mode}")))
    return line((f"{says} ", "dim"), (f"{name}{mode}", ink))


def _link(turn: StoryLine) -> LineLink:
    subject = Selection(path=turn.lock, node=turn.node)
    return LineLink("lock", subject, f"{turn.verb} {turn.column} {turn.lock}")
