"""The plan that `zktop free` prints: what blocks a lock's waiters, and every way to remove it.

It reads only a report. Each way states its cost, and what the client that loses the lock will
believe. zktop itself can do two things: ask a Curator client that listens for requests, and delete
a node that no session owns. `refusals` decides when these are safe.
"""

from collections.abc import Iterator
from itertools import dropwhile, islice
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from zktop.model.findings.finding import Finding
from zktop.model.format import count, several, short, span, unblocks
from zktop.model.freeing.commands_to_copy import ZkCli, pod_command
from zktop.model.freeing.refusals import (
    REVOCABLE_LAYOUTS,
    ask_refusal,
    delete_refusal,
    foreign_blockers,
    may_last,
)
from zktop.model.freeing.ways import (
    NodePlace,
    SessionCost,
    WayToFree,
    ask_to_release,
    can_end_sessions,
    delete_node,
    end_session,
    freed_clients,
    freed_watchers,
    stop_process,
    wait_for_expiry,
)
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import FOREIGN, Lock, LockQueue, Member, absolute_path
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.open_folder import only_mixed
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock

MAX_BLOCKERS: Final = 20  # a lock may have thousands of readers
MAX_WAYS_OUT: Final = 3  # for each deadlock

BlockerRole = Literal["holder", "leftover", "foreign", "deadlocked"]


class LockBlocker(Struct, frozen=True, kw_only=True):
    """One node in the way of a lock's waiters. In a deadlock, it may be in another lock."""

    lock: Text
    node: Text
    path: Text
    role: BlockerRole
    name: str
    session: str | None
    client: str | None
    server: str | None
    about: str
    ways: tuple[WayToFree, ...]


class FreePlan(Struct, frozen=True, kw_only=True):
    """What is wrong with one lock, what is in the way, and the ways out."""

    lock: Text
    layout: str
    kind: str
    holders: tuple[str, ...]
    waiting: int
    knows_waiters: bool
    error: str | None  # why some or all of its nodes are unknown
    deadlocks: tuple[Deadlock, ...]
    findings: tuple[Finding, ...]
    blockers: tuple[LockBlocker, ...]
    more: int  # blockers beyond MAX_BLOCKERS


class _Obstacle(NamedTuple):
    """A node in the way, before its ways are found."""

    view: LockView
    member: Member
    role: BlockerRole
    freed: str | None = None  # which clients its removal frees, if not those behind it

    @property
    def path(self) -> Text:
        return absolute_path(self.view.lock.path, self.member.node)


def free_plan(report: Report, path: str, cli: ZkCli) -> FreePlan | None:
    """Return what is in the way of a lock, and the ways out, or None if there is no lock."""
    view = report.view(path)
    if view is None:
        return None
    lock = view.lock
    planner = _Planner(report, cli)
    deadlocks = tuple(deadlock for deadlock in report.deadlocks if path in deadlock.locks)
    # A holder in two deadlocks is listed once, with the effect in the last one.
    obstacles = {obstacle.path: obstacle for obstacle in planner.obstacles(view, deadlocks)}
    listed = tuple(map(planner.blocker, islice(obstacles.values(), MAX_BLOCKERS)))
    deadlock_ids = {deadlock.id for deadlock in deadlocks}
    return FreePlan(
        lock=lock.path,
        layout=lock.layout,
        kind=lock.kind,
        holders=tuple(planner.name(holder) for holder in lock.holders[:MAX_BLOCKERS]),
        waiting=view.waiting,
        knows_waiters=view.knows_waiters,
        error=lock.error,
        deadlocks=deadlocks,
        findings=tuple(
            finding
            for finding in report.findings
            if path in (finding.lock, *finding.locks)
            and finding.id not in deadlock_ids
            and finding.severity != "info"
        ),
        blockers=listed,
        more=len(obstacles) - len(listed),
    )


