"""What stays above the queue of a lock: what sort of lock it is, who holds it, who wants it.

What is worth knowing of a lock beside its queue: findings, oddities, and what was not seen.

A lock as text for somebody else: its head, the place that was chosen, and the first places.
"""

from collections.abc import Iterator
from typing import Final

from zktop.model.format import count, several, short
from zktop.model.locks.lock import Lock
from zktop.model.report import Contender
from zktop.ui.screens.common.format import age, elapsed, with_spaces
from zktop.ui.screens.common.status_codes import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.lock.cells import (
    age_of,
    blocked_by,
    brief,
    host,
    identity,
    mode,
    position,
    state,
    watches,
    who,
)
from zktop.ui.screens.lock.histograms import times_usual
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.selected import selected_lines
from zktop.ui.screens.lock.view import LockDetail, density, run_line
from zktop.ui.screens.locks.row import MODE_LETTERS
from zktop.ui.styled_text import Ink, Line, Run, joined, line, text_of, width_of, wrapped

HOLDERS: Final = 3
DENSE: Final = 100  # waiters; a longer queue is also drawn as a strip
COLUMNS: Final = 100
QUIET: Final = 0.5  # of a timeout: a silence that is worth telling
TITLE: Final = 8
UNTIL_RUNS: Final = 46


def lock_head(detail: LockDetail, width: int) -> list[Line]:
    """Draw it in so many cells."""
    lock = detail.view.lock
    lines = list(_title(lock, width))
    if lock.error is not None:
        lines += wrapped(f"zktop cannot see inside: {lock.error}", width - 1, "unknown", " ")
    lines += _holders(detail, width - 1 - TITLE)
    lines += _queue(detail, width)
    return lines


def _title(lock: Lock, width: int) -> Iterator[Line]:
    kind = lock.kind if lock.kind != "semaphore" else _leases(lock)
    following = lock.next_sequence
    facts = [kind, lock.layout, count(lock.size, "place")]
    if following is not None and any(m.sequence is not None for m in lock.members):
        facts.append(f"next number {following:010d}")
    told = " · ".join(facts)
    if len(lock.path) + len(told) + 4 <= width:
        yield line((f" {lock.path}", "title"), (f"  {told}", "dim"))
    else:
        yield line((f" {lock.path}", "title"))
        yield line((f"   {told}", "dim"))


def _leases(lock: Lock) -> str:
    if lock.leases is None:
        return "semaphore, its size is not known"
    return f"semaphore of {lock.leases}" + (" (inferred)" if lock.leases_are == "inferred" else "")


def _holders(detail: LockDetail, width: int) -> list[Line]:
    queue = detail.queue
    word = "LEADER" if queue.lock.kind == "election" else "HOLDER"
    if not queue.holding:
        if queue.lock.error is not None:
            return []
        return [_titled(word, _nobody(queue.lock))]
    lines = [
        _titled(
            word if not place else "", _holder(detail, queue.contender(detail.view, place), width)
        )
        for place in range(min(HOLDERS, queue.holding))
    ]
    more = queue.holding - HOLDERS
    if more > 0:
        lines.append(_titled("", line((f"and {count(more, 'more holder')}", "holds"))))
    return lines


def _nobody(lock: Lock) -> Line:
    """Say why nobody holds: what is in the way will not go by itself."""
    if lock.obstacles:
        names = several(short(child.node) for child in lock.obstacles)
        return line((f"nobody: {names} is in the way, and no contender", "critical"))
    if lock.stranded:
        return line(("nobody: failed clients left their nodes behind", "critical"))
    return line(("nobody: the lock is free", "good"))


def _titled(title: str, told: Line) -> Line:
    return (Run(f" {title:<{TITLE}}", "title"), *told)


def _holder(detail: LockDetail, one: Contender, width: int) -> Line:
    number = "" if one.sequence is None else f" {one.sequence:010d}"
    name = line((MODE_LETTERS[one.mode], "strong"), (number, "dim"), " ", *who(one))
    where = line((_where(detail, one), "dim"))
    held, silence = _held(detail, one), _silence(detail, one)
    whole = joined([name, where, held, silence])
    is_short = silence and width_of(whole) > width  # its places are told below as well
    return joined([name, held, silence]) if is_short else whole


