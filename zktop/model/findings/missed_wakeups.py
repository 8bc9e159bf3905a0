"""L1 to L5: waiters that nothing will wake.

A waiter watches another node. If it watches nothing, its wake-up is lost, unless it owns the lock
by the rules of another client: two recipes write nodes that look alike, and some clients compare
whole names instead of the numbers at their end. The first section finds such clients.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from zktop.model.facts import last_name
from zktop.model.findings.busy_pollers import is_polling
from zktop.model.findings.context import LockContext, MemberWatches
from zktop.model.findings.finding import SILENCE, LookAgainAt, Rule, RuleMatch, RuleResult
from zktop.model.format import short, span, waits
from zktop.model.history.lock_change import arrival
from zktop.model.locks.lock import Lock, Member, absolute_path
from zktop.model.locks.watch_check import POLL_MS
from zktop.model.text import Text


def may_have_kept_reading(ctx: LockContext, waiter: MemberWatches) -> bool:
    """Whether a waiter may be a reader that still owns the lock together with the first writer.

    Before version 5.5, Curator admits that writer when a writer that also reads stops writing.
    """
    if waiter.watched or "possible-lost-downgrade" not in ctx.lock.warnings:
        return False
    is_next = waiter.member.mode == "read" and ctx.place[waiter.member.node] == 1
    return is_next and ctx.is_wrong(waiter)


def may_own_alongside_readers(ctx: LockContext, waiter: MemberWatches) -> bool:
    """Whether a waiter may be a plain Lock of kazoo, which ignores readers, and be first.

    A WriteLock would watch the last of the readers.
    """
    member = waiter.member
    if member.layout != "kazoo-lock" or member.mode != "write" or waiter.watched:
        return False
    ahead = ctx.lock.queue_of(member).members[: ctx.place[member.node]]
    return (
        bool(ahead) and all(earlier.mode == "read" for earlier in ahead) and ctx.is_wrong(waiter)
    )


def watching_by_name(ctx: LockContext, waiters: Sequence[MemberWatches]) -> dict[Text, Member]:
    """Map waiters that watch their neighbour by name, not the one by number, to that neighbour."""
    if not waiters:
        return {}
    names, arrivals = _neighbours(ctx.lock, _node), _neighbours(ctx.lock, arrival)
    by_name_of: dict[Text, Member] = {}
    for waiter in waiters:
        node = waiter.member.node
        by_name, by_arrival = names.get(node), arrivals.get(node)
        if by_name is None or by_arrival is None or by_name is by_arrival or not waiter.is_sole:
            continue
        path = ctx.path_of(by_name.node)
        if path not in waiter.others or ctx.path_of(by_arrival.node) in waiter.others:
            continue
        # A reader's nearest writer may happen to be its neighbour by name: then all is well,
        # unless the whole queue is sorted by names.
        members = ctx.lock.queue_of(waiter.member).members
        if path not in waiter.expected or _is_sorted_by_name(members):
            by_name_of[node] = by_name
    return by_name_of


def first_by_name_on_arrival(members: Sequence[Member]) -> list[Member]:
    """The members whose name was the smallest of all when they came.

    >>> from zktop.model.world.children_of_znode import Znode
    >>> def member(czxid, name):
    ...     stat = Stat(czxid=czxid, mzxid=czxid, ctime=0)
    ...     return Member(name, "exclusive", czxid, "x", None, None, Znode(name, stat))
    >>> from zktop.model.facts import Stat
    >>> [first.node for first in first_by_name_on_arrival(list(map(member, range(1, 5), "fcga")))]
    ['f', 'c', 'a']
    """
    smallest: list[Member] = []
    for member in sorted(members, key=arrival):
        if not smallest or member.node < smallest[-1].node:
            smallest.append(member)
    return smallest


def waiters_first_by_name(ctx: LockContext) -> list[Member]:
    """The waiters that watch nothing here, and whose whole names were the smallest."""
    unwatching = {
        waiter.member.node
        for waiter in ctx.mismatched
        if waiter.expected
        and not waiter.watched
        and not ctx.ensemble.hides_watches(waiter.member.owner)
    }
    if not unwatching:
        return []
    return [
        member
        for queue in ctx.lock.queues
        for member in first_by_name_on_arrival(queue.members)
        if member.node in unwatching
    ]


def readers_first_by_name(ctx: LockContext) -> list[Member]:
    """Of `waiters_first_by_name`, the readers in queues where all readers sort before the writers.

    By name such a reader never has to wait: if it watches nothing, no wake-up is lost.
    """
    wrong = {waiter.member.node for waiter in ctx.mismatched if ctx.is_wrong(waiter)}
    return [
        member
        for member in waiters_first_by_name(ctx)
        if member.mode == "read"
        and member.node in wrong
        and _readers_sort_first(ctx.lock.queue_of(member).members)
    ]


def _readers_sort_first(members: Sequence[Member]) -> bool:
    reads = [member.node for member in members if member.mode == "read"]
    others = [member.node for member in members if member.mode != "read"]
    return bool(reads and others) and max(reads) < min(others)


def _neighbours(
    lock: Lock, order: Callable[[Member], tuple[int | str, ...]]
) -> dict[Text, Member]:
    """Map each node to the previous member, if its queue is sorted in this order."""
    return {
        later.node: earlier
        for queue in lock.queues
        for earlier, later in pairwise(sorted(queue.members, key=order))
    }


def _is_sorted_by_name(members: Sequence[Member]) -> bool:
    return all(earlier.node < later.node for earlier, later in pairwise(members))


def _node(member: Member) -> tuple[int | str, ...]:
    return (member.node,)


@Rule(
    "L1",
    "no-watch",
    "critical",
    tables=("watches",),
    code="WAK",
    rank=18,
    blocks="long",
    after=(("node", "D7 S1"),),
    only_if=("waiters", "watches"),
)
def no_watch(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter watches nothing in this lock, so nothing will wake it."""
    readers = {member.node for member in readers_first_by_name(ctx)}
    for waiter in ctx.mismatched:
        may_own = may_have_kept_reading(ctx, waiter) or may_own_alongside_readers(ctx, waiter)
        if may_own or waiter.member.node in readers:
            continue
        if waiter.expected and not waiter.watched and not is_polling(ctx, waiter.member.owner):
            if ctx.is_wrong(waiter):
                yield _no_watch(ctx, waiter)
            elif ctx.watch_check.is_awake(waiter.member):
                yield LookAgainAt(ctx.now_ms + POLL_MS)


