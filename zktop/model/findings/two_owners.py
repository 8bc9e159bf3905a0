"""S1, S2, S4 and S5: two owners at once, now or soon.

S4 is about a writer that also reads. Before version 5.5, Curator gave the read node its own
number, after those of writers that had queued in between: when the owner stops writing, the first
of them gets the lock while the owner still reads.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, permutations
from operator import attrgetter

from zktop.model.facts import Session
from zktop.model.findings.context import RECENT_MS, LockContext, MemberWatches
from zktop.model.findings.finding import (
    FindingSubject,
    LookAgainAt,
    Reason,
    Rule,
    RuleMatch,
    RuleResult,
)
from zktop.model.findings.missed_wakeups import (
    first_by_name_on_arrival,
    may_have_kept_reading,
    may_own_alongside_readers,
    readers_first_by_name,
    waiters_first_by_name,
    watching_by_name,
)
from zktop.model.format import clock, count, several, short
from zktop.model.history.events import FormerMember
from zktop.model.locks.lock import Member
from zktop.model.locks.queue_oddities import DISORDER, has_client
from zktop.model.owner_list import NAME
from zktop.model.session_ids import session_text
from zktop.model.text import Text

_ADVICE = "Upgrade Curator in {} (CURATOR-621), or release the read lock first."


@Rule("S4", "downgrade-overlap", "critical", code="TWO", rank=9, only_if=("several", "read-write"))
def downgrade_overlap(ctx: LockContext) -> Iterator[RuleResult]:
    """A writer also reads; when it stops writing, it and the next writer both own the lock."""
    if ctx.lock.kind != "read-write":
        return
    for queue in ctx.lock.queues:
        holders = [member for member in queue.holders if member.owner]
        writes = {holder.owner: holder for holder in reversed(holders) if holder.mode == "write"}
        for read in (member for member in holders if member.mode == "read"):
            write = writes.get(read.owner)
            if write is None or write.sequence == read.sequence:
                continue
            start, end = ctx.place[write.node] + 1, ctx.place[read.node]
            between = [member for member in queue.members[start:end] if member.mode == "write"]
            if between:
                yield _overlap(ctx, write, read, between[0])
    for waiter in ctx.mismatched:
        if may_have_kept_reading(ctx, waiter):
            yield _overlapping(ctx, waiter.member)


def _overlap(ctx: LockContext, write: Member, read: Member, following: Member) -> RuleMatch:
    owner, other = ctx.name_of(read), ctx.name_of(following)
    return RuleMatch(
        about=ctx.about(write, read, following),
        sentence=f"If {owner} releases its write lock of {ctx.name} now, {other} becomes writer "
        f"while {owner} still reads.",
        confidence="C3",
        evidence=(
            (True, f"{owner} owns a write lock and a later read lock"),
            (True, f"{other} queued for writing between the two"),
            (None, "the client uses a version of Curator older than 5.5.0"),
        ),
        advice=_ADVICE.format(owner),
    )


def _overlapping(ctx: LockContext, read: Member) -> RuleMatch:
    write = ctx.members[0]
    owner, other = ctx.name_of(read), ctx.name_of(write)
    return RuleMatch(
        about=ctx.about(write, read),
        sentence=f"{owner} may still read {ctx.name} although {other} may write: {other} was "
        f"granted when {owner} stopped writing.",
        confidence="C2",
        evidence=(
            (True, f"{owner} watches nothing, as if it had the lock"),
            (None, "the client uses a version of Curator older than 5.5.0"),
            (False, "it waits and has lost its watch: then nothing will wake it"),
        ),
        advice=_ADVICE.format(owner),
        as_of=ctx.ensemble.watched_at(read.owner),
        patience_ms=ctx.thresholds.settle,
    )


CERTAIN_SESSIONS = 3  # it is no coincidence if so many sort by name


@Rule(
    "S1",
    "sorts-by-name",
    "critical",
    tables=("watches",),
    code="TWO",
    rank=7,
    only_if=("waiters", "watches"),
)
def sorts_by_name(ctx: LockContext) -> Iterator[RuleResult]:
    """A client orders the queue by whole names instead of numbers: two may own the lock."""
    # If the whole queue is sorted by name, a client that does so is not wrong.
    is_wrong = DISORDER not in ctx.lock.warnings
    waiters = ctx.mismatched if is_wrong else ctx.waiting
    by_name = watching_by_name(ctx, waiters)
    wrong = [waiter for waiter in waiters if waiter.member.node in by_name]
    for queue in ctx.lock.queues:
        in_queue = [waiter for waiter in wrong if ctx.lock.queue_of(waiter.member) is queue]
        if in_queue:
            yield _sorts_by_name(ctx, in_queue, first_by_name_on_arrival(queue.members))
    if wrong:
        return
    readers = readers_first_by_name(ctx)
    if readers:
        yield _reads_by_name(ctx, readers)
        return
    # L1 reports the waiters whose watches are known to be wrong.
    asleep = {waiter.member.node for waiter in ctx.mismatched if ctx.is_wrong(waiter)}
    may_own = [waiter for waiter in waiters_first_by_name(ctx) if waiter.node not in asleep]
    if may_own:
        yield _may_sort_by_name(ctx, may_own)


def _reads_by_name(ctx: LockContext, readers: list[Member]) -> RuleMatch:
    names, each = several(ctx.names(readers)), _each(ctx, readers)
    return RuleMatch(
        about=ctx.about(*readers, key=("reads-by-name",)),
        sentence=f"{names} may read {ctx.name} while a client writes: by number {each} must wait, "
        "by name a reader is always first.",
        confidence="C2",
        evidence=(
            (True, f"{each} watches nothing here, as if it did not wait"),
            (True, "the names of all readers sort before those of the writers"),
            (False, f"{each} waits and has lost its watch: then nothing will wake it"),
        ),
        advice=_check_of_order(ctx, readers),
        patience_ms=ctx.thresholds.settle,
        as_of=ctx.ensemble.watched_at(readers[0].owner),
    )


def _sorts_by_name(
    ctx: LockContext, wrong: list[MemberWatches], may_own: list[Member]
) -> RuleMatch:
    sorting = [waiter.member for waiter in wrong]
    watch = "watches" if _is_one(ctx, sorting) else "watch"
    watching = f"{several(ctx.names(sorting))} {watch}"
    first = may_own[0]
    others = [member for member in may_own[1:] if member.owner != first.owner]
    others_named = several(ctx.names(reversed(others)))
    came = "it came, sorts wrongly" if _is_one(ctx, others) else "they came, sort wrongly"
    two_owners = (
        f"{ctx.name} may have two owners: {ctx.name_of(first)} (first by number) and "
        f"{others_named} (first by name when {came})."
    )
    one_owner = (
        f"{ctx.name_of(wrong[0].member)} sorts {ctx.name} by name: two owners are possible."
    )
    return RuleMatch(
        about=ctx.about(*may_own, key=("by-name",)),
        sentence=two_owners if others else one_owner,
        confidence="C4" if len(wrong) >= CERTAIN_SESSIONS else "C3",
        evidence=(
            (True, f"{watching} the neighbour by name, not the one by number"),
            (None, "every client of this lock sorts in the same way"),
        ),
        advice="Stop one of the owners and check what both did. Then fix the client: compare the "
        "number at the end, not the whole name.",
        as_of=ctx.ensemble.watched_at(wrong[0].member.owner),
        patience_ms=ctx.thresholds.settle,
    )


def _may_sort_by_name(ctx: LockContext, may_own: list[Member]) -> RuleMatch:
    names, each = several(ctx.names(may_own)), _each(ctx, may_own)
    return RuleMatch(
        about=ctx.about(*may_own, key=("may-sort-by-name",)),
        sentence=f"By number, {names} must wait in {ctx.name}, but {each} was first by name when "
        "it came: a client that sorts names would believe that it owns the lock.",
        confidence="C1",
        evidence=(
            (True, f"{each} watches nothing here that a table shows, as if it did not wait"),
            (False, f"{each} watches the list of children, which no table shows"),
        ),
        advice=_check_of_order(ctx, may_own),
        severity="info",
        patience_ms=ctx.thresholds.settle,
        as_of=ctx.ensemble.watched_at(may_own[0].owner),
    )


def _is_one(ctx: LockContext, members: list[Member]) -> bool:
    return len(set(ctx.names(members))) == 1


def _each(ctx: LockContext, members: list[Member]) -> str:
    return "it" if _is_one(ctx, members) else "each"


def _check_of_order(ctx: LockContext, members: list[Member]) -> str:
    names = several(ctx.names(members))
    is_one = _is_one(ctx, members)
    sorts = f"the client of {names} sorts" if is_one else f"the clients of {names} sort"
    return f"Check how {sorts}: by the number at the end or by whole names."


@Rule(
    "S2",
    "two-libraries-on-one-path",
    "critical",
    former_name="blind-neighbours",
    code="TWO",
    rank=8,
    after=(("lock", "S6"),),
    only_if=("several",),
)
def two_libraries_on_one_path(ctx: LockContext) -> Iterator[RuleResult]:
    """Two libraries, or two recipes, use one lock and do not see each other's nodes."""
    for waiter in ctx.mismatched:
        if may_own_alongside_readers(ctx, waiter):
            yield _beside_readers(ctx, waiter.member)
    if len(ctx.lock.queues) > 1:
        if ctx.are_several_locks:
            return
        owned = (filter(has_client, queue.holders) for queue in ctx.lock.queues)
        heads = [head for holders in owned for head in islice(holders, 1)]
        if _conflict(heads):
            yield _several_owners(ctx, heads)
        return
    numbers = [member.sequence for member in ctx.holders if member.sequence is not None]
    if len(set(numbers)) < len(numbers) and _conflict(list(ctx.holders)):
        yield _several_owners(ctx, list(ctx.holders))