def _where(detail: LockDetail, one: Contender) -> str:
    if one.session is None:
        return "no session: nothing frees it when its client is gone"
    presence = detail.report.ensemble.presence(one.session)
    place = f" {presence.client}@{host(presence.server)}" if presence else ""
    return f"{brief(one.session)}{place}"


def _held(detail: LockDetail, one: Contender) -> Line:
    now = detail.report.now
    told = age(one.since, one.since_is, now, is_ascii=detail.is_ascii)
    if told == "?" or one.since is None:
        return line(("held since: not known", "unknown"))
    times = times_usual(max(0, now - one.since), detail.view.history.holds)
    return line(
        "held ", (told, "strong"), (f" = {times}".replace("= =", "=") if times else "", "warning")
    )


def _silence(detail: LockDetail, one: Contender) -> Line:
    """Say when its client has been silent for long, and when the lock would be freed."""
    if one.session is None:
        return ()
    ensemble, now = detail.report.ensemble, detail.report.now
    presence, timeout = ensemble.presence(one.session), ensemble.timeout_ms(one.session)
    silent = presence.silence(now) if presence else None
    if silent is None or not timeout or silent < QUIET * timeout:
        return ()
    span = ensemble.expires_in(one.session, now)
    freed = f", freed in {span.low // 1000}-{span.high // 1000 + 1} s" if span else ""
    return line((f"silent {elapsed(silent)} of {elapsed(timeout)}{freed}", "warning"))


def _queue(detail: LockDetail, width: int) -> list[Line]:
    queue = detail.queue
    waiting = queue.members[queue.holding :]
    word = "STANDBY" if queue.lock.kind == "election" else "QUEUE"
    if not waiting and not queue.watchers:
        return [_titled(word, line(("empty", "dim")))] if queue.lock.error is None else []
    pieces: list[Line] = []
    runs = queue.waiting_runs
    if waiting:
        size, ink = with_spaces(len(waiting)), _queue_ink(detail)
        pieces.append(line((size, ink), " = ", run_line(runs, max(20, width - UNTIL_RUNS))))
    if queue.watchers:
        pieces.append(line((f"{with_spaces(len(queue.watchers))} watch it, in no order", "waits")))
    pieces.append(_drains(detail))
    lines = [_titled(word, joined(pieces))]
    if len(waiting) > DENSE:
        drawn = density(waiting, runs, detail.report.now, min(COLUMNS, width - TITLE - 24))
        lines += [_titled("", part) for part in drawn]
    return lines


def _queue_ink(detail: LockDetail) -> Ink:
    return "standby" if detail.queue.lock.kind == "election" else "waits"


def _drains(detail: LockDetail) -> Line:
    """Say whether the queue can ever get shorter."""
    if detail.rings:
        dead = detail.rings[0].deadlock
        ink = ink_of_deadlock(dead)
        return line((f"stuck: deadlock {deadlock_name(dead)}", ink))
    orphan = next((one for one in detail.findings if one.rule == "B1"), None)
    if orphan is not None:
        return line(("drains: never ", "warning"), ("(B1: a node without an owner)", "warning"))
    rate = detail.view.history.releases_per_s
    return line((f"{rate:.1f} released a second", "dim")) if rate else ()


FINDINGS: Final = 5
COVERED: Final = 0.995
WARNINGS: Final = {
    "negative-sequence": "its numbers have wrapped around and are negative now",
    "duplicate-sequence": "two nodes have the same number",
    "sequence-exhausted": "its numbers are used up: the order breaks",
    "order-disagrees-with-czxid": "the numbers are not in the order of arrival",
    "mutual-exclusion-broken": "by their own rules, more than one may own it now",
    "mixed-families": "clients of several libraries use it; they may not see each other",
    "foreign-children": "it has children that are no places in its queue",
    "blocked-by-foreign": "contenders wait for a child that nobody will release",
    "broken-by-foreign": "clients fail at a child whose name they cannot read",
    "duplicate-client": "one client has two nodes here: an answer was lost, and it asked again",
    "persistent-contender": "a node here outlives its session: nobody will free it",
    "probable-reentrant-read": "a writer reads as well: one owner, two nodes",
    "possible-lost-downgrade": "a writer became a reader while another writer waited",
    "revocation-requested": "a holder was asked to let go",
    "stale-breadcrumb": "a note of an earlier holder was left behind",
    "low-confidence": "the layout is guessed from the names alone",
}


