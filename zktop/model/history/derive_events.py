"""Derives the events of one lock from its changes: acquired, released, expired, missed, ...

A lock has a log from its first change on. The cost of a change does not depend on the length of
the queue.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec.structs import asdict, replace

from zktop.model.facts import MINUTE_MS, Millis
from zktop.model.format import iso
from zktop.model.history.attempts import AttemptLog
from zktop.model.history.duration_samples import DurationSamples
from zktop.model.history.endings import (
    SEVERAL,
    WITH_LOCK,
    ExpiryVerdict,
    deleted_by_another,
    judge_expiry,
    recorded_ending,
)
from zktop.model.history.events import (
    LEASE_OVER,
    MISSING,
    UNCLEAR,
    UNSEEN,
    Elapsed,
    Ending,
    Event,
    EventKind,
    FormerMember,
    Since,
)
from zktop.model.history.former_members import FormerMembers
from zktop.model.history.lock_change import (
    ChangeContext,
    LockChange,
    changed_children,
    changed_foreign,
    count_blocked,
    count_waiting,
    deletion_zxid,
    has_late_obstacle,
    is_held,
    is_unclear,
    newer_than_counters,
)
from zktop.model.history.lock_history import FirstLook, LockHistory, RootHistory, Stay
from zktop.model.history.lock_load import MinuteRing
from zktop.model.history.missed_events import RootCounters
from zktop.model.history.semaphore_gates import SemaphoreGates
from zktop.model.locks.lock import Lock, Member, absolute_path
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap


class LockLog:
    """A fold over the changes of one lock. `history` returns the frozen result."""

    def __init__(
        self,
        first: FirstLook,
        lock: Lock | None,
        now_ms: Millis,
        origin: RootHistory,
        counters: RootCounters | None = None,
    ) -> None:
        """Start with the present state of the lock; `counters` is given if the lock is new."""
        self._first, self._origin = first, asdict(origin)
        self._at = now_ms
        self._waiting = count_blocked(lock)
        self._blocked_ms = self._waiting * (now_ms - first.at)
        since = max(first.at, now_ms - MINUTE_MS)
        self._minute = MinuteRing(since, waiting=count_waiting(lock), held=is_held(lock))
        known = RootCounters(lock.stat, newer_than_counters(lock)) if lock else RootCounters(None)
        self._counters = counters or known
        self._holds, self._waits = DurationSamples(), DurationSamples()
        self._attempts = AttemptLog()
        self._gates = SemaphoreGates()
        self._former_members = FormerMembers()
        self._stays: PersistentMap[Text, Stay] = PersistentMap()
        self._newest: LockHistory | None = None

    def fold(self, change: LockChange, ctx: ChangeContext) -> list[Event]:
        """Add a change and return its events."""
        if ctx.now_ms < self._at:
            ctx = replace(ctx, now_ms=self._at)
        arrivals = _arrival_times(change, ctx, self._at)
        self._pass_time(ctx.now_ms)
        self._newest = None
        self._count_identified(change)
        zxid = _deleted_at(change, ctx) if len(change.deleted) == 1 else None
        node_at_gate = self._gates.after(change)
        since = {lease: self._since(node, holds=False) for lease, node in node_at_gate.items()}
        events = list(self._exits(change, ctx, zxid)) if change.deleted else []
        self._forget({member.node for member in change.deleted} | changed_foreign(change)[1])
        events += self._arrivals(change, ctx, since, arrivals) if change.created else ()
        events += self._grants(change, ctx, zxid, arrivals) if change.granted else ()
        events += self._losses(change, ctx) if change.lost else ()
        missed = list(self._misses(change, ctx))
        self._minute.change(
            waiting=count_waiting(change.after),
            held=is_held(change.after),
            arrivals=len(change.created) + sum(event.creates or 0 for event in missed),
            releases=len(change.lost),
        )
        self._waiting = count_blocked(change.after)
        return events + missed

    def history(self, now_ms: Millis) -> LockHistory:
        """The history up to this time."""
        now_ms = max(now_ms, self._at)
        if self._newest is None or self._newest.at != now_ms:
            self._newest = self._summary(now_ms)
        return self._newest

    def _summary(self, now_ms: Millis) -> LockHistory:
        counters = self._counters
        return LockHistory(
            at=now_ms,
            first_look=self._first,
            changed_at=self._at,
            stays=self._stays,
            holds=self._holds.durations,
            waits=self._waits.durations,
            former_members=self._former_members.known,
            forgotten_at=self._former_members.forgotten_at,
            attempts=self._attempts.known,
            blocked_ms=self._blocked_ms + self._waiting * (now_ms - self._at),
            missed_creates=counters.missed_creates,
            coverage=counters.coverage,
            minute=self._minute.stats(now_ms),
            **self._origin,
        )

    def _pass_time(self, now_ms: Millis) -> None:
        self._minute.advance(now_ms)
        self._blocked_ms += self._waiting * (now_ms - self._at)
        self._at = now_ms

    def _exits(self, change: LockChange, ctx: ChangeContext, zxid: int | None) -> Iterator[Event]:
        held = {member.node for member in change.lost}
        deleted = {member.node for member in change.deleted}
        for member in change.deleted:
            if self._gates.pop_served(member.node):
                continue
            gone, why = self._former_member(member, change, ctx, held=member.node in held)
            unclear = (
                gone.ending == "abandoned"
                and gone.how is None
                and not gone.is_unseen
                and is_unclear(change, member, deleted)
            )
            self._count(member, gone, is_clear=not unclear and not gone.is_unseen)
            self._former_members = self._former_members.after(gone)
            yield replace(
                _event(gone.ending, change, ctx, member, zxid),
                waited=None if unclear else gone.waited,
                held=gone.held,
                why=UNCLEAR if unclear else why,
            )

    def _forget(self, nodes: AbstractSet[Text]) -> None:
        """Forget the stays of nodes that are gone; a foreign child may have been a member."""
        if nodes:
            gone = {node: None for node in nodes if node in self._stays}
            self._stays = self._stays.with_changes(gone)

    def _former_member(
        self, member: Member, change: LockChange, ctx: ChangeContext, *, held: bool
    ) -> tuple[FormerMember, Text | None]:
        removal = ctx.removal_of(absolute_path(change.path, member.node))
        lease_end = change.before.until if change.before else None
        if removal is not None:
            verdict = recorded_ending(member, removal, (ctx.ensemble, ctx.earlier))
        elif not member.owner and lease_end is not None and lease_end <= ctx.now_ms:
            verdict = ExpiryVerdict(expired=False, why=LEASE_OVER)
        elif ctx.ensemble.complete_to:  # a deleted lock takes the records of its nodes with it
            is_missing = ctx.blind_since is not None or change.after is not None
            verdict = ExpiryVerdict(expired=False, why=MISSING if is_missing else WITH_LOCK)
        else:
            verdict = _verdict_by_tables(member, ctx)
        ending: Ending = "released" if held else "abandoned"
        if verdict.expired:
            ending = "expired"
        span = _span(self._since(member, holds=held), ctx)
        gone = FormerMember(
            node=member.node,
            session=member.owner,
            label=member.label,
            mode=member.mode,
            czxid=member.czxid,
            gone_at=ctx.now_ms,
            ending=ending,
            held=span if held else None,
            waited=None if held else span,
            deleted_by=None if removal is None else deleted_by_another(member, removal),
            how=None if removal is None else removal.how,
            is_unseen=verdict.why in (MISSING, UNSEEN),
            may_have_expired=removal is None and verdict == ExpiryVerdict(expired=False),
        )
        return gone, verdict.why

    def _count(self, member: Member, gone: FormerMember, *, is_clear: bool) -> None:
        if gone.ending == "released" and gone.held:
            self._holds.add(gone.held.ms, is_exact=gone.held.bound == "exact")
        if gone.ending == "abandoned" and gone.waited and is_clear and member.czxid:
            self._attempts.gave_up(member, gone.waited.ms)

    def _arrivals(
        self,
        change: LockChange,
        ctx: ChangeContext,
        since: dict[Text, Since],
        arrivals: Mapping[Text, Millis],
    ) -> Iterator[Event]:
        """Yield `queued` for new members; a lease has waited at the semaphore's gate instead."""
        stays: dict[Text, Stay | None] = {}
        granted = {member.node for member in change.granted}
        are_blocked = count_blocked(change.after) > 0
        for member in change.created:
            at_arrival = _at_arrival(ctx, member, arrivals)
            stays[member.node] = Stay(since.get(member.node, _now(at_arrival)))
            if member.node not in since:
                queued = _event("queued", change, at_arrival, member, member.czxid or None)
                yield replace(queued, why=_unseen_creation(member, ctx))
            if are_blocked and member.node not in granted:
                self._blocked_ms += ctx.now_ms - at_arrival.now_ms
        self._stays = self._stays.with_changes(stays)

    def _grants(
        self,
        change: LockChange,
        ctx: ChangeContext,
        zxid: int | None,
        arrivals: Mapping[Text, Millis],
    ) -> Iterator[Event]:
        """Yield `acquired`. It has no wait if clients create their znodes only when they win."""
        stays: dict[Text, Stay | None] = {}
        fresh = {member.node for member in change.created}
        shows_waits = change.after is not None and not change.after.is_only_watched
        for member in change.granted:
            at_arrival = _at_arrival(ctx, member, arrivals)
            since = self._since(member, holds=False)
            waited = _span(since, at_arrival) if shows_waits else None
            if waited is not None:
                self._waits.add(waited.ms, is_exact=waited.bound == "exact")
            if member.czxid:  # otherwise it counts as soon as its client is known
                self._attempts.acquired(member)
            stays[member.node] = Stay(since, _now(at_arrival))
            cause = (member.czxid or None) if member.node in fresh else zxid
            yield replace(_event("acquired", change, at_arrival, member, cause), waited=waited)
        self._stays = self._stays.with_changes(stays)

    def _count_identified(self, change: LockChange) -> None:
        """Count the success of holders whose clients have only now become known."""
        for member in change.read:
            stay = self._stays.get(member.node)
            if stay is not None and stay.granted is not None:
                self._attempts.acquired(member)

    def _losses(self, change: LockChange, ctx: ChangeContext) -> Iterator[Event]:
        stays: dict[Text, Stay | None] = {}
        # They counted as holders before they were read, and never acquired the lock.
        never_held = {
            member.node
            for member in change.dismissed
            if not member.czxid and member.node not in self._stays
        }
        if has_late_obstacle(change):
            never_held |= {member.node for member in change.demoted} - self._stays.keys()
        for member in change.demoted:
            if member.node in never_held:
                continue
            held = _span(self._since(member, holds=True), ctx)
            stays[member.node] = Stay(_now(ctx))
            yield replace(_event("reordered", change, ctx, member, None), held=held)
        self._stays = self._stays.with_changes(stays)

    def _misses(self, change: LockChange, ctx: ChangeContext) -> Iterator[Event]:
        if change.after is None:
            return
        if change.after.unrecognised:  # any children may come and go there
            self._counters = RootCounters(change.after.stat)
            return
        came, went = changed_children(change)
        creates, deletes = self._counters.after(change.after.stat, came, went)
        if creates or deletes:
            yield Event(
                at=ctx.now_ms,
                event="missed",
                lock=change.path,
                creates=creates,
                deletes=deletes,
            )

    def _since(self, member: Member, *, holds: bool) -> Since:
        known = LockHistory(first_look=self._first, stays=self._stays)
        return known.since(member, holds=holds)


