"""Locks as plain values, for tests of what is built on top of them.

A `Queue` is the simplest lock: the first member holds, each other waits for the one before it
and watches it. A `Root` is such a lock with a past: it counts transactions as a server does.
"""

from collections.abc import Iterable

import msgspec
from model.make_facts import NOW, kazoo_name, session

from zktop.model.facts import Stat
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import Event
from zktop.model.history.lock_change import LockChange
from zktop.model.layouts.layout import WatchKind
from zktop.model.locks.lock import Lock, Member, Target
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Znode
from zktop.model.world.tables_of_all_servers import Ensemble


class Queue(msgspec.Struct, frozen=True, eq=False):
    """A queue in order of arrival, of which the first `leases` hold."""

    members: tuple[Member, ...]
    how: WatchKind | None = "data"  # None: it polls
    leases: int = 1

    @property
    def holders(self) -> tuple[Member, ...]:
        """The first ones."""
        return self.members[: self.leases]

    @property
    def waiters(self) -> tuple[Member, ...]:
        """The others."""
        return self.members[self.leases :]

    @property
    def warnings(self) -> tuple[str, ...]:
        """It has no warnings."""
        return ()

    def find(self, node: str) -> Member | None:
        """The member of this name."""
        return next((one for one in self.members if one.node == node), None)

    def holds(self, member: Member) -> bool:
        """Whether it is among the first."""
        return member in self.holders

    def is_pending(self, member: Member) -> bool:
        """False: it has no pending nodes."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """False: no member overtakes others."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """The holders for the first waiter; the predecessor for the others."""
        place = self.members.index(member)
        return self.members[max(0, place - 1) : place]

    def members_before(self, member: Member) -> tuple[Member, ...]:
        """All members before it, unless it holds."""
        return () if self.holds(member) else self.members[: self.members.index(member)]

    def count_before(self, member: Member) -> int:
        """Count them."""
        return len(self.members_before(member))

    def expected(self, member: Member) -> tuple[Target, ...]:
        """The member that is `leases` places before it."""
        place = self.members.index(member) - self.leases
        return (Target(self.members[place].node, self.how),) if self.how and place >= 0 else ()


def member(owner: str, sequence: int, czxid: int, ctime: int = NOW, node: str = "") -> Member:
    """One contender."""
    name = Text(node or kazoo_name(owner, sequence))
    stat = Stat(czxid, czxid, ctime, owner=session(owner) if owner else 0)
    return Member(name, "exclusive", sequence, "kazoo-lock", Text(owner), None, Znode(name, stat))


def lock_of(
    path: str,
    members: Iterable[Member],
    stat: Stat | None = None,
    at: int = NOW,
    **more: object,
) -> Lock:
    """A lock with one line of these members."""
    line = Queue(tuple(members), **{k: more.pop(k) for k in ("how", "leases") if k in more})
    newest = max([one.czxid for one in line.members], default=0)
    seen = max(newest, stat.pzxid if stat else 0)
    kind = more.pop("kind", "mutex")
    return Lock(Text(path), "kazoo-lock", kind, (line,), stat, seen, at, **more)


class Root:
    """A lock root on a server of its own: every change is a transaction."""

    def __init__(self, path: str = "/orders", czxid: int = 10, zxid: int = 0) -> None:
        """Create the root."""
        self.path, self.czxid = path, czxid
        self.zxid = max(zxid, czxid)
        self.pzxid = czxid
        self.creates = self.now = 0
        self.members: dict[str, Member] = {}
        self.foreign: list[Text] = []

    def create(self, owner: str, ctime: int = NOW) -> Member:
        """Add a contender."""
        self.zxid += 1
        self.pzxid = self.zxid
        one = member(owner, self.creates, self.zxid, ctime)
        self.creates += 1
        self.members[one.node] = one
        return one

    def delete(self, one: Member, zxid: int | None = None) -> None:
        """Delete a node; several may be deleted in one transaction."""
        self.zxid = self.pzxid = zxid or self.zxid + 1
        del self.members[one.node]

    def clutter(self, name: str) -> None:
        """Create a child that is not a contender."""
        self.zxid += 1
        self.pzxid = self.zxid
        self.creates += 1
        self.foreign.append(Text(name))

    @property
    def stat(self) -> Stat:
        """The root's Stat, counted as servers count."""
        children = len(self.members) + len(self.foreign)
        cversion = 2 * self.creates - children
        return Stat(
            self.czxid,
            self.czxid,
            0,
            cversion=cversion,
            num_children=children,
            pzxid=self.pzxid,
        )

    def look(self, at: int = NOW, **more: object) -> Lock:
        """The lock as it is now."""
        members = self.members.values()
        return lock_of(self.path, members, self.stat, at, foreign=tuple(self.foreign), **more)


def note(
    histories: LockHistories,
    path: str,
    before: Lock | None,
    after: Lock | None,
    ensemble: Ensemble,
    now: int,
) -> list[Event]:
    """Add the change of a single lock to the histories."""
    return histories.after([LockChange.between(path, before, after)], ensemble, now)
