"""The sizes of the panes on screen 1: how many columns they form, and how high each may be.

The maximum heights depend only on the window. The last minute gets the lines that a short table
does not need.
"""

from typing import Final, NamedTuple


class PaneHeights(NamedTuple):
    """The maximum height of each pane, in lines with its frame."""

    alerts: int
    about: int = 0
    blockers: int = 0
    events: int = 0
    health: int = 0
    pulse: int = 7
    minute: int = 0
    waits: int = 0


class UsedLines(NamedTuple):
    """The lines that some panes use now, with their frames."""

    table: int
    alerts: int
    blockers: int


SHORT: Final = PaneHeights(alerts=4)
MIN_LINES: Final = 30
HEIGHTS: Final = (  # each with the minimum height of the page
    (50, PaneHeights(alerts=10, about=1, blockers=10, events=12, health=1, pulse=17, minute=14)),
    (40, PaneHeights(alerts=8, about=1, blockers=7, events=9, health=1, pulse=12, minute=11)),
    (30, PaneHeights(alerts=7, about=1, blockers=7, events=7, health=1, minute=9)),
    (25, PaneHeights(alerts=5, about=1, health=1)),
)
MIN_TREE_PAGE: Final = 50  # the height from which three columns have a tree of waiters
COLUMNS: Final = ((180, 3), (120, 2), (0, 1))  # minimum width, columns: as in the style sheet
FRAME_CELLS: Final = 2
MAX_MINUTE_LINES: Final = 50  # for the last minute below a short table
STEP_LINES: Final = 5  # panes grow by multiples of this, not with every lock


def columns_of(width: int) -> int:
    """Return the number of columns of panes in a window of this width."""
    return next(number for least, number in COLUMNS if width >= least)


def most_heights(page: int) -> PaneHeights:
    """Return the maximum heights on a page of this height, for any content."""
    return next((heights for least, heights in HEIGHTS if page >= least), SHORT)


def heights_now(page: int, columns: int, used: UsedLines) -> PaneHeights:
    """Return the heights on a page of this height. The last minute gets the remaining lines."""
    heights = most_heights(page)
    if columns == 1:
        below = heights.about + heights.blockers + heights.events
        free = page - used.alerts - used.table - below
        return heights._replace(minute=min(_in_steps(free), MAX_MINUTE_LINES))
    heights = heights._replace(minute=_minute_lines(page, heights, used))
    if columns == 2:  # noqa: PLR2004  below the pulse and the lock
        return heights._replace(events=max(0, heights.events + (page - MIN_LINES) // 4))
    waits = (page - heights.pulse) // 2 if page >= MIN_TREE_PAGE else 0
    return heights._replace(events=page - used.blockers, waits=waits)


def _minute_lines(page: int, heights: PaneHeights, used: UsedLines) -> int:
    free = page - used.alerts - heights.about - heights.minute - used.table
    most = max(MAX_MINUTE_LINES, heights.minute)
    return min(heights.minute + _in_steps(free), most)


def _in_steps(free: int) -> int:
    return max(0, free // STEP_LINES * STEP_LINES)
