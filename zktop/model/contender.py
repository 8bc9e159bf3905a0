"""A place in a lock with all that is known about it: what screens and scripts show."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Literal

import msgspec

from zktop.model.calling import Calling
from zktop.model.facts import Millis, Session, session_text
from zktop.model.history.event import UNKNOWN_SINCE, How, Since
from zktop.model.history.past import LockHistory
from zktop.model.layouts.layout import Mode
from zktop.model.locks.lock import Lock, Member, State, Target
from zktop.model.sight import Sight
from zktop.model.text import Text, clean
from zktop.model.watching import Lookout, Watching, absolute

SinceIs = How
Naming = Callable[[Session, Text | None], Text | None]

NOT_LOOKED = Watching("unknown")
NAMED: Final = 100  # who must go first; naming all in a queue of thousands would be quadratic


class Contender(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One place; `node` is None for a waiter known only by its watch."""

    node: Text | None
    mode: Mode
    sequence: int | None
    session: Session | None
    owner: Text | None  # the label
    name: Text  # of its own: no two sessions are called alike
    created: Millis | None
    since: Millis | None
    since_is: SinceIs
    state: State
    blocked_by: tuple[Text, ...]  # all who must go first; of many, holders and the nearest
    ahead: int  # how many must go first in all
    expected: tuple[Target, ...]
    actual: tuple[Text, ...] | None
    verdict: Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]
    ours: bool
    stranded: bool = False  # its client failed, and left the node behind


class View(msgspec.Struct, frozen=True, eq=False):
    """One lock beside everything else: each contender is put together when it is asked for."""

    lock: Lock
    history: LockHistory
    lookout: Lookout
    naming: Naming
    calling: Calling
    ours: Collection[Session]

    @property
    def holders(self) -> Iterator[Contender]:
        """Give those who hold, in queue order."""
        return map(self.contender, self.lock.holders)

    @property
    def waiters(self) -> Iterator[Contender]:
        """Give those who wait, in queue order; behind them who only watches."""
        yield from map(self.contender, self.lock.waiters)
        yield from map(self.watcher, self.lookout.crowd)

    def contender(self, member: Member) -> Contender:
        """Put together what is known of one place."""
        state = self.lock.state(member)
        since = self.history.since(member, holds=state == "holds")
        watching = self.lookout.of(member)
        ahead = self.lock.count_before(member)
        return Contender(
            node=member.node,
            mode=member.mode,
            sequence=member.sequence,
            session=member.owner or None,
            owner=self.naming(member.owner, member.label),
            name=self.calling(member.owner, member.label),
            created=member.ctime,
            since=since.at,
            since_is=since.how,
            state=state,
            blocked_by=tuple(other.node for other in self._named(member, ahead)),
            ahead=ahead,
            expected=watching.expected,
            actual=watching.actual,
            verdict=watching.verdict,
            ours=member.owner in self.ours,
            stranded=member.node in self.lock.stranded,
        )

    def _named(self, member: Member, ahead: int) -> Iterable[Member]:
        """Choose whom to name: all, or the first holders and those whom the rest waits behind."""
        if ahead <= NAMED:
            return self.lock.before(member)
        first = self.lock.holders[:NAMED]
        nearest = self.lock.blocked_by(member)
        return {other.node: other for other in (*first, *nearest)}.values()

    def watcher(self, session: Session) -> Contender:
        """Put together what is known of somebody who only watches: the wait is all there is."""
        holders = self.lock.holders
        path = self.lock.path
        watched = tuple(Target(absolute(path, member.node), "exists") for member in holders)
        since: Since = UNKNOWN_SINCE
        return Contender(
            node=None,
            mode="exclusive",
            sequence=None,
            session=session,
            owner=self.naming(session, None),
            name=self.calling(session),
            created=None,
            since=since.at,
            since_is=since.how,
            state="standby" if self.lock.kind == "election" else "waits",
            blocked_by=tuple(member.node for member in holders),
            ahead=len(holders),
            expected=watched,
            actual=tuple(target.path for target in watched),
            verdict="confirmed",
            ours=session in self.ours,
        )


def naming(sight: Sight, owners: dict[str, str]) -> Naming:
    """Give the function that names the owner of a place.

    Its data or its name come first; then the user's list, by session, address or host; then the
    address itself. The session id is what remains, and it has a field of its own.
    """

    def name(session: Session, label: Text | None) -> Text | None:
        if label:
            return label
        presence = sight.presence(session) if session else None
        client = presence.client if presence else Text("")
        keys = (session_text(session), client, client.rpartition(":")[0])
        known = next((owners[key] for key in keys if key in owners), None)
        return clean(known) if known else client or None

    return name
