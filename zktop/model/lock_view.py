"""One lock of a report with its contenders: what blocks each, and what each watches."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Literal

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session
from zktop.model.history.events import UNKNOWN_SINCE, SinceBound
from zktop.model.history.lock_history import LockHistory
from zktop.model.layouts.layout import LockMode
from zktop.model.locks.lock import Lock, Member, MemberState, Target, absolute_path
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.text import Text

OwnerName = Callable[[Session, Text | None], Text | None]

MAX_BLOCKERS: Final = 100  # per contender; listing all of a long queue takes quadratic time


class Contender(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One contender of a lock; `node` is None for a waiter known only by its watch."""

    node: Text | None
    mode: LockMode
    sequence: int | None
    session: Session | None
    owner: Text | None  # its label
    name: Text  # unique among all sessions
    created: Millis | None
    since: Millis | None
    since_is: SinceBound
    state: MemberState
    blocked_by: tuple[Text, ...]  # beyond MAX_BLOCKERS: the first holders and the nearest
    ahead: int  # number of contenders that must go first
    expected: tuple[Target, ...]
    actual: tuple[Text, ...] | None
    verdict: Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]
    ours: bool
    stranded: bool = False  # its client failed and left the node behind

    @property
    def is_ownerless(self) -> bool:
        """Whether its znode was read, and no session owns it."""
        return self.created is not None and self.session is None


class LockView(msgspec.Struct, frozen=True, eq=False):
    """One lock with its contenders, each computed on demand."""

    lock: Lock
    history: LockHistory
    watch_check: WatchCheck
    owner_name: OwnerName
    client_names: ClientNames
    ours: Collection[Session]
    label_of: Callable[[Session], Text | None]  # in its nodes of other locks

    @property
    def holders(self) -> Iterator[Contender]:
        """The contenders that hold the lock, in queue order."""
        return map(self.contender, self.lock.holders)

    @property
    def waiters(self) -> Iterator[Contender]:
        """The contenders that wait, in queue order, then those known only by their watches."""
        yield from map(self.contender, self.lock.waiters)
        yield from map(self.watcher, self.watch_check.watchers_waiting)

    @property
    def waiting(self) -> int:
        waiters = sum(len(queue.waiters) for queue in self.lock.queues)
        return waiters + len(self.watch_check.watchers_waiting)

    @property
    def knows_waiters(self) -> bool:
        """Whether all waiters are known: those without a znode are if all watches are listed."""
        if self.lock.is_only_watched:
            return self.watch_check.ensemble.visibility.watches == "all"
        return self.lock.error is None

    def contender(self, member: Member) -> Contender:
        """Return everything known about one member."""
        state = self.lock.state(member)
        since = self.history.since(member, holds=state == "holds")
        watching = self.watch_check.of(member)
        ahead = self.lock.count_before(member)
        return Contender(
            node=member.node,
            mode=member.mode,
            sequence=member.sequence,
            session=member.owner or None,
            owner=self.owner_name(member.owner, member.label),
            name=self.client_names.of(member),
            created=member.ctime,
            since=since.at,
            since_is=since.bound,
            state=state,
            blocked_by=tuple(other.node for other in self._blockers(member, ahead)),
            ahead=ahead,
            expected=watching.expected,
            actual=watching.actual,
            verdict=watching.verdict,
            ours=member.owner in self.ours,
            stranded=member.node in self.lock.stranded,
        )

    def _blockers(self, member: Member, ahead: int) -> Iterable[Member]:
        """The members to list as blockers: all, or the first holders and the nearest."""
        if ahead <= MAX_BLOCKERS:
            return self.lock.members_before(member)
        first = self.lock.holders[:MAX_BLOCKERS]
        nearest = self.lock.blocked_by(member)
        return {other.node: other for other in (*first, *nearest)}.values()

    def watcher(self, session: Session) -> Contender:
        """Return everything known about a session that waits only by a watch."""
        holders, path = self.lock.holders, self.lock.path
        label = self.label_of(session)
        watched = tuple(Target(absolute_path(path, member.node), "exists") for member in holders)
        return Contender(
            node=None,
            mode="exclusive",
            sequence=None,
            session=session,
            owner=self.owner_name(session, label),
            name=self.client_names(session, label),
            created=None,
            since=UNKNOWN_SINCE.at,
            since_is=UNKNOWN_SINCE.bound,
            state="standby" if self.lock.has_standbys else "waits",
            blocked_by=tuple(member.node for member in holders),
            ahead=len(holders),
            expected=watched,
            actual=tuple(target.path for target in watched),
            verdict="confirmed",
            ours=session in self.ours,
        )
