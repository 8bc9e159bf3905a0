"""What each waiter really watches, next to what its recipe says it should.

The server tables are usually older than the lock beside them. So a mismatch is a verdict only
where the table could not have said so rightly: it must know the waiter, and a watch on a node that
has left the lock since proves nothing. What remains of the race between a deletion and the next
watch is for `Sighting`: two tables, some time apart, that say the same.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, Session, join, split
from zktop.model.layouts.layout import How
from zktop.model.locks.lock import Line, Lock, Member, Target
from zktop.model.sight import Sight
from zktop.model.text import Text

Verdict = Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]

UNSEEN: Final[How] = "children"  # a watch that no server table shows
NONE: Final[frozenset[Text]] = frozenset()


class Watching(msgspec.Struct, frozen=True, gc=False):
    """The expected watches of a contender, those its session has here, and what that means.

    All paths are absolute. `actual` is None when nobody could look; it holds what the session
    watches of this lock, for whichever of its places.
    """

    verdict: Verdict
    expected: tuple[Target, ...] = ()
    actual: tuple[Text, ...] | None = None


class Lookout(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One lock beside one sight. Each answer is worked out when it is first asked for."""

    lock: Lock
    sight: Sight

    def of(self, member: Member) -> Watching:
        """Give one contender's watches and the verdict on them."""
        line = self._waits_in(member)
        actual = self._here(member.owner) if member.owner else None
        shown = None if actual is None else tuple(sorted(actual))
        if line is None:
            return Watching("none-needed", (), shown)
        expected = self._expected(line, member)
        return Watching(self._verdict(member, expected, actual), expected, shown)

    def edges(self) -> Iterator[tuple[Member, Member]]:
        """Give the watch graph among the members: who watches, and whom.

        What a session watches beyond the expectations of its places is told of its only place
        that lacks a watch; where there are several of those, of none.
        """
        for session in self._places:
            yield from self._edges_of(session)

    def watchers(self, member: Member) -> frozenset[Session]:
        """Give the sessions that watch a member, whatever they are; without our own."""
        return self.sight.watchers(absolute(self.lock.path, member.node))

    def bystanders(self, member: Member) -> frozenset[Session]:
        """Give the sessions that watch a member and own none: observers, or left-over watches."""
        return self.watchers(member) - self._places.keys()

    @cached_property
    def crowd(self) -> tuple[Session, ...]:
        """Who waits for a single-node lock: known only by a watch on it, in no order."""
        if self.lock.kind != "single":
            return ()
        return tuple(sorted({one for held in self.lock.holders for one in self.bystanders(held)}))

    def member_at(self, path: str) -> Member | None:
        """Give the member of an absolute path."""
        node = relative(self.lock.path, path)
        found = (line.find(node) for line in self.lock.lines)
        return next((member for member in found if member is not None), None)

    def _verdict(
        self, member: Member, expected: tuple[Target, ...], actual: frozenset[Text] | None
    ) -> Verdict:
        visible = [target.path for target in expected if target.how != UNSEEN]
        if actual is not None and any(path in actual for path in visible):
            return "confirmed"
        if len(visible) < max(1, len(expected)):
            return "invisible"
        table = self.sight.watch_fact(member.owner) if member.owner else None
        if actual is None or table is None or table.zxid < member.czxid:
            return "unknown"
        astray = actual - self._wanted(member.owner)
        if not astray:
            return "missing"
        lasting = any(path == self.lock.path or self.member_at(path) for path in astray)
        return "elsewhere" if lasting or self._is_older_than(table.zxid) else "unknown"

    def _is_older_than(self, zxid: int) -> bool:
        """Tell whether no child of the root came or went after this transaction."""
        return self.lock.stat is not None and self.lock.stat.pzxid <= zxid

    def _expected(self, line: Line, member: Member) -> tuple[Target, ...]:
        path = self.lock.path
        return tuple(
            Target(absolute(path, target.path), target.how) for target in line.expected(member)
        )

    def _here(self, session: Session) -> frozenset[Text] | None:
        """Give what a session watches of this lock."""
        known = self._watched.get(session)
        if known is None:
            watched = self.sight.watched(session)
            if watched is None:
                return None
            known = frozenset(path for path in watched if self._is_here(path))
            self._watched[session] = known
        return known

    def _is_here(self, path: Text) -> bool:
        return path == self.lock.path or split(path)[0] in self._rooms

    def _wanted(self, session: Session) -> frozenset[Text]:
        """Give what all waiting places of a session together should watch."""
        wanted = self._wants.get(session)
        if wanted is None:
            targets = (
                self._expected(line, member)
                for member in self._places.get(session, ())
                if (line := self._waits_in(member))
            )
            wanted = frozenset(target.path for each in targets for target in each)
            self._wants[session] = wanted
        return wanted

    def _edges_of(self, session: Session) -> Iterator[tuple[Member, Member]]:
        actual = self._here(session) or NONE
        if not actual:
            return
        waiting = [(one, line) for one in self._places[session] if (line := self._waits_in(one))]
        idle = []
        for member, line in waiting:
            met = [one.path for one in self._expected(line, member) if one.path in actual]
            yield from ((member, watched) for watched in map(self.member_at, met) if watched)
            if not met:
                idle.append(member)
        owner = idle or [member for member, _ in waiting]
        if len(owner) == 1:
            astray = map(self.member_at, sorted(actual - self._wanted(session)))
            yield from ((owner[0], watched) for watched in astray if watched)

    def _waits_in(self, member: Member) -> Line | None:
        """Give the line in which it waits; None when it does not, or is no member."""
        lines = (line for line in self.lock.lines if line.find(member.node) is not None)
        line = next(lines, None)
        return None if line is None or line.holds(member) else line

    @cached_property
    def _places(self) -> dict[Session, tuple[Member, ...]]:
        places: dict[Session, list[Member]] = {}
        for line in self.lock.lines:
            for member in line.members:
                if member.owner and member.owner != self.sight.own:
                    places.setdefault(member.owner, []).append(member)
        return {session: tuple(members) for session, members in places.items()}

    @cached_property
    def _rooms(self) -> frozenset[Text]:
        """The znodes whose children make up the lock: its own, and those of its sub-nodes."""
        path = self.lock.path
        ends = (one for line in self.lock.lines for one in (*line.members[:1], *line.members[-1:]))
        nested = (split(absolute(path, one.node))[0] for one in ends if "/" in one.node)
        return frozenset((path, *nested))

    @cached_property
    def _watched(self) -> dict[Session, frozenset[Text]]:
        return {}

    @cached_property
    def _wants(self) -> dict[Session, frozenset[Text]]:
        return {}


