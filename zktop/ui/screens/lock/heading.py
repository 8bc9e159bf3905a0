"""The lines above the queue of a lock: its kind, its holders, and its queue in one line."""

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

from zktop.model.findings.sessions import silence_severity
from zktop.model.format import count, several, short
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.lock_view import Contender
from zktop.model.locks.lock import Lock
from zktop.ui.inks import Ink
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import age, elapsed, with_spaces
from zktop.ui.screens.lock.histograms import times_usual
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.queue_summary import density, run_line
from zktop.ui.screens.lock.table import client_address, client_line
from zktop.ui.styled_text import Line, Run, joined, line, width_of, wrapped

MAX_HOLDERS: Final = 3
MIN_STRIP_WAITERS: Final = 100  # from here on, the queue is also drawn as a strip
MAX_STRIP_CELLS: Final = 100
MINUTE_S: Final = 60
TITLE_CELLS: Final = 8
CELLS_AROUND_RUNS: Final = 46


def lock_head(detail: LockDetail, width: int) -> list[Line]:
    """Draw the lines above the queue."""
    lock = detail.view.lock
    lines = list(_title(detail, width))
    if lock.error is not None:
        problem = "No lock" if lock.is_not_a_lock else "zktop cannot read this lock"
        lines += wrapped(f"{problem}: {lock.error}", width - 1, "unknown", " ")
        if len(detail.queue):
            note = "This is the last queue that zktop could read. It may have newer nodes."
            lines += wrapped(note, width - 1, "unknown", " ")
    lines += _holders(detail, width - 1 - TITLE_CELLS)
    lines += _queue(detail, width)
    return lines


def _title(detail: LockDetail, width: int) -> Iterator[Line]:
    lock = detail.view.lock
    kind = lock.kind if lock.kind != "semaphore" else _leases(lock)
    following = lock.next_sequence
    facts = [kind, count(len(detail.queue), "client"), f"layout {lock.layout}"]
    if following is not None and lock.size:
        facts.append(f"next number {following:010d}")
    text = " · ".join(facts)
    if cell_len(lock.path) + cell_len(text) + 4 <= width:
        yield line((f" {lock.path}", "title"), (f"  {text}", "dim"))
    else:
        yield line((f" {lock.path}", "title"))
        yield line((f"   {text}", "dim"))


def _leases(lock: Lock) -> str:
    if lock.leases is None:
        return "semaphore of unknown size"
    return f"semaphore of {lock.leases}" + (" (inferred)" if lock.leases_are == "inferred" else "")


def _holders(detail: LockDetail, width: int) -> list[Line]:
    queue = detail.queue
    word = "LEADER" if queue.lock.kind == "election" else "HOLDER"
    if not queue.holder_count:
        if queue.lock.error is not None:
            return []
        return [_titled(word, _no_holder(queue.lock))]
    lines = [
        _titled(
            word if not place else "", _holder(detail, queue.contender(detail.view, place), width)
        )
        for place in range(min(MAX_HOLDERS, queue.holder_count))
    ]
    more = queue.holder_count - MAX_HOLDERS
    if more > 0:
        lines.append(_titled("", line((f"and {count(more, 'more holder')}", "holds"))))
    return lines


def _no_holder(lock: Lock) -> Line:
    if lock.obstacles:
        names = several(short(child.node) for child in lock.obstacles)
        return line((f"none: {names} is first in the queue but not a lock request", "critical"))
    if lock.stranded:
        return line(("none: failed clients left their nodes behind", "critical"))
    if lock.kind == "semaphore" and lock.leases == 0:
        return line(("none: it has no leases", "warning"))
    return line(("none: the lock is free", "good"))


def _titled(title: str, drawn: Line) -> Line:
    return (Run(f" {title:<{TITLE_CELLS}}", "title"), *drawn)


def _holder(detail: LockDetail, holder: Contender, width: int) -> Line:
    number = "" if holder.sequence is None else f" {holder.sequence:010d}"
    name = line((MODE_LETTERS[holder.mode], "strong"), (number, "dim"), " ", *client_line(holder))
    where = line((_where(detail, holder), "dim"))
    held, silence = _held(detail, holder), _silence(detail, holder)
    whole = joined([name, where, held, silence])
    is_short = silence and width_of(whole) > width  # the row below has the address
    return joined([name, held, silence]) if is_short else whole


