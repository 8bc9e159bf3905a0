"""Notes on a lock: its findings, oddities of its queue, and what zktop has not seen."""

from collections.abc import Iterator
from typing import Final

from zktop.model.format import count, several
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import at_least_sign
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import Line, hanging_lines, line, wrapped

MAX_FINDINGS: Final = 5
COVERED_SHARE: Final = 0.995  # if fewer of the past requests were seen, a note counts the others
WARNINGS: Final = {
    "negative-sequence": "sequence numbers have wrapped around and are negative",
    "duplicate-sequence": "two nodes have the same sequence number",
    "sequence-exhausted": "sequence numbers are used up: the order breaks",
    "order-disagrees-with-czxid": "sequence numbers do not follow the order of creation",
    "mutual-exclusion-broken": "by their own rules, more than one client may hold it now",
    "mixed-families": "clients of several libraries use it and may not see each other",
    "foreign-children": "some of its children are not part of the queue",
    "blocked-by-foreign": "clients wait for a child that nothing will release",
    "broken-by-foreign": "clients fail on a child whose name they cannot parse",
    "duplicate-client": "one client has two nodes here: a reply was lost and it retried",
    "persistent-contender": "a node here outlives its session: nothing will free it",
    "probable-reentrant-read": "a writer also reads: one owner, two nodes",
    "possible-lost-downgrade": "a writer became a reader while another writer waited",
    "revocation-requested": "another client asked a holder to release",
    "stale-breadcrumb": "a note of an earlier holder is still there",
    "low-confidence": "the layout was guessed from node names",
}


def lock_notes(detail: LockDetail, width: int) -> list[Line]:
    """Return findings about a lock, then plain notes, wrapped to a width."""
    lines = [*_findings(detail, width), *_plain(detail, width)]
    return [line(("NOTES", "title")), *lines] if lines else []


def _findings(detail: LockDetail, width: int) -> Iterator[Line]:
    for deadlock in [ring.deadlock for ring in detail.rings[:MAX_FINDINGS]]:
        ink = ink_of_deadlock(deadlock)
        mark = line((f"  {deadlock_name(deadlock):<4} ", ink))
        yield from hanging_lines(mark, deadlock.sentence, width - 2, ink)
    for finding in detail.findings[:MAX_FINDINGS]:
        mark = line(("  ●    ", ink_of(finding)))
        yield from hanging_lines(mark, finding.sentence, width - 2)
    hidden = sum(max(0, len(kind) - MAX_FINDINGS) for kind in (detail.rings, detail.findings))
    if hidden:
        yield line((f"  and {count(hidden, 'more finding')}: screen 3 lists them", "dim"))


def _plain(detail: LockDetail, width: int) -> Iterator[Line]:
    for text in (*_warnings(detail), *_missing(detail), *_order(detail), *_unseen(detail)):
        yield from wrapped(text, width - 2, "dim", "  ")


def _warnings(detail: LockDetail) -> Iterator[str]:
    for word in detail.view.lock.warnings:
        yield WARNINGS.get(word, word)
    foreign = detail.view.lock.foreign
    if foreign:
        yield f"not part of the queue: {several(foreign)}"


def _missing(detail: LockDetail) -> Iterator[str]:
    """Count the sequence numbers missing inside a queue. Each was an abandoned request."""
    members, lock = detail.queue.members, detail.view.lock
    is_shared = lock.kind in ("read-write", "semaphore")  # its holders leave in any order
    if is_shared or len(lock.queues) != 1 or lock.warnings or not members:
        return
    first, last = members[0].sequence, members[-1].sequence
    if first is None or last is None or "/" in members[0].node:
        return
    gaps = last - first + 1 - len(members)
    if gaps > 0:
        missing = count(gaps, "number is", "numbers are")
        yield f"{missing} missing between the first and the last: abandoned requests"


def _order(detail: LockDetail) -> Iterator[str]:
    lock = detail.view.lock
    if lock.kind == "read-write":
        yield "first come, first served: readers wait behind writers, so writers cannot starve"
    if lock.is_only_watched and detail.queue.watchers:
        yield "no order: a release wakes every watcher, and any of them may win"
    if lock.leases_are == "inferred":
        yield "the number of leases is inferred from concurrent holders; the config can set it"


def _unseen(detail: LockDetail) -> Iterator[str]:
    """Yield notes on what zktop has not seen of the lock."""
    history = detail.view.history
    if history.coverage is not None and history.coverage < COVERED_SHARE:
        missed = count(history.missed_creates, "client")
        seen = f"{100 * history.coverage:.0f} % of the past was seen"
        yield f"{seen}: {missed} came and went between two reads"
    bounds = (history.since(holder, holds=True).bound for holder in detail.queue.holders[:3])
    if history.first_look is not None and "at-least" in bounds:
        sign = at_least_sign(is_ascii=detail.is_ascii)
        yield f"zktop did not see when it was acquired: ages with {sign} are lower bounds"
    if detail.report.ensemble.visibility.watches == "none":
        yield "watches: ? because no watch table could be read"
    elif detail.report.ensemble.visibility.watches == "some":
        yield "watches: some are ? because some watch tables could not be read"
