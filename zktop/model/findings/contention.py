"""P6 to P10: locks that are held too long, requested too often, or too crowded."""

from collections.abc import Iterator

from zktop.model.actors import session_of
from zktop.model.facts import MINUTE_MS, Millis
from zktop.model.findings.context import NO_USUAL_HOLD, RECENT_MS, LockContext
from zktop.model.findings.finding import (
    FOREVER,
    SILENCE,
    LookAgainAt,
    MissingInput,
    Reason,
    Rule,
    RuleMatch,
    RuleResult,
)
from zktop.model.format import count, short, span, waits
from zktop.model.history.attempts import Attempts, identity_of
from zktop.model.history.events import FormerMember
from zktop.model.history.former_members import MAX_FORMER_MEMBERS
from zktop.model.locks.accumulo_row_ranges import RowRangeQueue
from zktop.model.locks.leaking_folders import JUTE_MAXBUFFER, listing_bytes
from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text

LONG_HOLD_FACTOR = 10  # times the 99th percentile
BUSY_SHARE = 0.95
LONG_ANYWHERE_FACTOR = 20  # times the threshold of a long hold


@Rule(
    "P6",
    "long-hold",
    "warning",
    code="LNG",
    is_delay=True,
    after=(("lock", FOREVER), ("node", "B6 B8 L2"), ("session", SILENCE)),
    only_if=("waiters",),
)
def long_hold(ctx: LockContext) -> Iterator[RuleResult]:
    """The lock has been held for much longer than usual, and others wait.

    Much longer is ten times the 99th percentile.
    """
    if not ctx.waiters or ctx.lock.kind == "election":
        return
    usual = ctx.usual
    if usual is None:
        yield NO_USUAL_HOLD
    bound = hold_bound(ctx)
    for holder in ctx.holders:
        granted = ctx.past.granted(holder)
        since = granted.at
        if since is None or not ctx.waiters_for(holder) or ctx.is_tangled(holder):
            continue
        if ctx.now_ms - since <= bound:
            yield LookAgainAt(since + bound + 1)
        else:
            yield _long_hold(ctx, holder, since, "at least " if granted.bound != "seen" else "")


def hold_bound(ctx: LockContext) -> int:
    """The longest normal hold.

    While the usual length is unknown, only a hold that is long by any measure is reported.
    """
    usual, least = ctx.usual, ctx.thresholds.long_hold
    return max(least, LONG_HOLD_FACTOR * usual.p99_ms) if usual else LONG_ANYWHERE_FACTOR * least


def _long_hold(ctx: LockContext, member: Member, since: Millis, prefix: str) -> RuleMatch:
    usual, holder = ctx.usual, ctx.name_of(member)
    held = ctx.now_ms - since
    compared = f", {held // max(1, usual.p99_ms)} times the usual longest hold" if usual else ""
    return RuleMatch(
        about=ctx.about(member),
        sentence=f"{holder} has held {ctx.name} for {prefix}{span(held)}{compared}; "
        f"{waits(len(ctx.waiters_for(member)))}.",
        confidence="C2" if usual else "C1",
        evidence=(
            (True, f"99 of 100 holds of this lock last {span(usual.p99_ms)} at most")
            if usual
            else (None, "too few holds were seen to say what is usual here"),
            (None, "no other, longer kind of job uses this lock"),
        ),
        advice=f"Ask what {holder} is doing; a thread dump of its process shows it.",
        severity="warning" if usual else "info",
        since=since,
    )


@Rule(
    "P7",
    "convoy",
    "warning",
    code="QUE",
    is_delay=True,
    after=(("lock", FOREVER), ("lock", "L2")),
    only_if=("queue",),
)
def convoy(ctx: LockContext) -> Iterator[RuleResult]:
    """The lock is never free: requests come as fast as they are served, or faster."""
    past, waiting = ctx.past, len(ctx.waiters)
    if waiting < ctx.thresholds.herd or ctx.lock.kind == "election" or ctx.are_several_locks:
        return
    if past.minute.busy is None or past.waiters_a_minute_ago is None:
        known_at = past.first_look.at + MINUTE_MS if past.first_look else ctx.now_ms + MINUTE_MS
        if ctx.now_ms < known_at:  # after that, the lock just does not change
            yield MissingInput("the lock has not been watched for a minute yet", "history")
            yield LookAgainAt(known_at)
    elif past.minute.busy >= BUSY_SHARE and waiting >= past.waiters_a_minute_ago and _moves(ctx):
        yield _convoy(ctx, waiting)