def _waiters_behind(lock: Lock, member: Member) -> list[Member]:
    """The waiters after a node in its queue, and those of other queues that count it."""
    is_mixed = any(isinstance(queue, MixedQueue) for queue in lock.queues)
    behind: list[Member] = []
    for queue in lock.queues:
        if isinstance(queue, MixedQueue):
            behind += queue.waiters_behind([member])
        elif queue.find(member.node) is not None:
            behind += _after(queue, member)
        elif not is_mixed and member.layout == FOREIGN:
            behind += queue.waiters
    if member.mode == "read":  # it stops writers, and the clients behind them
        return list(dropwhile(lambda waiter: waiter.mode == "read", behind))
    return behind


def _other_readers(lock: Lock, member: Member, waiter: Member, name: str) -> str:
    """Say that the end of one reader is not enough for the first client behind it."""
    others = [
        other
        for other in lock.members_before(waiter)
        if other != member and (not member.owner or other.owner != member.owner)
    ]
    number = len(others)
    if not others or any(reader.mode != "read" for reader in (member, *others)):
        return ""
    return f" {name} also waits for the other {f'{number} readers' if number > 1 else 'reader'}."


def _failing_at(lock: Lock, child: Member) -> str:
    """The clients that cannot read a foreign child's name, and what they left behind."""
    by_queue = [
        unreadable
        for queue in only_mixed(lock.queues)
        for unreadable in queue.unreadable
        if unreadable.child.node == child.node
    ]
    failed = sum(len(unreadable.failed) for unreadable in by_queue)
    spared = sum(len(unreadable.will_fail) for unreadable in by_queue)
    stays = "stays until its session ends" if failed == 1 else "stay until their sessions end"
    left = f" The {count(failed, 'node')} of clients that failed at it {stays}." if failed else ""
    return left + (f" {count(spared, 'client')} will not fail at it." if spared else "")


def _after(queue: LockQueue, member: Member) -> list[Member]:
    """The waiters after a node in its queue."""
    if queue.holds(member):
        return list(queue.waiters)
    nodes = [other.node for other in queue.members]
    after = set(nodes[nodes.index(member.node) + 1 :])
    return [waiter for waiter in queue.waiters if waiter.node in after]