def _where(detail: LockDetail, holder: Contender) -> str:
    if holder.session is None:
        return "no session: its node stays when the client dies" if holder.is_ownerless else ""
    address = client_address(detail.report.ensemble, holder.session)
    return f"{detail.queue.short_ids.of(holder.session)} {address}".rstrip()


def _held(detail: LockDetail, holder: Contender) -> Line:
    now = detail.report.now
    text = age(holder.since, holder.since_is, now, is_ascii=detail.is_ascii)
    if text == "?" or holder.since is None:
        return line(("held since: unknown", "unknown"))
    times = times_usual(max(0, now - holder.since), detail.view.history.holds)
    return line("held ", (text, "strong"), (f" {times}" if times else "", "warning"))


def _silence(detail: LockDetail, holder: Contender) -> Line:
    """Return how long its client has been silent, and when its session would expire."""
    if holder.session is None:
        return ()
    ensemble, now = detail.report.ensemble, detail.report.now
    presence = ensemble.presence(holder.session)
    if presence is None or presence.quiet_ms is None or not presence.timeout_ms:
        return ()
    quiet, timeout = presence.quiet_ms, presence.timeout_ms
    severity = silence_severity(quiet / timeout)  # as its finding on screen 3
    if severity is None:
        return ()
    span = ensemble.expires_in(holder.session, now)
    freed = f", freed in {span.low // 1000}-{span.high // 1000 + 1} s" if span else ""
    return line((f"silent {elapsed(quiet)} of {elapsed(timeout)}{freed}", severity))


def _queue(detail: LockDetail, width: int) -> list[Line]:
    queue = detail.queue
    waiting = queue.waiters
    word = "STANDBY" if queue.lock.has_standbys else "QUEUE"
    if not waiting and not queue.watchers:
        return [] if queue.lock.error is not None else [_titled(word, _no_waiters(detail))]
    pieces: list[Line] = []
    runs = queue.waiting_runs
    if waiting:
        size = with_spaces(len(waiting))
        ink: Ink = "standby" if queue.lock.has_standbys else "waits"
        pieces.append(line((size, ink), " = ", run_line(runs, max(20, width - CELLS_AROUND_RUNS))))
    if queue.watchers:
        watch = "watches" if len(queue.watchers) == 1 else "watch"
        size = with_spaces(len(queue.watchers))
        pieces.append(line((f"{size} {watch} it, unordered", "waits")))
    pieces.append(_drains(detail))
    lines = [_titled(word, joined(pieces))]
    if len(waiting) > MIN_STRIP_WAITERS:
        drawn = density(
            waiting, runs, detail.report.now, min(MAX_STRIP_CELLS, width - TITLE_CELLS - 24)
        )
        lines += [_titled("", part) for part in drawn]
    return lines


def _no_waiters(detail: LockDetail) -> Line:
    """Return that no client waits, or why that is not known."""
    if detail.view.knows_waiters:
        return line(("empty", "dim"))
    is_blind = detail.report.ensemble.visibility.watches == "none"
    why = "no watch table" if is_blind else "some watch tables are missing"
    return line((f"unknown: {why}", "unknown"))


def _drains(detail: LockDetail) -> Line:
    """Return how fast the queue drains, or why it never will."""
    if detail.is_stuck:
        deadlock = detail.rings[0].deadlock
        ink = ink_of_deadlock(deadlock)
        return line((f"stuck: deadlock {deadlock_name(deadlock)}", ink))
    orphan = next((finding for finding in detail.findings if finding.rule == "B1"), None)
    if orphan is not None:
        return line(("never drains ", "warning"), ("(a node without an owner)", "warning"))
    rate = detail.view.history.minute.releases_per_s
    return line((rate_of_releases(rate), "dim")) if rate else ()


def rate_of_releases(per_s: float) -> str:
    """Format a rate; below one a second, per minute.

    >>> rate_of_releases(1.44), rate_of_releases(0.2), rate_of_releases(1 / 60)
    ('1.4 releases/s', '12 releases/min', '1 release/min')
    """
    if per_s >= 1:
        return f"{per_s:.1f} releases/s"
    return f"{count(max(1, round(per_s * MINUTE_S)), 'release')}/min"
