"""Notes on a lock: its findings, oddities of its queue, and what zktop has not seen."""

from collections.abc import Iterator
from typing import Final

from zktop.model.format import count, several
from zktop.ui.screens.common.status_codes import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import Line, line, wrapped

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
