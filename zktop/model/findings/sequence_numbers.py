"""S6: the sequence numbers of a lock run out; R6: two nodes of one owner have the same number."""

from collections.abc import Iterator

from zktop.model.facts import MINUTE_MS
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import Rule, RuleMatch, RuleResult
from zktop.model.format import count, short, span
from zktop.model.layouts.layout import LARGEST
from zktop.model.locks.lock import Member

SOON_S = 30 * 24 * 3600
STEADY_MS = MINUTE_MS
MIN_RATE_PER_S = 1e-3  # requests per second; below it, no remaining time is computed
_RESET = "Stop all users of this lock, then delete its node and let them create it again."


@Rule("S6", "sequence-overflow", "critical", code="NUM", rank=20)
def sequence_overflow(ctx: LockContext) -> Iterator[RuleResult]:
    """The sequence counter of the lock is exhausted, or soon will be: the order breaks.

    Soon is within a month at the present rate.
    """
    following = ctx.lock.next_sequence
    numbers = [member.sequence for member in ctx.members if member.sequence is not None]
    negative = len([number for number in numbers if number < 0])
    if negative or following == LARGEST or LARGEST in numbers:
        yield _over(ctx, negative)
    elif following is not None:
        yield from _running_out(ctx, LARGEST - following)


def _over(ctx: LockContext, negative: int) -> RuleMatch:
    newest = max(ctx.members, key=lambda member: member.czxid, default=None)
    example = f" (the newest node is {short(newest.node)})" if newest else ""
    order = "is no longer" if negative else "will no longer be"
    return RuleMatch(
        about=ctx.about(key=("overflow",)),
        sentence=f"The sequence numbers of {ctx.name} have run out{example}: its order {order} "
        "the order of arrival.",
        confidence="C4",
        evidence=(
            (True, f"{negative} of its numbers {'is' if negative == 1 else 'are'} negative")
            if negative
            else (True, "its counter is at the end"),
            (None, "clients that compare numbers as text take the newest for the first"),
        ),
        advice=_RESET,
        at_once=True,
    )


def _running_out(ctx: LockContext, left: int) -> Iterator[RuleMatch]:
    rate = ctx.past.minute.requests_per_s
    is_near = left < ctx.thresholds.sequences_left
    seconds = left / rate if rate and rate > MIN_RATE_PER_S else None
    if not is_near and (seconds is None or seconds > SOON_S):
        return
    remaining = f", about {span(int(1000 * seconds))} at the present rate" if seconds else ""
    yield RuleMatch(
        about=ctx.about(key=("overflow",)),
        sentence=f"{ctx.name} has {count(left, 'sequence number')} left{remaining}.",
        confidence="C4" if is_near else "C2",
        evidence=(
            (True, f"the next number is {LARGEST - left}"),
            (is_near or None, "the present rate goes on"),
        ),
        advice=_RESET,
        severity="warning" if is_near else "info",
        patience_ms=0 if is_near else STEADY_MS,
    )


@Rule("R6", "equal-sequences", "info", only_if=("several", "read-write"))
def equal_sequences(ctx: LockContext) -> Iterator[RuleResult]:
    """A writer also reads, with the number of its write lock: one owner, two nodes."""
    if ctx.lock.kind != "read-write":
        return
    for queue in ctx.lock.queues:
        writes = {holder.sequence: holder for holder in queue.holders if holder.mode == "write"}
        for read in queue.holders:
            is_numbered = read.mode == "read" and read.sequence is not None
            write = writes.get(read.sequence) if is_numbered else None
            if write is not None and write.owner and write.owner == read.owner:
                yield _reentrant(ctx, write, read)


def _reentrant(ctx: LockContext, write: Member, read: Member) -> RuleMatch:
    return RuleMatch(
        about=ctx.about(write, read),
        sentence=f"{ctx.name_of(write)} writes {ctx.name} and reads it under the same number: one "
        "owner, W+R.",
        confidence="C4",
        evidence=((True, f"both nodes have the number {write.sequence} and the same session"),),
        advice="Nothing to do: this is how Curator downgrades a write lock.",
    )
