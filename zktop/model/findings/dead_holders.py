"""B1 and B5 to B9: holders that will not release: gone, silent, or waiting elsewhere."""

import re
from collections.abc import Iterator

from zktop.model.facts import Millis, split
from zktop.model.findings.context import NO_USUAL_HOLD, LockContext
from zktop.model.findings.finding import (
    DEADLOCKS,
    SILENCE,
    LookAgainAt,
    MissingInput,
    Rule,
    RuleMatch,
    RuleResult,
)
from zktop.model.format import short, span, waits
from zktop.model.freeing.commands_to_copy import free_command
from zktop.model.locks.lock import Member
from zktop.model.text import Text

LONGEST_TIMEOUT_MS = 40_000  # the default maximum of servers: 20 ticks of 2 s
MIN_NEWER_LEASES = 2
MAX_WATCHES = 1_000  # if a session has more, it is unclear which one it waits for
LONG_FACTOR, VERY_LONG_FACTOR = 10, 20  # times the 99th percentile
TOO_MANY_WATCHES = MissingInput(
    f"a holder watches more than {MAX_WATCHES:,} nodes, so what it waits for is unknown", "watches"
)

_SEQUENTIAL = r"(?s).*\d{10}"


@Rule("B1", "orphan", "critical", code="ORP", rank=10, blocks="forever", only_if=("warnings",))
def orphan(ctx: LockContext) -> Iterator[RuleResult]:
    """A persistent node is in the queue: it stays when its creator's session ends.

    It must have blocked others for longer than its creator could need.
    """
    if "persistent-contender" not in ctx.lock.warnings:
        return
    usual = ctx.usual
    bound = max(ctx.thresholds.orphan, LONG_FACTOR * usual.p99_ms if usual else 0)
    blocked_by = _number_blocked(ctx)
    for member in ctx.members:
        age, blocked = ctx.age(member), blocked_by[member.node]
        if member.owner or not blocked or age is None:
            continue
        if age <= bound:
            yield LookAgainAt(ctx.now_ms + bound - age + 1)
        else:
            yield _orphan(ctx, member, blocked, age)


def _number_blocked(ctx: LockContext) -> dict[Text, int]:
    """The number of waiters behind each node that wait for it. Readers do not wait for readers."""
    blocked: dict[Text, int] = {}
    for queue in ctx.lock.queues:
        behind_writer = 0  # the next writer, if it waits, and all waiters behind it
        for member in reversed(queue.members):
            behind = ctx.waiters_behind[member.node]
            blocked[member.node] = behind_writer if member.mode == "read" else behind
            if member.mode != "read":
                behind_writer = behind + ctx.is_waiting(member)
    return blocked


def _orphan(ctx: LockContext, member: Member, blocked: int, age: int) -> RuleMatch:
    named = f" and labelled {short(member.label)}" if member.label else ""
    return RuleMatch(
        about=ctx.about(member),
        sentence=f"{short(member.node)} in {ctx.name} has no owner; {waits(blocked)} for it; "
        "no client will ever delete it.",
        confidence="C3",
        evidence=(
            (True, f"ephemeralOwner is 0, and the node is {span(age)} old{named}"),
            (None, "no client keeps a persistent lock here on purpose"),
            (False, "it vanishes by itself: then it was a TTL node"),
        ),
        advice="Ask the owner of the application. This is the one case in which deleting the "
        f"node by hand may be right: `{free_command(ctx.path)}` prints how.",
        since=member.ctime,
    )


@Rule(
    "B5",
    "stale-ephemeral",
    "critical",
    tables=("expiry",),
    code="GHO",
    rank=16,
    blocks="forever",
    after=(("node", "B2"),),
    only_if=("lists",),
)
def stale_ephemeral(ctx: LockContext) -> Iterator[RuleResult]:
    """An ephemeral node outlived its session: the servers are inconsistent.

    Its owner has been missing from all lists of sessions for longer than any timeout.
    """
    for session, members in ctx.owned.items():
        newest = max(member.znode.newest for member in members)
        if ctx.ensemble.alive(session, newest) is False:
            yield RuleMatch(
                about=ctx.about(*members),
                sentence=f"{short(members[0].node)} in {ctx.name} belongs to "
                f"{ctx.name_of(members[0])}, a session that no longer exists; nothing will "
                "remove it.",
                confidence="C4",
                evidence=(
                    (True, "no list of sessions has shown it for longer than any timeout"),
                    (None, "it is not a local session, which the leader would not list"),
                ),
                advice="Collect `dump` of all servers and restart the one that still has the "
                "node; delete the node by hand only if that does not help.",
                as_of=max(table.expiry.at for table in ctx.ensemble.tables),
                patience_ms=LONGEST_TIMEOUT_MS,
            )