def _moves(ctx: LockContext) -> bool:
    """Whether the lock changes hands after holds of normal length."""
    since = [ctx.past.granted(holder).at for holder in ctx.holders]
    is_long = any(at is not None and ctx.now_ms - at > hold_bound(ctx) for at in since)
    return bool(ctx.past.minute.releases_per_s) and not is_long


def _convoy(ctx: LockContext, waiting: int) -> RuleMatch:
    past, minute = ctx.past, ctx.past.minute
    usual = ctx.usual if ctx.lock.kind != "read-write" else None  # readers go together
    drain = waiting * usual.median_ms // max(1, ctx.lock.leases or 1) if usual else None
    drained = f"; without new ones it would drain in {span(drain)}" if drain else ""
    return RuleMatch(
        about=ctx.about(key=("convoy",)),
        sentence=f"{ctx.name} is never free: {waits(waiting)}, "
        f"{minute.requests_per_s or 0:.1f} arrive and {minute.releases_per_s or 0:.1f} leave per "
        f"second{drained}.",
        confidence="C3",
        evidence=(
            (True, f"it was held for {100 * (minute.busy or 0):.0f} % of the last minute"),
            (True, f"a minute ago {_waited(past.waiters_a_minute_ago or 0)}"),
            (None, "this is not a batch that ends by itself"),
        ),
        advice="Shorten what is done under the lock, or split it into several locks.",
        patience_ms=ctx.thresholds.convoy,
    )


def _waited(number: int) -> str:
    return count(number, "client was waiting", "clients were waiting")


@Rule(
    "P8",
    "writer-starvation",
    "warning",
    code="STV",
    after=(("lock", FOREVER),),
    only_if=("waiters", "read-write", "former-members"),
)
def writer_starvation(ctx: LockContext) -> Iterator[RuleResult]:
    """Readers that came later keep being served before a waiting writer."""
    lock, bound = ctx.lock, _starving_readers(ctx)
    if lock.kind != "read-write" or any(isinstance(queue, RowRangeQueue) for queue in lock.queues):
        return  # there, readers of other rows do not compete with a writer
    if any(holder.mode != "read" for holder in ctx.holders):
        return
    left = _former_readers(ctx)
    for writer in ctx.waiters:
        later = [gone for gone in left if gone.czxid > writer.czxid]
        age = ctx.age(writer) or 0
        if writer.mode == "read" or len(later) < bound:
            continue
        if age > ctx.thresholds.long_hold:
            yield _starved_writer(ctx, writer, later, age)
        else:
            yield LookAgainAt(ctx.now_ms + ctx.thresholds.long_hold - age + 1)


def _starving_readers(ctx: LockContext) -> int:
    """The number of readers that starves a writer, at most the number that is remembered."""
    return min(ctx.thresholds.starved_readers, MAX_FORMER_MEMBERS)


def _former_readers(ctx: LockContext) -> list[FormerMember]:
    """The readers that left, except those of present holders, which may have been re-entrant."""
    present = {holder.owner for holder in ctx.holders}
    left = ctx.past.former_members
    return [gone for gone in left if gone.mode == "read" and gone.session not in present]