def _beside_readers(ctx: LockContext, member: Member) -> RuleMatch:
    owner = ctx.name_of(member)
    readers = ctx.lock.queue_of(member).members[: ctx.place[member.node]]
    return RuleMatch(
        about=ctx.about(member, *readers),
        sentence=f"{owner} may own {ctx.name} together with {count(len(readers), 'reader')}: a "
        "plain Lock of kazoo does not see readers.",
        confidence="C2",
        evidence=(
            (True, f"{owner} watches nothing, as if it had the lock"),
            (None, "it is a Lock, not a WriteLock; their nodes look the same"),
            (False, "it waits and has lost its watch: then nothing will wake it"),
        ),
        advice="Use WriteLock wherever others use ReadLock.",
        as_of=ctx.ensemble.watched_at(member.owner),
        patience_ms=ctx.thresholds.settle,
    )


def _conflict(heads: list[Member]) -> bool:
    """Whether several sessions own a lock that not all of them may share."""
    shared = {"read", "lease"}
    several_owners = len({head.owner for head in heads}) > 1
    return several_owners and not all(head.mode in shared for head in heads)


def _several_owners(ctx: LockContext, heads: list[Member]) -> RuleMatch:
    owners = several(f"{ctx.name_of(head)} (first for {head.layout})" for head in heads)
    is_seen = all(ctx.ensemble.watched(head.owner) is not None for head in heads)
    watching = [pair for pair in permutations(heads, 2) if _watches(ctx, *pair)]
    waiting = [(head, other) for head, other in watching if not _watches(ctx, head, head)]
    watch_between: Reason = (None, "no watch table shows whether one of them waits for another")
    if watching:
        head, other = (waiting or watching)[0]
        purpose = "it probably waits for it" if waiting else "it waits for it, or is a cache"
        watched = short(other.znode.name)
        watch_between = False, f"{ctx.name_of(head)} watches {watched}: {purpose}"
    elif is_seen:
        watch_between = True, "no watch shows that one of them waits for another"
    return RuleMatch(
        about=ctx.about(*heads),
        sentence=f"{ctx.name} may have several owners: {owners}.",
        confidence="C3" if is_seen and not waiting else "C2",
        evidence=(
            (True, "each of them is first by the rule of its own library"),
            (None, "the clients are not configured to see each other's nodes"),
            watch_between,
        ),
        advice="Use one library for each lock, or configure the name patterns of both.",
    )