@Rule(
    "B6",
    "lease-leak",
    "warning",
    tables=("connections",),
    code="LEA",
    blocks="long",
    is_delay=True,
    after=(("node", DEADLOCKS), ("session", SILENCE)),
    only_if=("semaphore", "waiters"),
)
def lease_leak(ctx: LockContext) -> Iterator[RuleResult]:
    """A client keeps a lease that it seems to have forgotten, and takes others meanwhile."""
    usual = ctx.usual
    if ctx.lock.kind != "semaphore" or not ctx.waiters:
        return
    if usual is None:
        yield NO_USUAL_HOLD
        return
    bound = VERY_LONG_FACTOR * usual.p99_ms
    for lease in ctx.holders:
        since, newer = ctx.past.granted(lease).at, _returned_since(ctx, lease)
        if since is None or newer < MIN_NEWER_LEASES or not ctx.ensemble.connected(lease.owner):
            continue
        held = ctx.now_ms - since
        yield _leak(ctx, lease, held, newer) if held > bound else LookAgainAt(since + bound + 1)


def _returned_since(ctx: LockContext, lease: Member) -> int:
    return sum(
        gone.session == lease.owner and gone.czxid > lease.czxid and gone.ending == "released"
        for gone in ctx.past.former_members
    )


def _leak(ctx: LockContext, lease: Member, held: int, newer: int) -> RuleMatch:
    owner = ctx.name_of(lease)
    return RuleMatch(
        about=ctx.about(lease),
        sentence=f"{owner} has kept a lease of {ctx.name} for {span(held)} and returned "
        f"{newer} newer ones meanwhile: it was probably never closed.",
        confidence="C2",
        evidence=(
            (True, f"held for more than {VERY_LONG_FACTOR} times the usual longest hold"),
            (True, "its session is connected, and uses the same pool"),
            (False, "the job behind this lease really takes that long"),
        ),
        advice=f"Look in {owner} for a path that takes a lease and never closes it; "
        f"{waits(len(ctx.waiters))}.",
        since=ctx.now_ms - held,
    )


@Rule("B7", "too-many-leases", "warning", code="LEA", only_if=("semaphore",))
def too_many_leases(ctx: LockContext) -> Iterator[RuleResult]:
    """More leases are out than the pool has: its users disagree about its size."""
    size, out = ctx.lock.leases, len(ctx.holders)
    if ctx.lock.kind != "semaphore":
        return
    if size is None or ctx.lock.leases_are != "known":
        yield MissingInput("the number of leases is not known", "leases")
    elif out > size:
        yield RuleMatch(
            about=ctx.about(*ctx.holders, key=("leases", size)),
            sentence=f"{out} leases of {ctx.name} are out, but it has only {size}.",
            confidence="C3",
            evidence=(
                (True, f"{out} lease nodes, not counting one that is still being requested"),
                (None, "the number was not lowered just now"),
            ),
            advice="Compare the number of leases that each participant was started with.",
            patience_ms=ctx.thresholds.settle,
        )


@Rule(
    "B8",
    "zombie-holder",
    "warning",
    tables=("connections",),
    code="STK",
    blocks="long",
    is_delay=True,
    after=(("node", DEADLOCKS), ("session", SILENCE), ("node", "L2")),
    only_if=("waiters", "connections"),
)
def zombie_holder(ctx: LockContext) -> Iterator[RuleResult]:
    """The holder's process keeps pinging and does nothing else: stuck, or it forgot to release."""
    usual = ctx.usual
    if not ctx.waiters or ctx.lock.kind == "election":
        return
    if usual is None:
        yield NO_USUAL_HOLD
        return
    bound = max(VERY_LONG_FACTOR * usual.p99_ms, ctx.thresholds.long_hold)
    for holder in ctx.holders:
        since = _pings_only_since(ctx, holder) if ctx.waiters_for(holder) else None
        if since is None or ctx.is_tangled(holder):
            continue
        if ctx.now_ms - since <= bound:
            yield LookAgainAt(since + bound + 1)
        elif len(_watched(ctx, holder)) > MAX_WATCHES:
            yield TOO_MANY_WATCHES
        elif not any(hidden_waits(ctx, holder)):
            yield _zombie(ctx, holder, since)


