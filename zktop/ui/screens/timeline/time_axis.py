"""The time span in view on the timeline: its columns, its zoom, and its axis.

The span stays in place while the cursor moves inside it, so that strips never move during a click
or a drag. When live, the newest moment is at the right edge.
"""

from typing import Final, NamedTuple

from zktop.model.facts import SECOND_MS, Millis
from zktop.model.format import spoken
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import time_ms, time_s
from zktop.ui.styled_text import Line, Run, line, merged

ZOOMS_MS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
TICKS_MS: Final = (  # the possible times between two labels
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
)  # fmt: skip
TENTHS_CELLS: Final = 10  # width of a time with tenths of a second
LABEL_GAP_CELLS: Final = 2


class TimeWindow(NamedTuple):
    """The span of time in view."""

    begin: Millis
    column_ms: int
    columns: int
    newest: Millis  # the last known moment

    @property
    def end(self) -> Millis:
        return self.begin + self.columns * self.column_ms

    def column(self, at: Millis) -> int:
        return (at - self.begin) // self.column_ms

    def time(self, column: int) -> Millis:
        """The last moment of a column, but not after the newest moment."""
        return min(self.begin + (column + 1) * self.column_ms - 1, self.newest)

    def shows(self, at: Millis) -> bool:
        return 0 <= self.column(at) < self.columns

    @property
    def known_end(self) -> Millis:
        """The end of the part of the window that is known."""
        return min(self.end, self.newest + 1)

    @property
    def known(self) -> range:
        """The columns up to the newest moment."""
        return range(max(0, min(self.columns, self.column(self.newest) + 1)))


def window_around(
    at: Millis, begin: Millis, newest: Millis, column_ms: int, columns: int
) -> TimeWindow:
    """Return the span around a moment, within the tape.

    It ends after the newest moment only if the tape is shorter than the span.
    """
    start = min(
        _last_start(newest, column_ms, columns), at - at % column_ms - column_ms * columns // 2
    )
    start = max(start, begin - begin % column_ms)
    return TimeWindow(start, column_ms, columns, newest)


def latest(newest: Millis, column_ms: int, columns: int) -> TimeWindow:
    """Return the span whose last column contains the newest moment."""
    return TimeWindow(_last_start(newest, column_ms, columns), column_ms, columns, newest)


def _last_start(newest: Millis, column_ms: int, columns: int) -> Millis:
    return newest - newest % column_ms - (columns - 1) * column_ms


def zoomed(window: TimeWindow, column_ms: int, column: int, at: Millis) -> TimeWindow:
    """Change the length of the columns. `column` stays in place, and `at` in view.

    >>> window = TimeWindow(0, 1_000, 60, 90_000)
    >>> near = zoomed(window, 500, window.column(40_000), 40_000)
    >>> near.begin, near.column(40_000)
    (20000, 40)
    """
    fixed = window.begin + column * window.column_ms
    start = fixed - fixed % column_ms - column * column_ms
    first = at - at % column_ms - (window.columns - 1) * column_ms
    start = min(max(start, first), at - at % column_ms)
    return TimeWindow(start, column_ms, window.columns, window.newest)


def labels(window: TimeWindow, at: Millis, *, is_newest: bool = False) -> Line:
    """Draw the labels of the axis. The cursor's time replaces labels that it would touch."""
    named = f" {time_ms(at)} "
    middle = window.column(at) - len(named) // 2
    first = min(max(0, middle), max(0, window.columns - len(named)))
    taken = range(first, first + len(named)) if window.shows(at) else range(0)
    cells = [" "] * window.columns
    free = 0  # the next cell that a label may use
    for column, name in _ticks(window):
        start = column - len(name) // 2
        touches = bool(taken) and start <= taken.stop and start + len(name) >= taken.start
        if start >= free and start + len(name) <= window.columns and not touches:
            cells[start : start + len(name)] = name
            free = start + len(name) + LABEL_GAP_CELLS
    if not taken:
        return line(("".join(cells), "dim"))
    ink: Ink = "strong" if is_newest else "tab"
    before, after = "".join(cells[: taken.start]), "".join(cells[taken.stop :])
    return line((before, "dim"), (named[: window.columns], ink), (after, "dim"))


def marks(window: TimeWindow, at: Millis, mark: Millis | None = None) -> Line:
    """Draw the line below the times: ticks, and a double line from the mark to the cursor."""
    cells = [Run("─", "dim")] * window.columns
    for column, _ in _ticks(window):
        cells[column] = Run("┴", "dim")
    column = window.column(at)
    if mark is not None:
        marked = window.column(mark)
        first, last = min(marked, column), max(marked, column)
        for between in range(max(0, first), min(window.columns, last + 1)):
            cells[between] = Run("═", "selected")
        if 0 <= marked < window.columns:
            cells[marked] = Run("m", "selected")
    if window.shows(at):
        cells[column] = Run("┃", "selected")
    return merged(tuple(cells))


def _ticks(window: TimeWindow) -> list[tuple[int, str]]:
    """Return the columns and labels of the ticks, at round times."""
    needed = ((tick_ms, len(_time(0, tick_ms)) + LABEL_GAP_CELLS) for tick_ms in TICKS_MS)
    fitting = (tick_ms for tick_ms, cells in needed if tick_ms >= cells * window.column_ms)
    step = next(fitting, TICKS_MS[-1])
    first = -(-window.begin // step) * step
    return [(window.column(at), _time(at, step)) for at in range(first, window.end, step)]


def _time(at: Millis, step_ms: int) -> str:
    return time_s(at) if step_ms >= SECOND_MS else time_ms(at)[:TENTHS_CELLS]


def scale(window: TimeWindow) -> str:
    """Return the length of a column.

    >>> scale(TimeWindow(0, 500, 60, 0))
    '1 column = 0.5s'
    """
    return f"1 column = {spoken(window.column_ms / 1000)}"