class Sighting(msgspec.Struct, frozen=True):
    """How long one contender's verdict has been the same, counted in tables, not in looks.

    The examiner keeps one for each contender that has something wrong, and feeds it at every look.
    """

    watching: Watching | None = None
    first_at: Millis = 0  # when the first table that says so was read
    last_at: Millis = 0

    def after(self, watching: Watching, table_at: Millis | None) -> "Sighting":
        """Give the sighting with one more look; what the recipe expects must not have changed."""
        if table_at is None:
            return NO_SIGHTING
        before = self.watching
        is_same = before is not None and (
            (before.verdict, before.expected) == (watching.verdict, watching.expected)
        )
        if not is_same:
            return Sighting(watching, table_at, table_at)
        return Sighting(watching, self.first_at, max(self.last_at, table_at))

    def is_settled(self, settle_ms: int) -> bool:
        """Tell whether two tables, at least so far apart, say the same: judged twice."""
        return self.last_at > self.first_at and self.last_at - self.first_at >= settle_ms


NO_SIGHTING: Final = Sighting()


def absolute(lock: str, node: str) -> Text:
    """Give the path of a node that is named relative to a lock.

    >>> absolute("/locks/a", "."), absolute("/locks/a", "leases/x")
    ('/locks/a', '/locks/a/leases/x')
    >>> absolute("/locks/a", "../a-__lock__/x")
    '/locks/a-__lock__/x'
    """
    base = Text(lock)
    if node == ".":
        return base
    while node.startswith("../"):
        base, node = split(base)[0], node[3:]
    return base if node in ("", "..") else join(base, node)


def relative(lock: str, path: str) -> Text:
    """Give the name of a path relative to a lock; undoes `absolute`.

    >>> relative("/locks/a", "/locks/a"), relative("/locks/a", "/locks/a/leases/x")
    ('.', 'leases/x')
    >>> relative("/locks/a", "/locks/a-__lock__/x")
    '../a-__lock__/x'
    """
    if path == lock:
        return Text(".")
    base, up = lock, ""
    while not path.startswith(base if base == "/" else f"{base}/"):
        base, up = split(base)[0], f"../{up}"
    return Text(up + path[len(base) :].lstrip("/"))
