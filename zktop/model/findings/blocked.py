"""B: blocked for good, or for long, without any cycle."""

import re
from collections.abc import Iterator

from zktop.model.facts import Millis, Session, split
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import (
    DEADLOCKS,
    SILENCE,
    LookAgainAt,
    MissingInput,
    RuleMatch,
    RuleResult,
    rule,
)
from zktop.model.format import short, waits
from zktop.model.locks.lock import Member
from zktop.model.text import Text
from zktop.model.waits.sentences import span

LONGEST_TIMEOUT = 40_000  # what servers grant at most by default: 20 ticks of 2 s
LEASES_SINCE = 2
BEYOND, FAR_BEYOND = 10, 20  # times the 99th percentile
NO_USUAL = MissingInput("too few finished holds were seen to know what is usual", "history")

_SEQUENTIAL = r"(?s).*\d{10}"


@rule(
    "B1",
    "orphan",
    "critical",
    "lock",
    needs=("stats",),
    code="ORP",
    rank=10,
    blocks="forever",
    means="A persistent node stands in the queue: no session's end will ever remove it.",
    only_if=("warnings",),
)
def orphan(look: LockContext) -> Iterator[RuleResult]:
    """Find a node without owner that blocks somebody for longer than its creator may need."""
    if "persistent-contender" not in look.lock.warnings:
        return
    usual = look.usual
    bound = max(look.thresholds.orphan, BEYOND * usual[1] if usual else 0)
    for member in look.members:
        age, blocked = look.age(member), look.waiters_behind[member.node]
        if member.owner or not blocked or age is None:
            continue
        if age <= bound:
            yield LookAgainAt(look.now_ms + bound - age + 1)
        else:
            yield _orphan(look, member, blocked, age)


def _orphan(look: LockContext, member: Member, blocked: int, age: int) -> RuleMatch:
    named = f" and labelled {short(member.label)}" if member.label else ""
    return RuleMatch(
        about=look.about(member),
        sentence=f"{short(member.node)} in {look.name} has no owner; {waits(blocked)} for it; "
        "nobody will ever delete it.",
        confidence="C3",
        evidence=(
            (True, f"ephemeralOwner is 0, and the node is {span(age)} old{named}"),
            (None, "nobody keeps a persistent lock here on purpose"),
            (False, "it vanishes by itself: then it was a TTL node"),
        ),
        advice="Ask the owner of the application. This is the one case in which deleting the "
        "node by hand may be right.",
        since=member.ctime,
    )


@rule(
    "B5",
    "stale-ephemeral",
    "critical",
    "lock",
    needs=("stats", "expiry"),
    code="GHO",
    rank=16,
    blocks="forever",
    after=(("node", "B2"),),
    means="An ephemeral node outlived its session: the servers are inconsistent.",
    only_if=("lists",),
)
def stale_ephemeral(look: LockContext) -> Iterator[RuleResult]:
    """Find an owner that no list of sessions has, for longer than any session can hide."""
    for session, places in look.owned.items():
        newest = max(place.znode.newest for place in places)
        if look.ensemble.orphaned(session, newest):
            yield RuleMatch(
                about=look.about(*places),
                sentence=f"{short(places[0].node)} in {look.name} belongs to "
                f"{look.who(places[0])}, a session that no longer exists; nothing will remove it.",
                confidence="C4",
                evidence=(
                    (True, "no list of sessions has had it for longer than any timeout"),
                    (None, "it is no local session, which the leader would not list"),
                ),
                advice="Collect `dump` of all servers and restart the one that still has the "
                "node; delete the node by hand only if that does not help.",
                as_of=max(one.expiry.at for one in look.ensemble.tables),
                patience_ms=LONGEST_TIMEOUT,
            )


@rule(
    "B6",
    "lease-leak",
    "warning",
    "lock",
    needs=("stats", "connections", "history"),
    code="LEA",
    blocks="long",
    is_delay=True,
    after=(("node", DEADLOCKS), ("session", SILENCE)),
    means="A client keeps a lease that it seems to have forgotten, and takes others meanwhile.",
    only_if=("semaphore", "waiters"),
)
def lease_leak(look: LockContext) -> Iterator[RuleResult]:
    """Find a lease held far beyond the usual by a session that returned newer ones."""
    usual = look.usual
    if look.lock.kind != "semaphore" or not look.waiters:
        return
    if usual is None:
        yield NO_USUAL
        return
    bound = FAR_BEYOND * usual[1]
    for lease in look.holders:
        since, newer = look.past.granted(lease.node).at, _returned_since(look, lease)
        if since is None or newer < LEASES_SINCE or not look.ensemble.connected(lease.owner):
            continue
        held = look.now_ms - since
        yield _leak(look, lease, held, newer) if held > bound else LookAgainAt(since + bound + 1)


def _returned_since(look: LockContext, lease: Member) -> int:
    return sum(
        gone.session == lease.owner and gone.czxid > lease.czxid and gone.ending == "released"
        for gone in look.past.departures
    )


def _leak(look: LockContext, lease: Member, held: int, newer: int) -> RuleMatch:
    owner = look.who(lease)
    return RuleMatch(
        about=look.about(lease),
        sentence=f"{owner} has kept a lease of {look.name} for {span(held)} and returned "
        f"{newer} newer ones meanwhile: it was probably never closed.",
        confidence="C2",
        evidence=(
            (True, f"held for more than {FAR_BEYOND} times the usual longest"),
            (True, "its session is connected, and uses the same pool"),
            (False, "the job behind this lease really takes that long"),
        ),
        advice=f"Look in {owner} for a path that takes a lease and never closes it; "
        f"{waits(len(look.waiters))}.",
        since=look.now_ms - held,
    )