def _watches(ctx: LockContext, head: Member, other: Member) -> bool:
    """Whether the owner of a node watches a node; caches watch all nodes, including their own."""
    return ctx.path_of(other.node) in (ctx.ensemble.watched(head.owner) or ())


@Rule(
    "S5",
    "node-deleted-under-holder",
    "warning",
    former_name="robbed-owner",
    tables=("connections",),
    is_in_logs=True,
    code="DEL",
    only_if=("former-members",),
)
def node_deleted_under_holder(ctx: LockContext) -> Iterator[RuleResult]:
    """Another client removed the holder's node; its session goes on as if it owned the lock.

    A transaction log shows which session deleted the node. Without a log, the sign is that the
    node vanished although its live session had made no request since before.
    """
    former_members: Iterable[FormerMember] = ctx.past.all_former_members
    if not ctx.shared.shows_connections:  # then only a transaction log can prove it
        former_members = filter(attrgetter("deleted_by"), former_members)
    for gone in former_members:
        is_recent = ctx.now_ms - gone.gone_at <= RECENT_MS
        has_held = gone.ending != "abandoned" and not gone.held_briefly
        if not is_recent or not gone.session or not has_held:
            continue
        if gone.deleted_by is not None:
            match = _deleted_by_another(ctx, gone, gone.deleted_by)
        else:
            match = _vanished(ctx, gone)
        if match is not None:
            yield match
            yield LookAgainAt(gone.gone_at + RECENT_MS + 1)