def _pings_only_since(ctx: LockContext, holder: Member) -> Millis | None:
    """Return since when it has both held the lock and sent only pings, if that is known."""
    since = ctx.past.granted(holder).at
    idle = ctx.shared.sessions.idle_since(holder.owner)
    presence = ctx.ensemble.presence(holder.owner)
    if since is None or idle is None or presence is None:
        return None
    return max(since, idle) if presence.last_operation == "PING" else None


def _zombie(ctx: LockContext, holder: Member, since: Millis) -> RuleMatch:
    owner = ctx.name_of(holder)
    return RuleMatch(
        about=ctx.about(holder),
        sentence=f"{owner} holds {ctx.name}, keeps pinging and has made no request for "
        f"{span(ctx.now_ms - since)}; {waits(len(ctx.waiters_for(holder)))}.",
        confidence="C2",
        evidence=(
            (True, "its last operation is a ping, and its request counter does not change"),
            (True, f"that is more than {VERY_LONG_FACTOR} times the usual longest hold"),
            (False, "its work needs no ZooKeeper and really takes that long"),
        ),
        advice=f"Take a thread dump of {owner}: which thread owns the lock, and what is it doing?",
        since=since,
    )


@Rule(
    "B9",
    "hidden-wait",
    "info",
    tables=("watches",),
    code="STK",
    after=(("session", DEADLOCKS),),
    only_if=("waiters", "watches"),
)
def hidden_wait(ctx: LockContext) -> Iterator[RuleResult]:
    """The holder seems to wait for a lock that is not being watched.

    It watches a sequential node outside all known locks.
    """
    if not ctx.waiters:
        return
    for holder in ctx.holders:
        if len(_watched(ctx, holder)) > MAX_WATCHES:
            yield TOO_MANY_WATCHES
            continue
        for path in hidden_waits(ctx, holder):
            yield _hidden(ctx, holder, path)


def _watched(ctx: LockContext, member: Member) -> frozenset[Text]:
    return ctx.ensemble.watched(member.owner) or frozenset()


def hidden_waits(ctx: LockContext, holder: Member) -> Iterator[Text]:
    """The nodes outside all known locks that a holder may be waiting for."""
    for path in sorted(_watched(ctx, holder)):
        if not re.fullmatch(_SEQUENTIAL, path) or path in ctx.at_path:
            continue
        parent = split(path)[0]
        is_read = ctx.shared.world.family(parent).listed
        is_known = is_read or split(parent)[0] in ctx.shared.locks
        if not is_known and ctx.ensemble.owner_of(path) != holder.owner:
            yield path


def _hidden(ctx: LockContext, holder: Member, path: Text) -> RuleMatch:
    parent, node = split(path)
    other = ctx.ensemble.owner_of(path)
    if ctx.shared.world.family(parent).denied:
        why = "whose ACL does not let zktop list its children"
        way = "Give zktop an identity that may read it (--auth)"
    else:
        why, way = "which is not among the watched locks", f"Watch {short(parent)} too (--root)"
    return RuleMatch(
        about=ctx.about(holder, key=(holder.node, path)),
        sentence=f"{ctx.name_of(holder)} holds {ctx.name} and probably waits for {short(node)} in "
        f"{short(parent)}, {why}.",
        confidence="C2" if other else "C1",
        evidence=(
            (True, f"its session watches {short(node)}"),
            (True, f"that node belongs to {ctx.shared.name_of(other)}")
            if other
            else (None, "that node belongs to another session"),
            (None, "it watches that node to get a lock"),
        ),
        advice=f"{way}: a deadlock through it is invisible now.",
        as_of=ctx.ensemble.watched_at(holder.owner),
    )