@rule(
    "B7",
    "too-many-leases",
    "warning",
    "lock",
    needs=("names", "leases"),
    code="LEA",
    means="More leases are out than the pool has: its users disagree about its size.",
    only_if=("semaphore",),
)
def too_many_leases(look: LockContext) -> Iterator[RuleResult]:
    """Find a pool of known size that has given out more."""
    size, out = look.lock.leases, len(look.holders)
    if look.lock.kind != "semaphore":
        return
    if size is None or look.lock.leases_are != "known":
        yield MissingInput("the number of leases is not known", "leases")
    elif out > size:
        yield RuleMatch(
            about=look.about(*look.holders, key=("leases", size)),
            sentence=f"{out} leases of {look.name} are out, but it has only {size}.",
            confidence="C3",
            evidence=(
                (True, f"{out} lease nodes, not counting one that is still being asked for"),
                (None, "the number was not lowered just now"),
            ),
            advice="Compare the number of leases that each participant was started with.",
            patience_ms=look.thresholds.settle,
        )


@rule(
    "B8",
    "zombie-holder",
    "warning",
    "lock",
    needs=("stats", "connections", "history"),
    code="STK",
    blocks="long",
    is_delay=True,
    after=(("node", DEADLOCKS), ("session", SILENCE), ("node", "L2")),
    means="The holder's process answers pings and does nothing else: stuck, or it forgot to "
    "release.",
    only_if=("waiters", "connections"),
)
def zombie_holder(look: LockContext) -> Iterator[RuleResult]:
    """Find a holder far beyond the usual that sends nothing but pings."""
    usual = look.usual
    if not look.waiters or look.lock.kind == "election":
        return
    if usual is None:
        yield NO_USUAL
        return
    bound = max(FAR_BEYOND * usual[1], look.thresholds.long_hold)
    for holder in look.holders:
        since = _pings_only_since(look, holder)
        if since is None or look.is_tangled(holder):
            continue
        if look.now_ms - since <= bound:
            yield LookAgainAt(since + bound + 1)
        elif not any(hidden_waits(look, holder.owner)):
            yield _zombie(look, holder, since)


def _pings_only_since(look: LockContext, holder: Member) -> Millis | None:
    """Since when it both holds and sends pings only."""
    since = look.past.granted(holder.node).at
    idle = look.around.sessions.idle_since(holder.owner)
    presence = look.ensemble.presence(holder.owner)
    if since is None or idle is None or presence is None:
        return None
    return max(since, idle) if presence.last_operation == "PING" else None


def _zombie(look: LockContext, holder: Member, since: Millis) -> RuleMatch:
    owner = look.who(holder)
    return RuleMatch(
        about=look.about(holder),
        sentence=f"{owner} holds {look.name}, answers pings and has made no request for "
        f"{span(look.now_ms - since)}; {waits(len(look.waiters))}.",
        confidence="C2",
        evidence=(
            (True, "its last operation is a ping and its request counter stands still"),
            (True, f"that is more than {FAR_BEYOND} times the usual longest hold"),
            (False, "its work needs no ZooKeeper and really takes that long"),
        ),
        advice=f"Take a thread dump of {owner}: which thread owns the lock, and what does it do?",
        since=since,
    )


@rule(
    "B9",
    "hidden-wait",
    "info",
    "lock",
    needs=("names", "watches"),
    code="STK",
    after=(("session", DEADLOCKS),),
    means="The holder seems to wait for a lock that is not being watched.",
    only_if=("waiters", "watches"),
)
def hidden_wait(look: LockContext) -> Iterator[RuleResult]:
    """Find a holder that watches somebody's sequential node outside of all known locks."""
    for holder in look.holders if look.waiters else ():
        for path in hidden_waits(look, holder.owner):
            yield _hidden(look, holder, path)


def hidden_waits(look: LockContext, session: Session) -> Iterator[Text]:
    """Give the nodes outside of all known locks that this session may be waiting for."""
    for path in sorted(look.ensemble.watched(session) or ()):
        if not re.fullmatch(_SEQUENTIAL, path) or path in look.at_path:
            continue
        parent = split(path)[0]
        is_known = look.around.is_read(parent) or look.around.is_lock(split(parent)[0])
        if not is_known and look.ensemble.owner_of(path) != session:
            yield path


def _hidden(look: LockContext, holder: Member, path: Text) -> RuleMatch:
    parent, node = split(path)
    other = look.ensemble.owner_of(path)
    return RuleMatch(
        about=look.about(holder, key=(holder.node, path)),
        sentence=f"{look.who(holder)} holds {look.name} and probably waits for {short(node)} in "
        f"{short(parent)}, which is not among the watched locks.",
        confidence="C2" if other else "C1",
        evidence=(
            (True, f"its session watches {short(node)}"),
            (True, f"that node belongs to {look.around.who(other)}")
            if other
            else (None, "that node belongs to somebody else"),
            (None, "it watches it in order to get a lock"),
        ),
        advice=f"Watch {short(parent)} too (--root): a deadlock through it is invisible now.",
        as_of=look.ensemble.watched_at(holder.owner),
    )
