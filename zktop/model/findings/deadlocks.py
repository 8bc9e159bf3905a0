"""D1 to D10: deadlocks, and lock orders that may lead to one.

The wait graph (model/waits) finds D1 to D6, D8, D9 and D10; here they become findings.
D7 is found here, because only the watch tables show it.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from zktop.model.actors import session_of
from zktop.model.facts import Millis, Session, split
from zktop.model.findings.context import EnsembleContext, LockContext, MemberWatches
from zktop.model.findings.finding import (
    GHOSTS,
    FindingSubject,
    LookAgainAt,
    Rule,
    RuleMatch,
    RuleResult,
    Severity,
)
from zktop.model.format import clock, count, iso, several, short, span
from zktop.model.locks.lock import Lock, LockQueue, Member, absolute_path
from zktop.model.locks.watch_check import MAX_WATCHED_PATHS
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.lock_order_story import Inversion
from zktop.model.waits.wait_queue import QueueKind, WaitQueue, WaitRequest
from zktop.model.waits.watch_deadlocks import watch_deadlocks
from zktop.model.waits.ways_out import kill_or_wait

LockNode = tuple[Text, Text]  # a lock, and a node relative to it

MAX_RING_SESSIONS: Final = 10  # longer rings of watches are not searched for
MAX_SEARCHED_SESSIONS: Final = 40  # in one search for a ring
MAX_WATCHED_LOCKS: Final = 30  # of each of these sessions, held by others
WATCHED_AGAIN_MS: Final[Millis] = 30_000
_KINDS: dict[str, QueueKind] = {"read-write": "read-write", "semaphore": "pool"}
_PROCESS = (
    "Kill one process. Never delete the node of a live session: its owner would keep working."
)


def tangled_nodes(deadlock: Deadlock) -> Iterator[LockNode]:
    """The nodes that the actors of a deadlock own."""
    return ((Text(place.lock), Text(place.node)) for place in deadlock.places)


def _match(deadlock: Deadlock, advice: str, severity: Severity | None = None) -> RuleMatch:
    sessions = (session_of(actor) for actor in deadlock.actors)
    if deadlock.ways_out:
        cheapest = deadlock.ways_out[0]
        deed = f"{kill_or_wait(cheapest.why)} {cheapest.process}, which {cheapest.why}"
        advice = f"{advice} Cheapest: {deed}."
    closing = deadlock.steps[-1].waits.lock if deadlock.steps else None
    return RuleMatch(
        about=FindingSubject(
            Text(closing) if closing else None,
            tuple(dict.fromkeys(Text(place.node) for place in deadlock.places)),
            tuple(session for session in sessions if session),
            locks=tuple(map(Text, deadlock.locks)),
        ),
        sentence=deadlock.sentence + _behind(deadlock.behind),
        confidence=deadlock.confidence,
        evidence=tuple((clue.supports, clue.text) for clue in deadlock.evidence),
        advice=advice,
        since=deadlock.since_ms,
        severity=severity,
        id=deadlock.id,
    )


def _behind(behind: int) -> str:
    return f" {count(behind, 'more waits', 'more wait')} behind." if behind else ""


def _matches(rule_id: str, advice: str, ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Yield the deadlocks of one rule; hints raise no alarm."""
    for deadlock in ctx.deadlocks:
        if deadlock.rule == rule_id:
            is_hint = deadlock.confidence == "C1"
            match = _match(deadlock, advice, "info" if is_hint else None)
            patience = ctx.shared.thresholds.settle if deadlock.threaded else 0
            yield replace(match, patience_ms=patience)