def _starved_writer(
    ctx: LockContext, writer: Member, later: list[FormerMember], age: int
) -> RuleMatch:
    served = sum(gone.ending == "released" for gone in later)
    is_known = served >= _starving_readers(ctx)
    at_least = "at least " if len(ctx.past.former_members) >= MAX_FORMER_MEMBERS else ""
    readers = count(served if is_known else len(later), "reader")
    return RuleMatch(
        about=ctx.about(writer),
        sentence=f"{ctx.name_of(writer)} has waited {span(age)} to write {ctx.name} while "
        f"{at_least}{readers} that came later "
        f"{'were served' if is_known else 'have come and gone'}.",
        confidence="C2" if is_known else "C1",
        severity="warning" if is_known else "info",
        evidence=((True, "these readers queued after it and owned the lock before it"),)
        if is_known
        else (
            (True, "these readers queued after it and left before it"),
            (None, "they owned the lock and did not merely cancel"),
        ),
        advice="This lock prefers readers. Use a fair recipe, in which a waiting writer stops "
        "new readers.",
        since=writer.ctime,
    )


@Rule(
    "P9",
    "retry-starvation",
    "warning",
    code="STV",
    is_delay=True,
    after=(("lock", FOREVER),),
    only_if=("attempts",),
)
def retry_starvation(ctx: LockContext) -> Iterator[RuleResult]:
    """A contender keeps giving up and starts again at the tail of the queue."""
    bound = ctx.thresholds.starved_retries
    if ctx.are_several_locks:
        return
    starved = {
        identity: attempts
        for identity, attempts in ctx.past.attempts.items()
        if attempts.given_up >= bound and attempts.overtaken >= bound
    }
    if not starved:
        return
    present = {identity_of(member) for member in ctx.waiters}
    recent = {
        gone.label or session_text(gone.session)
        for gone in ctx.past.former_members
        if ctx.now_ms - gone.gone_at < RECENT_MS
    }
    for identity, attempts in starved.items():
        if identity in present or identity in recent:
            yield _starved_retrier(ctx, identity, attempts)


def _starved_retrier(ctx: LockContext, identity: str, attempts: Attempts) -> RuleMatch:
    learned = attempts.learned_timeout_ms
    after = f", each time after about {span(learned)}" if learned else ""
    overtaken = count(attempts.overtaken, "later request was", "later requests were")
    return RuleMatch(
        about=ctx.about(key=("retries", identity)),
        sentence=f"{short(identity)} gave up waiting for {ctx.name} {attempts.given_up} times in "
        f"a row{after}, while {overtaken} granted.",
        confidence="C2",
        evidence=(
            (True, "none of its requests was granted, and later ones were"),
            (None, "it gives up at its own time limit, not because a user aborts"),
            *_one_client(identity),
        ),
        advice="Its time limit is shorter than the queue takes: let it wait longer, or retry "
        "less often.",
    )


def _one_client(identity: str) -> tuple[Reason, ...]:
    """The assumption about a contender that is identified by its label."""
    is_label = session_of(identity) is None
    return ((None, "the label names one client, not several"),) if is_label else ()


@Rule(
    "P10",
    "too-many-members",
    "warning",
    code="QUE",
    after=(("lock", FOREVER),),
    only_if=("queue",),
)
def too_many_members(ctx: LockContext) -> Iterator[RuleResult]:
    """The queue is so long that listing it is expensive, or will fail."""
    waiting, limits = len(ctx.waiters), ctx.thresholds
    if waiting <= limits.queue_long:
        return
    names = [member.znode.name for member in ctx.members]
    size = listing_bytes(names)
    is_too_long = waiting > limits.queue_too_long or size > JUTE_MAXBUFFER // 2
    yield RuleMatch(
        about=ctx.about(key=("crowd",)),
        sentence=f"{_in_line(ctx, waiting)} in {ctx.name}: one listing takes {size // 1024} KiB "
        f"of the {JUTE_MAXBUFFER // 1024} KiB that a client accepts by default.",
        confidence="C4",
        evidence=(
            (
                True,
                f"{count(len(ctx.members), 'node')}, read by every client that lists the queue",
            ),
            (None, "jute.maxbuffer has its default of 1 MiB"),
        ),
        advice="Every release makes clients list all names: find out why so many ask for one "
        "lock.",
        severity="warning" if is_too_long else "info",
    )


def _in_line(ctx: LockContext, waiting: int) -> str:
    if ctx.lock.has_standbys:
        return count(waiting, "candidate is in line", "candidates are in line")
    return waits(waiting)