def _label_of(ctx: LockContext, session: Session) -> Text | None:
    """The label that a session has or had in this lock, or in the previous one at its path."""
    members = (member.label for member in ctx.members if member.owner == session)
    left = (gone.label for gone in ctx.past.all_former_members if gone.session == session)
    return next(filter(None, (*members, *left)), None)


def _deleted_by_another(ctx: LockContext, gone: FormerMember, other: Session) -> RuleMatch | None:
    label = _label_of(ctx, other)
    if label is not None and label == gone.label:
        return None  # a client removed the node of its own earlier session
    owner, by = ctx.shared.name_of(gone.session, gone.label), ctx.shared.name_of(other, label)
    if by == session_text(other):
        # The name alone is not enough: other sessions may have it too.
        known = ctx.shared.client_names.owners.details_of(by, "")
        by = f"session {by} ({known[Text(NAME)]})" if known else f"session {by}"
    has_ended = ctx.ensemble.alive(gone.session) is False
    lives = "lived on for a while" if has_ended else "lives on"
    return RuleMatch(
        about=_about_former_member(ctx, gone),
        sentence=f"{by} deleted the node of {owner}, which held {ctx.name}, at "
        f"{clock(gone.gone_at)}. The session of {owner} {lives}: it may have gone on as if it "
        "owned the lock.",
        confidence="C4",
        evidence=(
            (True, f"the transaction log has the deletion: session {session_text(other)}"),
            (True, f"the node belonged to session {session_text(gone.session)}"),
        ),
        advice=f"Find out who {by} is, and what {owner} did after {clock(gone.gone_at)}.",
        since=gone.gone_at,
        at_once=True,
    )


def _vanished(ctx: LockContext, gone: FormerMember) -> RuleMatch | None:
    """Return the match if the node vanished without a request of its live session."""
    presence = ctx.ensemble.presence(gone.session)
    if presence is None or presence.at <= gone.gone_at:
        return None
    if (presence.established or 0) >= gone.gone_at:
        return None
    if not ctx.shared.sessions.idle_before(gone.session, gone.gone_at):
        return None
    owner = ctx.shared.name_of(gone.session, gone.label)
    return RuleMatch(
        about=_about_former_member(ctx, gone),
        sentence=f"{owner} lost {ctx.name} at {clock(gone.gone_at)} without releasing it, and its "
        "session lives on: it may still believe that it owns the lock.",
        confidence="C1",
        evidence=(
            (True, "its node is gone, and it has sent nothing but pings since before that"),
            (None, "a live server does not report who deleted a node"),
        ),
        advice=f"Find out who deleted the node, and what {owner} did after {clock(gone.gone_at)}.",
        since=gone.gone_at,
        as_of=presence.at,
        patience_ms=ctx.thresholds.settle,  # the table may predate its release
    )


def _about_former_member(ctx: LockContext, gone: FormerMember) -> FindingSubject:
    key = (ctx.path, gone.node, gone.czxid)
    return FindingSubject(ctx.path, (gone.node,), (gone.session,), key)