def _event(
    kind: EventKind, change: LockChange, ctx: ChangeContext, member: Member, zxid: int | None
) -> Event:
    return Event(
        at=ctx.now_ms,
        event=kind,
        lock=change.path,
        zxid=zxid,
        node=member.node,
        session=member.owner or None,
        owner=member.label,
    )


def _verdict_by_tables(member: Member, ctx: ChangeContext) -> ExpiryVerdict:
    """Judge by the servers' tables. After a lost connection, use those from before the loss."""
    if ctx.blind_since is None:
        together = ctx.joint_deletions.get(member.owner, 0)
        return judge_expiry(member, ctx.ensemble, ctx.now_ms, together, ctx.earlier)
    verdict = judge_expiry(member, ctx.earlier, ctx.blind_since, locks=0)
    return verdict if verdict.expired else ExpiryVerdict(expired=False, why=UNSEEN)


def _deleted_at(change: LockChange, ctx: ChangeContext) -> int | None:
    """The transaction of the only deletion, if it is known."""
    removal = ctx.removal_of(absolute_path(change.path, change.deleted[0].node))
    return deletion_zxid(change) if removal is None else removal.zxid


def _arrival_times(change: LockChange, ctx: ChangeContext, since: Millis) -> Mapping[Text, Millis]:
    """When new members arrived, if a look shows several arrivals and no other change.

    Only an import shows that no transaction is missing, and has its times from the servers' clock,
    like its znodes.
    """
    is_certain = ctx.ensemble.complete_to > 0 and ctx.blind_since is None
    if not is_certain or len(change.created) < SEVERAL or change.deleted or change.lost:
        return {}
    return {
        member.node: at
        for member in change.created
        if (at := member.ctime) is not None and since <= at < ctx.now_ms
    }


def _at_arrival(
    ctx: ChangeContext, member: Member, arrivals: Mapping[Text, Millis]
) -> ChangeContext:
    at = arrivals.get(member.node)
    return ctx if at is None else replace(ctx, now_ms=at)


def _unseen_creation(member: Member, ctx: ChangeContext) -> Text | None:
    """Say when a node was created if transactions from that time are missing."""
    if ctx.blind_since is None or not ctx.ensemble.complete_to or not member.ctime:
        return None
    return Text(f"it was created at {iso(member.ctime)}, where transactions are missing")


def _now(ctx: ChangeContext) -> Since:
    return Since(ctx.now_ms, "seen" if ctx.blind_since is None else "at-least")


def _span(since: Since, ctx: ChangeContext) -> Elapsed:
    """The length of a stay that ends now; after a lost connection it may have ended earlier."""
    end = ctx.now_ms if ctx.blind_since is None else ctx.blind_since
    is_exact = since.bound == "seen" and ctx.blind_since is None
    return Elapsed(max(0, end - (since.at or end)), "exact" if is_exact else "at-least")
