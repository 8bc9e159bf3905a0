"""The axis of the timeline: its span, its zoom, its labels, and the line from mark to cursor."""

import re

import pytest

from zktop.ui.screens.timeline.time_axis import (
    ZOOMS_MS,
    TimeWindow,
    labels,
    latest,
    marks,
    window_around,
    zoomed,
)
from zktop.ui.styled_text import text_of

NOON = 1_769_860_800_000


def test_the_window_ends_now_where_it_can() -> None:
    """It keeps the cursor in view when the past is longer than the window."""
    late = window_around(1_000_000, 0, 1_000_000, 1_000, 60)
    early = window_around(100_000, 0, 1_000_000, 1_000, 60)

    assert (late.begin, late.end) == (941_000, 1_001_000)
    assert early.column(100_000) == 30


@pytest.mark.parametrize("at", [0, 1, 499_999, 999_999, 1_000_000])
@pytest.mark.parametrize("column_ms", ZOOMS_MS)
def test_the_cursor_is_always_in_view(at: int, column_ms: int) -> None:
    """At any zoom."""
    assert window_around(at, 0, 1_000_000, column_ms, 60).shows(at)


@pytest.mark.parametrize("column_ms", ZOOMS_MS)
def test_the_newest_moment_is_in_the_last_column(column_ms: int) -> None:
    """At any zoom, however short the past is."""
    window = latest(NOON + 1, column_ms, 60)

    assert window.column(NOON + 1) == 59
    assert window.begin % column_ms == 0


@pytest.mark.parametrize("column", [0, 17, 59])
@pytest.mark.parametrize("before_ms", ZOOMS_MS)
@pytest.mark.parametrize("after_ms", ZOOMS_MS)
def test_the_cursor_keeps_its_column_when_the_zoom_changes(
    before_ms: int, after_ms: int, column: int
) -> None:
    """Between any two zooms, and back."""
    window = TimeWindow(NOON - NOON % before_ms, before_ms, 60, NOON + 10**9)
    at = window.time(column)
    near = zoomed(window, after_ms, column, at)

    assert abs(near.column(at) - column) <= max(1, before_ms // after_ms)
    assert near.shows(at)
    assert near.begin % after_ms == 0


@pytest.mark.parametrize("column", [0, 30, 59])
def test_the_column_below_the_mouse_stays_when_the_zoom_changes(column: int) -> None:
    """As long as the cursor stays in view."""
    window = TimeWindow(NOON, 1_000, 60, NOON + 60_000)
    far = zoomed(window, 2_000, column, NOON + 30_000)

    assert far.column(NOON + 1_000 * column) == column


def test_the_cursor_stays_in_view_when_the_zoom_is_about_another_column() -> None:
    """Then it is in the first or the last column."""
    window = TimeWindow(NOON, 1_000, 60, NOON + 60_000)

    assert zoomed(window, 50, 59, NOON).column(NOON) == 0
    assert zoomed(window, 50, 0, NOON + 59_000).column(NOON + 59_000) == 59


@pytest.mark.parametrize("cursor", [0, 3, 29, 30, 58, 59])
@pytest.mark.parametrize("columns", [30, 60, 61, 200])
@pytest.mark.parametrize("column_ms", ZOOMS_MS)
def test_labels_never_touch(column_ms: int, columns: int, cursor: int) -> None:
    """Each is a whole time, with blanks around it, and so is that of the cursor."""
    window = TimeWindow(NOON - NOON % column_ms, column_ms, columns, NOON + 10**9)
    at = window.time(min(cursor, columns - 1))
    text = text_of(labels(window, at))

    times = r"\d\d:\d\d:\d\d(\.\d+)?"
    assert len(text) == columns
    assert all(re.fullmatch(times, one) for one in text.split())
    assert len(text.split()) >= columns // 30 - 1


def test_labels_are_round_times_above_their_ticks() -> None:
    """A tick is in the column of the time above its middle."""
    window = TimeWindow(NOON + 3_000, 500, 60, NOON + 10**9)
    above, below = text_of(labels(window, NOON - 1)), text_of(marks(window, NOON - 1))

    assert above.split() == [f"12:00:{second:02}" for second in range(5, 35, 5)]
    assert {below[above.index(one) + 4] for one in above.split()} == {"┴"}


@pytest.mark.parametrize(
    ("at", "mark", "drawn"),
    [
        (20, None, "──┃────"),
        (20, 0, "m═┃────"),
        (0, 40, "┃═══m──"),
        (40, 20, "──m═┃──"),
        (40, 900, "────┃══"),
        (20, 20, "──┃────"),
    ],
)
def test_a_double_line_leads_from_the_mark_to_the_cursor(
    at: int, mark: int | None, drawn: str
) -> None:
    """As far as they are in view."""
    window = TimeWindow(NOON + 1, 10, 7, NOON + 1_000)
    marked = None if mark is None else NOON + 1 + mark

    assert text_of(marks(window, NOON + 1 + at, marked)) == drawn
