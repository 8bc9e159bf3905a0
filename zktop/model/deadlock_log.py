"""Number the deadlocks of a run, and record how each ended.

Numbers follow the order of detection, so a replay gives the same numbers. A deadlock that is over
keeps its last verdict. How it ended may become clear a moment later, because a session's nodes
disappear one after another. Only a transaction log distinguishes a client that closed its session
from one that left all its locks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.format import several
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import FormerMember
from zktop.model.locks.lock import Lock
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.model.waits.lock_order_story import Inversion

MAX_ENDED: Final = 50
CLEAR_AFTER_MS: Final[Millis] = 2_000
RULES_CHANGED: Final = (
    "unknown, as its rules changed (actors, leases or kind of a lock), or a node became unreadable"
)
LEFT_TOGETHER: Final = "its nodes left with many others, or with their locks"

Reported = TypeVar("Reported", Deadlock, Inversion)


class EndedDeadlock(msgspec.Struct, frozen=True):
    """A deadlock that is over: its last verdict, and when and how it ended."""

    deadlock: Deadlock
    at: Millis
    how: str
    is_refuted: bool = False  # its actors were not blocked


class _Departure(NamedTuple):
    """The requests of one actor that have left their locks, and how."""

    step: DeadlockStep
    gone: list[tuple[FormerMember, DeadlockPlace]]

    @property
    def first(self) -> FormerMember:
        return min((former for former, _ in self.gone), key=lambda former: former.gone_at)


class DeadlockLog:
    """The present deadlocks, and the last MAX_ENDED that are over."""

    def __init__(
        self,
        histories: LockHistories,
        locks: Mapping[Text, Lock],
        has_threads: Callable[[str], bool],
    ) -> None:
        """Look deadlocks up in these histories and locks, which advance with each look.

        `has_threads` says whether an actor took or released a lock while it waited.
        """
        self._histories, self._locks, self._has_threads = histories, locks, has_threads
        self.over: tuple[EndedDeadlock, ...] = ()
        self._alive: dict[str, Deadlock] = {}
        self._unnumbered: dict[str, Deadlock] = {}  # as the detector found them
        self._inversions: dict[str, Inversion] = {}  # as last reported
        self._count = 0

    def look(
        self,
        deadlocks: Iterable[Deadlock],
        hints: Iterable[Deadlock],
        now: Millis,
        changed: AbstractSet[str],
    ) -> tuple[Deadlock, ...]:
        """Number the deadlocks of this look; record those that are over.

        A change in one of its locks may show how a deadlock ended a moment ago.
        """
        before = self._unnumbered
        self._unnumbered = {deadlock.id: deadlock for deadlock in deadlocks}
        numbered = tuple(
            self._alive[deadlock.id]
            if deadlock is before.get(deadlock.id)
            else self._with_number(deadlock)
            for deadlock in self._unnumbered.values()
        )
        alive = {deadlock.id: deadlock for deadlock in numbered}
        gone = [deadlock for deadlock in self._alive.values() if deadlock.id not in alive]
        self._alive = alive
        if gone:
            hinted = {deadlock.id for deadlock in hints}
            ended = (self._ended(was, now, is_hint=was.id in hinted) for was in gone)
            self.over = (*self.over, *ended)[-MAX_ENDED:]
        if any(ended.at < now <= ended.at + CLEAR_AFTER_MS for ended in self.over):
            self.over = tuple(self._with_ending(ended, now, changed) for ended in self.over)
        return numbered

    def with_last_times(self, inversions: Iterable[Inversion]) -> tuple[Inversion, ...]:
        """Add to each potential deadlock the time at which it last happened."""
        before, self._inversions = self._inversions, {}
        for inversion in inversions:
            dated = replace(inversion, deadlocked_at=self._happened_at(inversion))
            self._inversions[inversion.id] = _reused(dated, before.get(inversion.id))
        return tuple(self._inversions.values())

    def _with_number(self, deadlock: Deadlock) -> Deadlock:
        known = self._alive.get(deadlock.id)
        if known is None:
            self._count += 1
        numbered = replace(deadlock, number=known.number if known else self._count)
        return _reused(numbered, known)

    def _ended(self, was: Deadlock, now: Millis, *, is_hint: bool) -> EndedDeadlock:
        if is_hint:
            return EndedDeadlock(was, now, _why_hint(was), is_refuted=True)
        how = self._how_ended(was)
        if how == RULES_CHANGED and (busy := self._busy(was)):
            return EndedDeadlock(was, now, _why_refuted(busy), is_refuted=True)
        return EndedDeadlock(was, now, how)

    def _busy(self, deadlock: Deadlock) -> tuple[str, ...]:
        """The names of its actors that took or released a lock while they waited."""
        busy = (step.name for step in deadlock.steps if self._has_threads(step.actor))
        return tuple(dict.fromkeys(busy))

    def _with_ending(
        self, ended: EndedDeadlock, now: Millis, changed: AbstractSet[str]
    ) -> EndedDeadlock:
        """Update how it ended if its locks changed, while more of its nodes may disappear."""
        if ended.is_refuted or now - ended.at > CLEAR_AFTER_MS:
            return ended
        if changed.isdisjoint(ended.deadlock.locks):
            return ended
        how = self._how_ended(ended.deadlock)
        is_known = how not in (ended.how, RULES_CHANGED, LEFT_TOGETHER)
        return replace(ended, how=how) if is_known else ended

    def _how_ended(self, was: Deadlock) -> str:
        """Say how a deadlock ended: which actor left first, and how."""
        departures = [*self._departures(was)]
        if departures:
            return _how_left(min(departures, key=lambda departure: departure.first.gone_at))
        if not all(self._is_there(place) for step in was.steps for place in _places(step)):
            return LEFT_TOGETHER
        larger = self._larger(was)
        if larger is not None:
            return f"more clients joined: it is part of deadlock #{larger.number}"
        return RULES_CHANGED

    def _departures(self, was: Deadlock) -> Iterator[_Departure]:
        """The actors with requests that have left the locks."""
        for step in was.steps:
            gone = [
                (former, place)
                for place in _places(step)
                if (former := self._former_member(place)) is not None
            ]
            if gone:
                yield _Departure(step, gone)

    def _former_member(self, place: DeadlockPlace) -> FormerMember | None:
        """How a node of a deadlock left its lock, if it did."""
        left = self._histories.of(place.lock).former_members
        return next((former for former in reversed(left) if former.node == place.node), None)

    def _is_there(self, place: DeadlockPlace) -> bool:
        """Whether a node of a deadlock is still in its lock, as far as that can be read."""
        lock = self._locks.get(Text(place.lock))
        if lock is None:
            return False
        return lock.error is not None or lock.member(place.node) is not None

    def _larger(self, was: Deadlock) -> Deadlock | None:
        """A present deadlock with all actors of an earlier one, others, and a lock of it."""
        alive = self._alive.values()
        return next(
            (
                deadlock
                for deadlock in alive
                if set(was.actors) < set(deadlock.actors)
                and not set(was.locks).isdisjoint(deadlock.locks)
            ),
            None,
        )

    def _happened_at(self, inversion: Inversion) -> Millis | None:
        locks = {turn.lock for turn in inversion.turns}
        alive = (deadlock for deadlock in self._alive.values() if not self._busy(deadlock))
        over = (ended.deadlock for ended in reversed(self.over) if not ended.is_refuted)
        known = chain(alive, over)
        return next(
            (deadlock.since_ms for deadlock in known if locks <= set(deadlock.locks)), None
        )


def _reused(now: Reported, before: Reported | None) -> Reported:
    """The object of the previous look if nothing has changed, so that reports share one object."""
    return before if before == now else now


def _places(step: DeadlockStep) -> tuple[DeadlockPlace, ...]:
    return step.waits, *step.holds


def _how_left(departure: _Departure) -> str:
    step, gone = departure
    recorded = {former.how for former, _ in gone}
    if "ended" in recorded:
        return f"an administrator ended the session of {step.name}"
    if departure.first.is_unseen:
        return f"{step.name} left unseen: the deadlock may have ended earlier"
    if any(former.ending == "expired" for former, _ in gone):
        return f"the session of {step.name} expired: it was killed, paused or cut off"
    if len(gone) == len(_places(step)) > 1 and recorded <= {None, "closed"}:
        if all(former.may_have_expired for former, _ in gone):
            return f"{step.name} gave up, or its session ended"
        doubt = "gave up or " if None in recorded else ""
        return f"{step.name} {doubt}closed its session"
    return _how_one_left(step.name, *min(gone, key=lambda pair: pair[0].gone_at), step.waits)


def _how_one_left(
    name: str, former: FormerMember, place: DeadlockPlace, waits: DeadlockPlace
) -> str:
    if former.deleted_by is not None:
        other = session_text(former.deleted_by)
        return f"session {other} deleted the node of {name} in {place.lock}"
    if place is waits:
        return f"{name} gave up waiting for {place.lock}"
    if former.how is None:
        return f"{name} released {place.lock} while it waited, or another client deleted its node"
    return f"{name} released {place.lock} while it waited, so it was not blocked"


def _why_refuted(busy: tuple[str, ...]) -> str:
    return f"no longer proven, as {several(busy)} took or released a lock while waiting"


def _why_hint(was: Deadlock) -> str:
    names = list(dict.fromkeys(step.name for step in was.steps))
    which = f"one of {', '.join(names)}" if len(names) > 1 else names[0]
    return f"no longer proven, as {which} has several threads"