@Rule("D1", "deadlock", "critical", "whole", code="DED", rank=1, blocks="forever")
def deadlock_cycle(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Clients wait for each other in a ring; none of them can ever continue."""
    advice = f"{_PROCESS} To prevent it, acquire locks in the same order everywhere."
    return _matches("D1", advice, ctx)


@Rule("D2", "fairness-deadlock", "critical", "whole", code="DED", rank=2, blocks="forever")
def fairness(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A ring that includes a client that is only queued; without it, all could continue."""
    advice = (
        "Cancel a queued writer: it holds nothing. To prevent it, avoid nested reads, or acquire "
        "locks in the same order."
    )
    return _matches("D2", advice, ctx)


@Rule(
    "D3",
    "semaphore-deadlock",
    "critical",
    "whole",
    former_name="knot",
    code="DED",
    rank=3,
    blocks="forever",
)
def semaphore_deadlock(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """All leases of a pool are held by clients that wait, perhaps indirectly, for one of them."""
    advice = f"Check the number of leases that zktop shows. {_PROCESS}"
    return _matches("D3", advice, ctx)


@Rule("D4", "self-upgrade", "critical", "whole", code="DED", rank=4, blocks="forever")
def self_upgrade(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A reader also requests to write the same lock: it waits for itself."""
    return _matches("D4", "Release the read lock before requesting the write lock.", ctx)


@Rule("D5", "two-upgraders", "critical", "whole", code="DED", rank=5, blocks="forever")
def two_upgraders(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Two readers both want to write: each waits for the other's read lock."""
    advice = "Let each of them release its read lock before it requests the write lock."
    return _matches("D5", advice, ctx)


@Rule("D6", "double-request", "critical", "whole", code="SLF", after=(("lock", GHOSTS),))
def double_request(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A client requests a lock that it already holds, and the lock is not re-entrant."""
    advice = (
        "Use a re-entrant lock, or one lock object for each path. It is harmless if two threads "
        "made the two requests."
    )
    return _matches("D6", advice, ctx)


@Rule(
    "D7",
    "watch-deadlock",
    "critical",
    tables=("watches",),
    code="DED",
    rank=6,
    blocks="forever",
    only_if=("watches",),
)
def watch_deadlock(ctx: LockContext) -> Iterator[RuleResult]:
    """Sessions wait for watches on each other's nodes: nothing will wake any of them."""
    if ctx.lock.is_only_watched:
        yield from _watching_holders(ctx)
    if ctx.lock.size < 2:  # noqa: PLR2004  a session does not wait for itself
        return
    for deadlock in watch_knots(ctx):
        match = _match(deadlock, "Restart one of them; upgrade its client library (kazoo: 2.9.0).")
        watched_at = (ctx.ensemble.watched_at(session) for session in match.about.sessions)
        as_of = min(filter(None, watched_at), default=None)
        yield replace(match, as_of=as_of, patience_ms=ctx.thresholds.settle)


def watch_knots(ctx: LockContext) -> Iterator[Deadlock]:
    """The deadlocks that the watch tables show in one lock.

    Only sessions with a single place count: with several, a watch may belong to any of them.
    """
    holders = (watches for watches in ctx.visible if not ctx.is_waiting(watches.member))
    if not any(_watches_behind(ctx, watches) for watches in (*ctx.mismatched, *holders)):
        return

    watched = {
        session_text(watches.member.owner): {
            ctx.at_path[path].node for path in _watched_members(ctx, watches)
        }
        for watches in ctx.visible
        if watches.is_sole
    }
    for queue in ctx.lock.queues:
        yield from watch_deadlocks(_queue(ctx, queue), watched, _names(ctx))


def _watches_behind(ctx: LockContext, watches: MemberWatches) -> bool:
    """Whether it watches a member behind it, which no recipe does."""
    place = ctx.place[watches.member.node]
    is_behind = (
        ctx.place[ctx.at_path[path].node] > place for path in _watched_members(ctx, watches)
    )
    return watches.is_sole and any(is_behind)


def _watched_members(ctx: LockContext, watches: MemberWatches) -> Iterator[Text]:
    """The paths of the members that a session watches, apart from its own."""
    return (path for path in watches.others if path in ctx.at_path)


def _queue(ctx: LockContext, queue: LockQueue) -> WaitQueue:
    requests = tuple(
        WaitRequest(
            node=member.node,
            actor=session_text(member.owner),
            mode=member.mode,
            czxid=member.czxid,
            since_ms=member.ctime,
            exempt=queue.holds(member),
        )
        for member in queue.members
    )
    kind = _KINDS.get(ctx.lock.kind, "exclusive")
    return WaitQueue(ctx.path, kind, requests, ctx.lock.leases, seen_zxid=ctx.lock.seen_zxid)


def _names(ctx: LockContext) -> DisplayNames:
    owners: Mapping[Session, str] = {member.owner: ctx.name_of(member) for member in ctx.members}
    return DisplayNames({session_text(session): name for session, name in owners.items()})


class _Watching(NamedTuple):
    """A session that watches a lock that is one znode, and the holder of that lock."""

    session: Session
    lock: Lock
    holder: Member


def _watching_holders(ctx: LockContext) -> Iterator[RuleResult]:
    """Report holders of single znodes that watch each other's: each may wait for the next.

    No znode shows whether they wait, so this is only a note, at the first lock of the ring.
    """
    for holder in ctx.holders:
        if not any(_watched_locks(ctx, holder.owner)):
            continue
        yield LookAgainAt(ctx.now_ms + WATCHED_AGAIN_MS)  # others may start to watch
        ring = _ring_to(ctx, holder)
        if ring and min(watching.lock.path for watching in ring) == ctx.path:
            yield _possible_deadlock(ctx, ring)


def _watched_locks(ctx: LockContext, session: Session) -> Iterator[_Watching]:
    """The locks of others for which a session may wait by its watches alone."""
    watched = (ctx.ensemble.watched(session) if session else None) or ()
    if len(watched) > MAX_WATCHED_PATHS:
        return
    for path in sorted(watched):
        for lock in filter(None, map(ctx.shared.locks.get, (path, split(path)[0]))):
            if lock.is_only_watched and not lock.has_standbys and _is_at(lock, path):
                others = (holder for holder in lock.holders if holder.owner not in (0, session))
                yield from (_Watching(session, lock, holder) for holder in others)


def _is_at(lock: Lock, path: Text) -> bool:
    """Whether a path is that of a lock's own znode, or of its only holder."""
    nodes = [absolute_path(lock.path, holder.node) for holder in lock.holders]
    return path == lock.path or nodes == [path]


def _ring_to(ctx: LockContext, holder: Member) -> list[_Watching]:
    """The shortest ring of watches that ends at this holder, or an empty list if none is near."""
    ways: dict[Session, list[_Watching]] = {holder.owner: []}
    todo = [holder.owner]
    for session in todo:
        for watching in islice(_watched_locks(ctx, session), MAX_WATCHED_LOCKS):
            way = [*ways[session], watching]
            if watching.lock.path == ctx.path:
                return way
            is_near = len(way) < MAX_RING_SESSIONS and len(todo) < MAX_SEARCHED_SESSIONS
            if is_near and watching.holder.owner not in ways:
                ways[watching.holder.owner] = way
                todo.append(watching.holder.owner)
    return []


def _possible_deadlock(ctx: LockContext, ring: list[_Watching]) -> RuleMatch:
    names = {watching.session: ctx.name_of(before.holder) for before, watching in _pairs(ring)}
    parts = [
        f"{names[watching.session]} holds {short(before.lock.path)} "
        f"and watches {short(watching.lock.path)}"
        for before, watching in _pairs(ring)
    ]
    return RuleMatch(
        about=FindingSubject(
            ctx.path,
            sessions=tuple(watching.session for watching in ring),
            locks=tuple(watching.lock.path for watching in ring),
        ),
        sentence=f"{'; '.join(parts)}. If each waits for what it watches, none can ever continue.",
        confidence="C1",
        evidence=((None, "a session that watches a lock of one znode may wait for it"),),
        advice=f"If they do wait: {_PROCESS}",
        as_of=min(filter(None, map(ctx.ensemble.watched_at, names)), default=None),
        severity="info",
    )


def _pairs(ring: list[_Watching]) -> Iterator[tuple[_Watching, _Watching]]:
    """Return each watch of a ring after the one that leads to its session."""
    return zip([*ring[-1:], *ring[:-1]], ring, strict=True)


@Rule("D8", "election-entangled", "critical", "whole", code="DED")
def entangled_election(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """The leader waits for a candidate that waits to become leader."""
    advice = "Harmless if candidates do not block; mark the root `blocking: true` if they do."
    return _matches("D8", advice, ctx)


@Rule("D9", "lock-order-inversion", "info", "whole", code="ORD")
def order_inversion(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Clients request the same locks in different orders, which can deadlock."""
    return _potential("D9", "Acquire these locks in the same order everywhere.", ctx)


@Rule("D10", "unordered-nesting", "info", "whole", code="ORD")
def unordered_nesting(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Several locks of one kind are acquired together, in no fixed order."""
    return _potential("D10", "Sort the keys before locking several of them.", ctx)


def _potential(rule_id: str, advice: str, ctx: EnsembleContext) -> Iterator[RuleResult]:
    for inversion in ctx.inversions:
        if inversion.rule == rule_id:
            yield RuleMatch(
                about=FindingSubject(
                    locks=tuple(dict.fromkeys(Text(turn.lock) for turn in inversion.turns)),
                    nodes=tuple(dict.fromkeys(Text(turn.node) for turn in inversion.turns)),
                ),
                sentence=_sentence(inversion, ctx.now_ms),
                confidence=inversion.confidence,
                evidence=(
                    *((clue.supports, clue.text) for clue in inversion.evidence),
                    *_missed(inversion),
                ),
                advice=_with_majority(inversion, advice),
                id=inversion.id,
            )


def _missed(inversion: Inversion) -> Iterator[tuple[None, str]]:
    """Yield how close the deadlock came, unless it has happened since."""
    missed = inversion.missed_by_ms
    if missed is not None and inversion.deadlocked_at is None:
        text = f"did not happen: missed by {span(missed)}" if missed else "ran at the same time"
        yield None, text


def _sentence(inversion: Inversion, now_ms: Millis) -> str:
    """The sentence, reworded if the deadlock has happened, and dated if that was another day."""
    if inversion.deadlocked_at is None:
        return inversion.sentence
    day = iso(inversion.deadlocked_at).partition("T")[0]
    date = "" if iso(now_ms).startswith(day) else f"{day} "
    happened = f"Deadlocked at {date}{clock(inversion.deadlocked_at)}"
    return inversion.sentence.replace("Potential deadlock", happened, 1)


def _with_majority(inversion: Inversion, advice: str) -> str:
    usual = f" Usual order: {inversion.majority}." if inversion.majority else ""
    odd = f" Odd one out: {several(inversion.odd_one_out)}." if inversion.odd_one_out else ""
    return advice + usual + odd