def _no_watch(ctx: LockContext, waiter: MemberWatches) -> RuleMatch:
    member, target = waiter.member, min(waiter.expected)
    name = ctx.name_of(member)
    return RuleMatch(
        about=ctx.about(member, key=(member.node, target)),
        sentence=f"{name} waits in {ctx.name} and watches nothing there: nothing will wake it "
        f"when {short(last_name(target))} goes.",
        confidence="C3",
        evidence=(
            (True, f"its recipe watches {short(last_name(target))}, and its session does not"),
            (None, "its client does not poll, and is not just between two watches"),
        ),
        advice=f"Restart {name}; in its client, look for a race between listing the queue and "
        "setting the watch.",
        as_of=ctx.ensemble.watched_at(member.owner),
        patience_ms=ctx.thresholds.settle,
    )


@Rule(
    "L2",
    "missed-wake-up",
    "critical",
    former_name="silent-head",
    tables=("connections",),
    code="WAK",
    rank=17,
    blocks="long",
    after=(("node", "D7"), ("session", SILENCE)),
    only_if=("connections",),
)
def missed_wake_up(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter has become first in the queue and has not noticed: its wake-up is lost."""
    for head in ctx.holders:
        granted = ctx.past.granted(head)
        since = granted.at
        came, presence = ctx.past.queued(head).at, ctx.ensemble.presence(head.owner)
        if since is None or granted.bound != "seen" or came is None or presence is None:
            continue
        idle = ctx.shared.sessions.idle_before(head.owner, since)
        if came < since and idle and presence.at > since + ctx.thresholds.settle:
            yield _missed_wake_up(ctx, head, since)


def _missed_wake_up(ctx: LockContext, head: Member, since: int) -> RuleMatch:
    name = ctx.name_of(head)
    return RuleMatch(
        about=ctx.about(head),
        sentence=f"{name} has been first in {ctx.name} for {span(ctx.now_ms - since)} but has "
        "sent no request since it became first.",
        confidence="C4",
        evidence=(
            (True, "it must list the queue before it can know that it is first"),
            (True, "its connection is up, and its request counter has not changed since before"),
            (False, "it uses a persistent watch, which needs no further request"),
        ),
        advice=f"Restart {name}, or take its thread dump: its event thread is blocked or the "
        f"wake-up got lost; {waits(ctx.waiters_behind[head.node])} behind it.",
        since=since,
    )


@Rule(
    "L3",
    "watch-on-deleted-node",
    "critical",
    former_name="watch-into-the-void",
    tables=("watches",),
    code="WAK",
    blocks="long",
    only_if=("waiters", "watches"),
)
def watch_on_deleted_node(ctx: LockContext) -> Iterator[RuleResult]:
    """A session watches a numbered node that is gone: such a name never comes back."""
    foreign = {absolute_path(ctx.path, name) for name in ctx.lock.foreign}
    for waiter in ctx.mismatched:
        unknown = (path for path in waiter.others if path not in ctx.at_path)
        gone = {path for path in unknown if path[-9:].isdecimal() and path not in foreign}
        is_all_listed = waiter.member.node not in ctx.watching_children
        if gone:
            yield _watch_on_deleted_node(
                ctx, waiter, min(gone), is_all=gone == waiter.watched and is_all_listed
            )


def _watch_on_deleted_node(
    ctx: LockContext, waiter: MemberWatches, path: Text, *, is_all: bool
) -> RuleMatch:
    name, node = ctx.name_of(waiter.member), short(last_name(path))
    waiting = f"{name} waits in {ctx.name} for {node}, which is already gone"
    watching = f"{name} still watches {node} in {ctx.name}, which is gone"
    return RuleMatch(
        about=ctx.about(waiter.member, key=(waiter.member.node, path)),
        sentence=f"{waiting}: its only watch will never fire."
        if is_all
        else f"{watching}; its other watches are correct.",
        confidence="C4",
        evidence=(
            (True, f"{node} is not a member, and numbers are never reused"),
            (is_all or None, "it is its only watch in this lock"),
        ),
        advice=f"Restart {name}: its predecessor vanished between the listing and the watch, and "
        "its client did not list again."
        if is_all
        else "Harmless: it is left over from an earlier wait.",
        severity="critical" if is_all else "info",
        as_of=ctx.ensemble.watched_at(waiter.member.owner),
        patience_ms=ctx.thresholds.settle,
    )


@Rule(
    "L4",
    "wrong-target",
    "warning",
    tables=("watches",),
    code="WAK",
    after=(("node", "D7"), ("lock", "S1")),
    only_if=("waiters", "watches"),
)
def wrong_target(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter watches a member of its queue that its library should not watch."""
    by_name = watching_by_name(ctx, ctx.mismatched)
    for waiter in ctx.mismatched:
        watched = (ctx.at_path.get(path) for path in waiter.others)
        queue = ctx.lock.queue_of(waiter.member)
        watched_members = [
            member for member in watched if member and ctx.lock.queue_of(member) is queue
        ]
        is_wrong = waiter.is_sole and waiter.expected and not waiter.others & waiter.expected
        if not is_wrong or not watched_members or waiter.member.node in by_name:
            continue
        place = ctx.place[waiter.member.node]
        if any(ctx.place[other.node] < place for other in watched_members):
            yield _wrong_target(ctx, waiter, watched_members)


def _wrong_target(ctx: LockContext, waiter: MemberWatches, watched: list[Member]) -> RuleMatch:
    member = waiter.member
    name, target = ctx.name_of(member), short(last_name(min(waiter.expected)))
    nearest = max(watched, key=lambda other: ctx.place[other.node])
    return RuleMatch(
        about=ctx.about(member, key=(member.node, nearest.node, target)),
        sentence=f"{name} waits in {ctx.name} and watches {short(nearest.node)}; its library "
        f"should watch {target}.",
        confidence="C3",
        evidence=(
            (True, f"by the order of {member.layout}, {target} is what it waits for"),
            (True, f"what it watches is {_described(ctx, member, nearest)}"),
            (None, "the layout was recognised correctly"),
        ),
        advice="Either another library or another version made this node; tell zktop the layout "
        "of this lock (--layout), or upgrade the client.",
        as_of=ctx.ensemble.watched_at(member.owner),
        patience_ms=ctx.thresholds.settle,
    )


def _described(ctx: LockContext, member: Member, target: Member) -> str:
    """Describe a watched node by the order in which it would be the right one."""
    members = ctx.lock.queue_of(member).members
    place, other = ctx.place[member.node], ctx.place[target.node]
    writers = [number for number in range(place) if members[number].mode != "read"]
    if other == place - 1:
        return "the one right before it"
    if other == 0:
        return "the first of the queue"
    if writers and other == writers[0]:
        return "the first writer, as Curator's readers watch it"
    if writers and other == writers[-1]:
        return "the nearest writer, as kazoo's readers watch it"
    return f"{place - other} places before it, which no known library watches"


@Rule(
    "L5", "self-watch", "warning", tables=("watches",), code="WAK", only_if=("waiters", "watches")
)
def self_watch(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter watches only its own node: it will wake when it gives up, not before."""
    for waiter in ctx.mismatched:
        is_alone = waiter.is_sole and waiter.expected and waiter.watched and not waiter.others
        if is_alone and ctx.is_wrong(waiter):
            name = ctx.name_of(waiter.member)
            yield RuleMatch(
                about=ctx.about(waiter.member),
                sentence=f"{name} waits in {ctx.name} and watches only its own node: nothing "
                "will wake it.",
                confidence="C2",
                evidence=(
                    (True, "its session has one watch in this lock, on its own node"),
                    (False, "it can be revoked, and does not need another watch"),
                ),
                advice=f"Restart {name}. The Java WriteLock does this when it finds its node "
                "again after a lost connection.",
                as_of=ctx.ensemble.watched_at(waiter.member.owner),
                patience_ms=ctx.thresholds.settle,
            )
