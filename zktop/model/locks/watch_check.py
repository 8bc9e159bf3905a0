"""Compare the watches of each waiter with those that its recipe sets.

Screens, JSON and findings all use the verdict of `WatchCheck`. The server tables are usually
older than the lock itself, so a mismatch counts only if the table could have shown the watch:
the table must be newer than the waiter, and a watch on a node that has since left the lock proves
nothing. ZooKeeper's tables list no child watches and no polls: if a client may use them, a watch
that is not listed is invisible, not missing. Other servers list child watches with the rest.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, Session, Watches, split
from zktop.model.layouts.layout import Layout, WatchKind
from zktop.model.locks.lock import Lock, LockQueue, Member, Target, absolute_path, relative_path
from zktop.model.locks.shapes import layout_named
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble

WatchVerdict = Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]

UNSEEN: Final[WatchKind] = "children"  # a watch that ZooKeeper's tables do not show
# Tie rules with which the server's listing decides which member of the same number is watched.
DECIDED_BY_SERVER: Final = ("server", "share")
MAX_WATCHED_PATHS: Final = 300  # a session that watches more is an observer
POLL_MS: Final = 10_000  # a session idle for this long does not poll


class WatchStatus(msgspec.Struct, frozen=True, gc=False):
    """The expected watches of a contender, its session's actual ones, and the verdict.

    All paths are absolute. `actual` has the nodes of this lock that the session watches, for any
    of its members; None if no table shows them.
    """

    verdict: WatchVerdict
    expected: tuple[Target, ...] = ()
    actual: tuple[Text, ...] | None = None


class WatchCheck(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The watches of one lock, according to the server tables, computed on demand."""

    lock: Lock
    ensemble: Ensemble
    idle: Mapping[Session, Millis] = {}  # since when sessions have sent nothing but pings
    layouts: tuple[Layout, ...] = ()  # those defined by the user

    def of(self, member: Member) -> WatchStatus:
        queue = self._waits_in(member)
        actual = self.watched_here(member.owner)
        shown = None if actual is None else tuple(sorted(actual))
        if queue is None or member.node in self.lock.stranded:
            return WatchStatus("none-needed", (), shown)
        expected = self.expected(queue, member)
        return WatchStatus(self._verdict(member, expected, actual), expected, shown)

    def edges(self) -> Iterator[tuple[Member, Member]]:
        """Yield the watch graph among the members: watcher and watched.

        A watch that no member of its session needs is attributed to the only member that lacks
        one; if several lack one, to none of them.
        """
        for session in self._members_of:
            yield from self._edges_of(session)

    def watchers(self, member: Member) -> frozenset[Session]:
        """Return the sessions that watch a member, without our own."""
        return self.ensemble.watchers(absolute_path(self.lock.path, member.node))

    def bystanders(self, member: Member) -> frozenset[Session]:
        """Return watchers of a member that own no member: observers, or leftover watches."""
        return self.watchers(member) - self._members_of.keys()

    @cached_property
    def watchers_waiting(self) -> tuple[Session, ...]:
        """The sessions that wait without a znode, known only by their watches, sorted."""
        if not self.lock.is_only_watched:
            return ()
        watching = frozenset[Session]().union(*map(self.watchers, self.lock.holders))
        return tuple(sorted(watching - self._members_of.keys())) if watching else ()

    def member_at(self, path: str) -> Member | None:
        """Return the member at an absolute path."""
        return self.lock.member(relative_path(self.lock.path, path))

    def _verdict(
        self, member: Member, expected: tuple[Target, ...], actual: frozenset[Text] | None
    ) -> WatchVerdict:
        table = self.table(member.owner)
        is_mixed = table is not None and table.is_mixed
        visible = [target.path for target in expected if target.how != UNSEEN or is_mixed]
        if actual is not None and any(path in actual for path in visible):
            return "confirmed"
        are_all_visible = bool(expected) and len(visible) == len(expected)
        if not are_all_visible or (is_mixed and self._watches_root(actual)):
            return "invisible"
        if actual is None or table is None or table.zxid < member.czxid:
            return "unknown"
        astray = actual - self._paths_needed_by(member.owner)
        # A client may watch these two although it waits by a child watch or polls.
        others = astray - {self.lock.path, absolute_path(self.lock.path, member.node)}
        if not others and self.may_be_unlisted(member):
            return "invisible"
        if not astray:
            return "missing"
        lasting = any(path == self.lock.path or self.member_at(path) for path in astray)
        return "elsewhere" if lasting or self._is_unchanged_since(table.zxid) else "unknown"

    def _watches_root(self, actual: frozenset[Text] | None) -> bool:
        """Return whether the lock's own znode is watched: that may be a child watch."""
        return actual is not None and self.lock.path in actual

    def watches_children(self, session: Session) -> bool:
        """Return whether a mixed table has a child or data watch on the lock's own znode."""
        table = self.table(session)
        return (
            table is not None and table.is_mixed and self._watches_root(self.watched_here(session))
        )

    def may_be_unlisted(self, member: Member) -> bool:
        """Return whether it may wait by a child watch or a poll, which no table lists.

        Clients of most layouts wait in one way. Many recipes use the names of the other layouts,
        and some of them watch the children or poll.
        """
        hides = self.ensemble.hides_watches(member.owner)
        layout = layout_named(member.layout, self.layouts)
        if layout is None or not layout.unlisted:
            return hides is True
        is_watching = "children" in layout.unlisted and hides is not False
        return is_watching or ("polls" in layout.unlisted and self.is_awake(member))

    def may_watch_children(self, member: Member) -> bool:
        """Return whether it may be woken by a child watch, which no table lists."""
        status = self.of(member)
        if status.verdict != "invisible":
            return False
        layout = layout_named(member.layout, self.layouts)
        is_possible = layout is not None and "children" in layout.unlisted
        return is_possible or any(target.how == UNSEEN for target in status.expected)

    def is_awake(self, member: Member) -> bool:
        """Return whether it has, or may have, sent a request recently."""
        presence, idle = self.ensemble.presence(member.owner), self.idle.get(member.owner)
        return presence is None or idle is None or presence.at - idle < POLL_MS

    def _is_unchanged_since(self, zxid: int) -> bool:
        """Return whether the lock's folders gained or lost no child after this transaction."""
        nested = (
            answer.stat if answer is not None else None
            for path, is_node, answer in self.lock.dependencies
            if not is_node and path in self._folders
        )
        changes = [stat.pzxid if stat else None for stat in (self.lock.stat, *nested)]
        return all(changed is not None and changed <= zxid for changed in changes)

    def expected(self, queue: LockQueue, member: Member) -> tuple[Target, ...]:
        """Return the watches that the recipe of a waiter sets, with absolute paths.

        If the server decides the order of nodes with the same number, expect the watched one.
        """
        path, actual = self.lock.path, self.watched_here(member.owner) or frozenset()
        targets = (
            Target(absolute_path(path, target.path), target.how)
            for target in queue.expected(member)
        )
        return tuple(
            target if not actual or target.path in actual else self._as_listed(target, actual)
            for target in targets
        )

    def _as_listed(self, target: Target, actual: frozenset[Text]) -> Target:
        watched = sorted(actual.intersection(self._equals.get(target.path, ())))
        return Target(watched[0], target.how) if watched else target

    def table(self, session: Session) -> Watches | None:
        """Return the watch table of the server of a session."""
        return self.ensemble.watch_fact(session) if session else None

    def watched_here(self, session: Session) -> frozenset[Text] | None:
        """Return the nodes of this lock that a session watches, or None if no table shows them."""
        if self.table(session) is None:
            return None
        known = self._watched.get(session)
        if known is None:
            known = self._watched[session] = frozenset(self._watches_in_lock(session))
        return known

    def _watches_in_lock(self, session: Session) -> Iterator[Text]:
        if self.lock.path in (self.ensemble.watched(session) or ()):
            yield self.lock.path
        for folder in self._folders:
            for path in self.ensemble.watched_in(session, folder):
                if split(path)[0] == folder:
                    yield path

    def _paths_needed_by(self, session: Session) -> frozenset[Text]:
        """Return the paths that all waiting members of a session together should watch."""
        needed = self._needed.get(session)
        if needed is None:
            needed = self._needed[session] = frozenset(
                target.path
                for member in self._members_of.get(session, ())
                if (queue := self._waits_in(member))
                for target in self.expected(queue, member)
            )
        return needed

    def _edges_of(self, session: Session) -> Iterator[tuple[Member, Member]]:
        actual = self.watched_here(session) or frozenset()
        if not actual:
            return
        waiting = [
            (member, queue)
            for member in self._members_of[session]
            if (queue := self._waits_in(member))
        ]
        without_watch = []
        for member, queue in waiting:
            paths = [
                target.path for target in self.expected(queue, member) if target.path in actual
            ]
            yield from ((member, watched) for watched in map(self.member_at, paths) if watched)
            if not paths:
                without_watch.append(member)
        watchers = without_watch or [member for member, _ in waiting]
        if len(watchers) == 1:
            astray = map(self.member_at, sorted(actual - self._paths_needed_by(session)))
            yield from ((watchers[0], watched) for watched in astray if watched)

    def _waits_in(self, member: Member) -> LockQueue | None:
        """Return the queue in which it waits, if it waits."""
        queue = self.lock.queue_with(member.node)
        return None if queue is None or queue.holds(member) else queue

    @cached_property
    def _members_of(self) -> dict[Session, tuple[Member, ...]]:
        members_of: dict[Session, list[Member]] = {}
        for queue in self.lock.queues:
            for member in queue.members:
                if member.owner and member.owner != self.ensemble.own:
                    members_of.setdefault(member.owner, []).append(member)
        return {session: tuple(members) for session, members in members_of.items()}

    @cached_property
    def _folders(self) -> frozenset[Text]:
        """The znodes whose children make up the lock: its own, and those of its sub-nodes."""
        path = self.lock.path
        ends = (
            member
            for queue in self.lock.queues
            for member in (*queue.members[:1], *queue.members[-1:])
        )
        nested = (
            split(absolute_path(path, member.node))[0] for member in ends if "/" in member.node
        )
        return frozenset((path, *nested))

    @cached_property
    def _equals(self) -> dict[Text, tuple[Text, ...]]:
        """The paths of members with the same number, whose order the server decides."""
        by_number: dict[tuple[Text, str, int], list[Text]] = {}
        for member in self.lock.members:
            layout = layout_named(member.layout, self.layouts)
            if member.sequence is not None and layout and layout.ties in DECIDED_BY_SERVER:
                path = absolute_path(self.lock.path, member.node)
                folder = split(path)[0]
                by_number.setdefault((folder, member.layout, member.sequence), []).append(path)
        groups = [tuple(paths) for paths in by_number.values() if len(paths) > 1]
        return {path: group for group in groups for path in group}

    @cached_property
    def _watched(self) -> dict[Session, frozenset[Text]]:
        return {}

    @cached_property
    def _needed(self) -> dict[Session, frozenset[Text]]:
        return {}
