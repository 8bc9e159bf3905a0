"""Number the deadlocks of a run, and record how each ended.

Numbers follow the order of detection, so a replay gives the same numbers. A deadlock that is over
keeps its last verdict. How it ended may become clear a moment later, because a session's nodes
disappear one after another. Only a transaction log tells a client that closed its session from one
that left all its locks.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.history.events import FormerMember
from zktop.model.session_ids import session_text
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.model.waits.lock_order_story import Inversion

MAX_ENDED: Final = 50
CLEAR_AFTER_MS: Final[Millis] = 2_000
RULES_CHANGED: Final = "the rules changed (actors, leases or kind of a lock)"

Reported = TypeVar("Reported", Deadlock, Inversion)
Departed = Callable[[DeadlockPlace], FormerMember | None]


class EndedDeadlock(msgspec.Struct, frozen=True):
    """A deadlock that is over: its last verdict, and when and how it ended."""

    deadlock: Deadlock
    at: Millis
    how: str


class DeadlockLog:
    """The present deadlocks, and the last MAX_ENDED that are over."""

    def __init__(self) -> None:
        self.over: tuple[EndedDeadlock, ...] = ()
        self._alive: dict[str, Deadlock] = {}
        self._found: dict[str, Deadlock] = {}  # as found, without their numbers
        self._inversions: dict[str, Inversion] = {}  # as last reported
        self._count = 0

    def look(
        self,
        found: Iterable[Deadlock],
        hints: Iterable[Deadlock],
        departed: Departed,
        now: Millis,
        changed: AbstractSet[str],
    ) -> tuple[Deadlock, ...]:
        """Number the deadlocks of this look; record those that are over.

        What happened in the changed locks may show how a deadlock ended a moment ago.
        """
        before, self._found = self._found, {deadlock.id: deadlock for deadlock in found}
        numbered = tuple(
            self._alive[name] if one is before.get(name) else self._with_number(one)
            for name, one in self._found.items()
        )
        alive = {deadlock.id: deadlock for deadlock in numbered}
        gone = [deadlock for name, deadlock in self._alive.items() if name not in alive]
        self._alive = alive
        if gone:
            threaded = {deadlock.id for deadlock in hints}
            ends = (_why_refuted(o) if o.id in threaded else _how_ended(o, departed) for o in gone)
            ended = (EndedDeadlock(one, now, how) for one, how in zip(gone, ends, strict=True))
            self.over = (*self.over, *ended)[-MAX_ENDED:]
        if any(ended.at < now <= ended.at + CLEAR_AFTER_MS for ended in self.over):
            self.over = tuple(
                ended
                if changed.isdisjoint(ended.deadlock.locks)
                else self._with_ending(ended, departed, now)
                for ended in self.over
            )
        return numbered

    def with_last_times(self, inversions: Iterable[Inversion]) -> tuple[Inversion, ...]:
        """Add to each potential deadlock the time at which it last happened."""
        before, self._inversions = self._inversions, {}
        for inversion in inversions:
            made = replace(inversion, deadlocked_at=self._happened_at(inversion))
            self._inversions[inversion.id] = _same(made, before.get(inversion.id))
        return tuple(self._inversions.values())

    def _with_number(self, deadlock: Deadlock) -> Deadlock:
        known = self._alive.get(deadlock.id)
        if known is None:
            self._count += 1
        made = replace(deadlock, number=known.number if known else self._count)
        return _same(made, known)

    def _with_ending(self, ended: EndedDeadlock, departed: Departed, now: Millis) -> EndedDeadlock:
        """Update how it ended while more of its nodes may disappear."""
        if now - ended.at > CLEAR_AFTER_MS:
            return ended
        how = _how_ended(ended.deadlock, departed)
        return ended if how in (ended.how, RULES_CHANGED) else replace(ended, how=how)

    def _happened_at(self, inversion: Inversion) -> Millis | None:
        locks = {turn.lock for turn in inversion.turns}
        known = (*self._alive.values(), *(ended.deadlock for ended in reversed(self.over)))
        return next(
            (deadlock.since_ms for deadlock in known if locks <= set(deadlock.locks)), None
        )


def _same(made: Reported, before: Reported | None) -> Reported:
    """The object of the previous look if it is equal, so that reports share one object."""
    return before if before == made else made


def _how_ended(was: Deadlock, departed: Departed) -> str:
    """How a deadlock ended, in words: which actor left first, and how."""
    left = [(min(former.gone_at for former in gone), step) for step, gone in _left(was, departed)]
    if not left:
        return RULES_CHANGED
    _, step = min(left, key=lambda pair: pair[0])
    places = (step.waits, *step.holds)
    gone = [(former, place) for place in places if (former := departed(place)) is not None]
    if any(former.ending == "expired" for former, _ in gone):
        return f"the session of {step.name} expired: it was killed or cut off"
    recorded = {former.how for former, _ in gone}
    if len(gone) == len(places) > 1 and recorded <= {None, "closed"}:
        doubt = "gave up or " if None in recorded else ""
        return f"{step.name} {doubt}closed its session"
    first, place = min(gone, key=lambda pair: pair[0].gone_at)
    if first.deleted_by is not None:
        other = session_text(first.deleted_by)
        return f"session {other} deleted the node of {step.name} in {place.lock}"
    if place is step.waits:
        return f"{step.name} gave up waiting for {place.lock}"
    return f"{step.name} released {place.lock} while it waited, so it was not blocked"


def _left(was: Deadlock, departed: Departed) -> Iterator[tuple[DeadlockStep, list[FormerMember]]]:
    """The steps of actors with nodes that have left the locks, and how these left."""
    for step in was.steps:
        gone = [former for place in (*step.holds, step.waits) if (former := departed(place))]
        if gone:
            yield step, gone


def _why_refuted(was: Deadlock) -> str:
    names = ", ".join(dict.fromkeys(step.name for step in was.steps))
    return f"no longer proven: one of {names} has several threads"
