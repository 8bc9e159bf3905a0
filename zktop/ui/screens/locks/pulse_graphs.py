"""The pulse of the ensemble: the figures of the last minute as graphs, one below another."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.model.format import spoken
from zktop.ui.inks import Ink
from zktop.ui.past.pulse import PulseSecond
from zktop.ui.screens.common.graphs import HEAT, MIN_TOP, area
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.styled_text import Line, fitted, line, right_aligned

SHOWN_S: Final = 60
GRAPHS: Final = 5
LABEL_CELLS: Final = 11
VALUE_CELLS: Final = 8
HEADROOM: Final = 1.25
RATE_S: Final = 10  # a rate is the mean over these seconds


class PulseLine(NamedTuple):
    """One graph: its name, its values, and the newest value as text."""

    name: str
    values: Sequence[float | None]
    newest: str
    inks: tuple[Ink, ...]
    ink: Ink


def pulse_lines(
    seconds: Sequence[PulseSecond], width: int, height: int = 1, *, has_load: bool = True
) -> list[Line]:
    """Draw all graphs, each `height` lines high. A recording has no figures about zktop's load."""
    room = max(0, width - LABEL_CELLS - VALUE_CELLS - 3)
    lines: list[Line] = []
    for graph in _graphs(seconds, has_load=has_load):
        drawn = _graph(graph, room, height)
        for number, piece in enumerate(drawn, start=1):
            is_last = number == height  # the name and the value are on the base of the graph
            lines.append(
                (
                    *line(" "),
                    *fitted(line((graph.name if is_last else "", "dim")), LABEL_CELLS),
                    *line(" "),
                    *fitted(piece, room),
                    *right_aligned(
                        line((graph.newest if is_last else "", graph.ink)), VALUE_CELLS
                    ),
                )
            )
    return lines


def _graph(graph: PulseLine, room: int, height: int) -> list[Line]:
    top = max([MIN_TOP, *(value for value in graph.values if value is not None)])
    top *= 1 if height == 1 else HEADROOM  # a constant value does not touch the graph above
    spread = _stretched(graph.values, 2 * room)
    return area(spread, room, height=height, top=top, inks=graph.inks)


def _stretched(values: Sequence[float | None], number: int) -> list[float | None]:
    """Resample values to this number of equal steps. A step shows the maximum of its values."""
    steps: list[float | None] = []
    for at in range(number):
        first, end = at * len(values) // number, (at + 1) * len(values) // number
        known = [value for value in values[first : max(end, first + 1)] if value is not None]
        steps.append(max(known, default=None))
    return steps


def _graphs(seconds: Sequence[PulseSecond], *, has_load: bool) -> list[PulseLine]:
    last = seconds[-1]
    known = [second for second in seconds[-RATE_S:] if second.waiting is not None]
    rate = sum(second.acquired for second in known) / len(known) if known else None
    acquired = [second.acquired if second.waiting is not None else None for second in seconds]
    waiting, p99 = last.waiting, last.wait_p99_ms
    graphs = [
        PulseLine("acquired/s", acquired, _rate(rate), ("holds",), "holds"),
        PulseLine(
            "waiting", [second.waiting for second in seconds], _number(waiting), HEAT,
            "waits" if waiting else "dim",
        ),
        PulseLine(
            "wait p99", [second.wait_p99_ms for second in seconds],
            "-" if p99 is None else spoken(p99 / 1000), ("election",), "plain",
        ),
        PulseLine(
            "sessions", [second.sessions for second in seconds], _number(last.sessions),
            ("address",), "plain",
        ),
        PulseLine(
            "own load", [second.requests_per_s for second in seconds],
            "?" if last.requests_per_s is None else f"{last.requests_per_s:.0f} r/s",
            ("dim",), "dim",
        ),
    ]  # fmt: skip
    return graphs if has_load else graphs[:-1]


def _number(number: int | None) -> str:
    return "?" if number is None else with_spaces(number)


def _rate(rate: float | None) -> str:
    return "?" if rate is None else f"{rate:.1f}"
