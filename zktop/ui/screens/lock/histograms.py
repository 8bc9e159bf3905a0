"""Histograms of past holds and waits, compared with the ongoing ones."""

from itertools import zip_longest
from typing import Final

from zktop.model.format import spoken
from zktop.model.history.duration_samples import Durations
from zktop.model.history.lock_history import LockHistory
from zktop.model.locks.lock import Lock, Member
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import age, large_count, with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, line

LABELS: Final = ("<10ms", "<40ms", "<160ms", "<640ms", "<2.5s", "<10s", "<41s", "more")
LABEL_CELLS: Final = 7
MAX_BAR_CELLS: Final = 12
LONG_FACTOR: Final = 10  # this many times the 99th percentile counts as long


def histograms(detail: LockDetail, width: int) -> list[Line]:
    """Draw holds and waits side by side."""
    history, half = detail.view.history, max(LABEL_CELLS + 6, min(34, (width - 2) // 2))
    holds = histogram("HOLD", history.holds, _now(detail, holds=True), half)
    waits = histogram("WAIT", history.waits, _now(detail, holds=False), half)
    pairs = zip_longest(holds, waits, fillvalue=NOTHING)
    return [(*fitted(left, half), Run("  "), *fitted(right, half)) for left, right in pairs]


def histogram(title: str, past: Durations, now: tuple[str, int | None], width: int) -> list[Line]:
    """Draw a bar for each bucket, and below them the oldest ongoing hold or wait."""
    ongoing, ms = now
    if not past.count:
        text = "none yet"
        if past.at_least:
            text = f"{past.at_least} seen in part"
        head = line((title, "title"), (f"  {text}", "unknown"))
        return [head, _ongoing_line(ongoing, ms, past)]
    counts = past.buckets
    top, room = max(counts), max(4, min(MAX_BAR_CELLS, width - LABEL_CELLS - 8))
    lines = [line((f"{title}  ", "title"), (_quantiles(past), "dim"))]
    for label, number in zip(LABELS, counts, strict=True):
        bar = "█" * max(1, number * room // top) if number else "·"
        lines.append(
            line((f"{label:<{LABEL_CELLS}}", "dim"), (f"{bar:<{room}}", "info"),
                 (f" {number or ''}", "dim"))
        )  # fmt: skip
    return [*lines, _ongoing_line(ongoing, ms, past)]


def _ongoing_line(ongoing: str, ms: int | None, past: Durations) -> Line:
    compared, ink = _compared(ms, past)
    return line(
        (f"{'now':<{LABEL_CELLS}}", "strong"),
        (ongoing, ink),
        (f" {compared}" if compared else "", ink),
    )


def _compared(ms: int | None, past: Durations) -> tuple[str, Ink]:
    """Return a duration as a multiple of the 99th percentile."""
    usual = past.p99
    if ms is None or usual is None or ms <= usual:
        return "", "plain"
    times = ms // max(1, usual)
    ink: Ink = "warning" if times >= LONG_FACTOR else "plain"
    return (f"= {with_spaces(times)} x p99" if times > 1 else "> p99"), ink


def times_usual(ms: int, past: Durations) -> str:
    """Return a duration as a multiple of the 99th percentile; empty if it is shorter than that."""
    return _compared(ms, past)[0]


def _quantiles(past: Durations) -> str:
    median, p99 = past.median, past.p99
    if median is None or p99 is None:
        return f"{with_spaces(past.count)} seen"
    seen = min(past.count, len(past.samples))
    return f"p50 {spoken(median / 1000)}  p99 {spoken(p99 / 1000)}  last {seen}"


def _now(detail: LockDetail, *, holds: bool) -> tuple[str, int | None]:
    """Return the age of the oldest hold or of the first wait, as text and in milliseconds."""
    queue, now = detail.queue, detail.report.now
    members = queue.holders if holds else queue.waiters
    if not members and queue.watchers and not holds:
        return f"{large_count(len(queue.watchers), 'client')}, since ?", None
    if not members:
        is_known = holds or detail.view.knows_waiters
        return _no_client(queue.lock, holds=holds) if is_known else "?", None
    return _oldest(detail.view.history, members[0], now, holds=holds, is_ascii=detail.is_ascii)


def _no_client(lock: Lock, *, holds: bool) -> str:
    if lock.error is not None:
        return "?"
    if not holds:
        return "no waiters"
    return "no holder" if lock.obstacles or lock.stranded else "free"


def _oldest(
    history: LockHistory, first: Member, now: int, *, holds: bool, is_ascii: bool
) -> tuple[str, int | None]:
    since = history.since(first, holds=holds)
    text = age(since.at, since.bound, now, is_ascii=is_ascii)
    is_known = since.at is not None and since.bound in ("seen", "at-least")
    return text, max(0, now - (since.at or now)) if is_known else None