def lock_notes(detail: LockDetail, width: int) -> list[Line]:
    """Draw it."""
    told = [*_findings(detail, width), *_plain(detail, width)]
    return [line(("NOTES", "title")), *told] if told else []


def _findings(detail: LockDetail, width: int) -> Iterator[Line]:
    for dead in detail.rings[:FINDINGS]:
        ink = ink_of_deadlock(dead.deadlock)
        first, *rest = wrapped(dead.deadlock.sentence, width - 9, ink, "")
        yield line((f"  {deadlock_name(dead.deadlock):<4} ", ink), *first)
        yield from (line("       ", *more) for more in rest)
    for finding in detail.findings[:FINDINGS]:
        first, *rest = wrapped(finding.sentence, width - 9, indent="")
        yield line((f"  {finding.rule:<4} ", ink_of(finding)), *first)
        yield from (line("       ", *more) for more in rest)
    hidden = len(detail.findings) - FINDINGS
    if hidden > 0:
        yield line((f"  and {count(hidden, 'more finding')}: screen 3 lists them", "dim"))


def _plain(detail: LockDetail, width: int) -> Iterator[Line]:
    for told in (*_warnings(detail), *_missing(detail), *_order(detail), *_seen(detail)):
        yield from wrapped(told, width - 2, "dim", "  ")


def _warnings(detail: LockDetail) -> Iterator[str]:
    for word in detail.view.lock.warnings:
        yield f"{word}: {WARNINGS[word]}" if word in WARNINGS else word
    foreign = detail.view.lock.foreign
    if foreign:
        yield f"no places: {several(foreign)}"


def _missing(detail: LockDetail) -> Iterator[str]:
    """Count the numbers that nobody has any more: who had them gave up."""
    members, lock = detail.queue.members, detail.view.lock
    if len(lock.queues) != 1 or lock.warnings or not members:
        return
    first, last = members[0].sequence, members[-1].sequence
    if first is None or last is None or "/" in members[0].node:
        return
    gaps = last - first + 1 - len(members)
    if gaps > 0:
        missing = count(gaps, "number is", "numbers are")
        yield f"{missing} missing between the first and the last: waits that were given up"


def _order(detail: LockDetail) -> Iterator[str]:
    lock = detail.view.lock
    if lock.kind == "read-write":
        yield "first come, first served: a writer cannot starve here, and readers wait behind it"
    if lock.kind == "single" and detail.queue.watchers:
        yield "no order: when it is freed, all who watch wake up and anybody may win"
    if lock.leases_are == "inferred":
        yield "the number of leases is inferred from who returned together; the config can tell it"


def _seen(detail: LockDetail) -> Iterator[str]:
    """Say how much of the past is known."""
    history = detail.view.history
    if history.coverage is not None and history.coverage < COVERED:
        missed = count(history.missed_creates, "contender")
        seen = f"{100 * history.coverage:.0f} % of the past was seen"
        yield f"{seen}: {missed} came and went between two looks"
    first = history.first_look
    if first is not None and any(
        history.since(m, holds=True).how == "at-least"
        for m in detail.queue.members[: detail.queue.holding][:3]
    ):
        sign = ">=" if detail.is_ascii else "≥"
        yield f"its holder was there before zktop looked: ages with {sign} are lower bounds"
    if detail.report.ensemble.visibility.watches == "none":
        yield "watches: ? because no server gave its watch table"
    elif detail.report.ensemble.visibility.watches == "some":
        yield "watches: some are ? because not all servers gave their watch table"


WIDTH = 120
PLACES = 50


def lock_text(detail: LockDetail, row: QueueRow | None) -> str:
    """Write it."""
    number = min(PLACES, len(detail.queue))
    rows = [QueueRow(detail, place, 1, "") for place in range(number)]
    cells = (position, mode, identity, age_of, blocked_by, watches, state)
    lines = [
        *lock_head(detail, WIDTH),
        *(joined(cell(one) for cell in cells) for one in rows),
        *selected_lines(row, WIDTH, with_data=False),
        *lock_notes(detail, WIDTH),
    ]
    told = [text_of(one).rstrip() for one in lines]
    if len(detail.queue) > number:
        told.append(f"... {len(detail.queue) - number} more places")
    return "\n".join(told)