class _Planner:
    """Finds the ways for each node in the way of one lock."""

    def __init__(self, report: Report, cli: ZkCli) -> None:
        self._report, self._cli = report, cli

    def name(self, member: Member) -> str:
        """The display name of a node's owner. If no session owns it: its label or its own name."""
        if not member.owner:
            return short(member.label or member.node)
        return self._report.client_names.of(member)

    def obstacles(self, view: LockView, deadlocks: tuple[Deadlock, ...]) -> Iterator[_Obstacle]:
        """Yield what is in the way: the actors of deadlocks, foreign nodes, leftovers, holders."""
        lock = view.lock
        deadlocked = [obstacle for deadlock in deadlocks for obstacle in self._ways_out(deadlock)]
        yield from deadlocked
        for child in foreign_blockers(lock):
            yield _Obstacle(view, child, "foreign")
        holding = {holder.node for holder in lock.holders}
        for member in lock.members:
            if member.node in lock.stranded or self._is_left_over(lock, member):
                yield _Obstacle(view, member, "leftover")
            elif member.node in holding and not deadlocked:
                yield _Obstacle(view, member, "holder")

    def _is_left_over(self, lock: Lock, member: Member) -> bool:
        is_owned = member.znode.stat is None or bool(member.owner)
        return not is_owned and not may_last(self._report, lock, member)

    def _ways_out(self, deadlock: Deadlock) -> Iterator[_Obstacle]:
        """Yield the actors whose end breaks a deadlock, the cheapest first."""
        for way in deadlock.ways_out[:MAX_WAYS_OUT]:
            places = {step.actor: step.places for step in deadlock.steps}
            place = next(iter(places.get(way.actor, ())), None)
            view = self._report.view(place.lock) if place else None
            member = view.lock.member(place.node) if view and place else None
            if view is None or member is None:
                continue
            freed = f"That {unblocks(way.frees, deadlock.actors)}; {self.name(member)} {way.why}."
            yield _Obstacle(view, member, "deadlocked", freed)

    def blocker(self, obstacle: _Obstacle) -> LockBlocker:
        """Describe a node in the way, with the ways to remove it."""
        view, member = obstacle.view, obstacle.member
        presence = self._report.ensemble.presence(member.owner) if member.owner else None
        lock = view.lock
        return LockBlocker(
            lock=lock.path,
            node=member.node,
            path=obstacle.path,
            role=obstacle.role,
            name=self.name(member),
            session=session_text(member.owner) if member.owner else None,
            client=presence.client if presence else None,
            server=presence.server if presence else None,
            about=self._about(view, member),
            ways=tuple(self._ways(view, member, obstacle.freed or self._freed(view, member))),
        )

    def _freed(self, view: LockView, member: Member) -> str:
        """Count the waiters behind a node, and the clients that fail at it."""
        lock, watching = view.lock, view.watch_check.watchers_waiting
        if watching:
            return freed_watchers([self._report.client_names(session) for session in watching])
        if lock.is_only_watched and not view.knows_waiters:
            return "Which clients wait for it is unknown: not all watch tables were read."
        behind = _waiters_behind(lock, member)
        waiters = [waiter for waiter in behind if waiter.owner != member.owner or not member.owner]
        if behind and not waiters:
            freed = "No other client waits for it."
        else:
            first = self.name(waiters[0]) if waiters else None
            freed = freed_clients(len(waiters), first)
            if first:
                freed += _other_readers(lock, member, waiters[0], first)
        return freed + (_failing_at(lock, member) if member.layout == FOREIGN else "")

    def _about(self, view: LockView, member: Member) -> str:
        """The state of a node in one sentence: its age, its owner, and when that will expire."""
        stat = member.znode.stat
        if stat is None:
            return "zktop may not read it"
        age = span(self._report.now - stat.ctime)
        if not member.owner:
            return f"no session owns it; {age} old"
        ensemble = self._report.ensemble
        if ensemble.alive(member.owner, member.czxid) is False:
            return f"its node is {age} old; its session is in no list of sessions"
        left = ensemble.expires_in(member.owner, self._report.now)
        if left is not None and self._is_cut_off(member):
            return (
                f"its node is {age} old; its client is disconnected, and its session expires by "
                f"itself in {span(left.low)} to {span(left.high)}"
            )
        queues = SessionCost.of(self._report, member.owner).waits
        elsewhere = [path for path in queues if path != view.lock.path]
        waits = f"; its client also waits for {several(elsewhere)}" if elsewhere else ""
        return f"its node is {age} old{waits}"

    def _ways(self, view: LockView, member: Member, freed: str) -> Iterator[WayToFree]:
        lock, stat, owner = view.lock, member.znode.stat, member.owner
        if stat is None:
            return
        if not owner or self._report.ensemble.alive(owner, member.czxid) is False:
            place = NodePlace(
                lock.path, member.node, absolute_path(lock.path, member.node), stat.version
            )
            lost = count(stat.data_length, "byte of data is", "bytes of data are")
            effect = f"{freed} Its {lost} lost." if stat.data_length else freed
            refusal = delete_refusal(self._report, lock, member)
            yield delete_node(place, self._cli, effect, refusal)
            return
        if member.layout in REVOCABLE_LAYOUTS and lock.queue_of(member).holds(member):
            refusal = ask_refusal(view, member)
            yield ask_to_release(lock.path, self.name(member), freed, refusal)
        cost = SessionCost.of(self._report, owner)
        if self._is_cut_off(member):
            yield wait_for_expiry(owner, cost, freed)
            return
        presence = self._report.ensemble.presence(owner)
        client, server = (presence.client, presence.server) if presence else (None, None)
        known = self._report.client_names.owners.details_of(session_text(owner), client or "")
        yield stop_process(owner, client, pod_command(client, known), cost, freed)
        if can_end_sessions(self._report):
            yield end_session(owner, server, cost, freed)

    def _is_cut_off(self, member: Member) -> bool:
        """Whether the owner's session exists without a connection."""
        return self._report.ensemble.is_cut_off(member.owner, member.czxid) is True
