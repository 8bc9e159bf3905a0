"""The inquest on what is stuck: what else is known of its actors, and what follows from that.

Who was seen to act while it waited, who is idle, who watches what: it is gathered for the few
actors of a core, and only while there is one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.actors import session_of
from zktop.model.calling import Calling
from zktop.model.facts import Millis, Session
from zktop.model.history.attempts import identity_of
from zktop.model.history.chronicle import Chronicle
from zktop.model.locks.lock import Lock, Member
from zktop.model.one_request import path_of
from zktop.model.sight import Sight
from zktop.model.text import Text
from zktop.model.waits.activity import Activity
from zktop.model.waits.assess import Assessment, assess
from zktop.model.waits.deadlock import Deadlock, Place
from zktop.model.waits.evidence import Evidence
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.names import Names
from zktop.model.waits.state import Queue, Request
from zktop.model.watching import Lookout
from zktop.model.witness import Presence

Standing = tuple[Queue, Request, Lock, Member]

ASTRAY: Final = ("missing", "elsewhere")  # nothing wakes it, so it may not wait as we think


class Inquest(msgspec.Struct, frozen=True, kw_only=True):
    """All that is looked at: the waiting, the tables, the past, and the locks as they are."""

    graph: WaitGraph
    activity: Activity
    sight: Sight
    chronicle: Chronicle
    locks: Mapping[Text, Lock]
    calling: Calling
    now_ms: Millis
    settle_ms: int

    def finding(self) -> Assessment:
        """Say which deadlocks there are, and where a second listing would tell."""
        found = assess(self.graph, self._evidence(), self._names())
        return replace(
            found,
            deadlocks=tuple(map(_of_locks, found.deadlocks)),
            hints=tuple(map(_of_locks, found.hints)),
        )

    def _evidence(self) -> Evidence:
        """Gather what is known of the actors of all cores."""
        actors = {actor for core in self.graph.residue.cores for actor in core.actors}
        sessions = {actor: session_of(actor) for actor in actors}
        places = list(self._places(actors))
        past = {lock.path: self.chronicle.of(lock.path, self.now_ms) for _, _, lock, _ in places}
        watches = self._watches(places)
        usual = {path: history.usual_hold for path, history in past.items()}
        tries = {
            request.actor: past[lock.path].attempts.get(identity_of(member))
            for _, request, lock, member in places
        }
        learned = {actor: one.learned_timeout_ms for actor, one in tries.items() if one}
        return Evidence(
            now_ms=self.now_ms,
            settle_ms=self.settle_ms,
            concurrent=frozenset(filter(self.activity.is_concurrent, actors)),
            released={actor: self.activity.released(actor) for actor in actors},
            threads=frozenset(a for a, session in sessions.items() if session is None),
            still_since_ms=_known(self.chronicle.sessions.last_active, sessions),
            quiet_ms=_known(self.chronicle.sessions.quiet_ms, sessions),
            watched=frozenset(one for one, verdict in watches.items() if verdict == "confirmed"),
            astray=frozenset(one for one, verdict in watches.items() if verdict in ASTRAY),
            usual_hold_ms={path: hold[1] for path, hold in usual.items() if hold is not None},
            patience_ms={actor: ms for actor, ms in learned.items() if ms is not None},
        )

    def _watches(self, places: list[Standing]) -> dict[tuple[str, str], str]:
        """Judge the watches of all who wait, by queue and node."""
        lookouts = {lock.path: Lookout(lock, self.sight) for _, _, lock, _ in places}
        return {
            (queue.lock, request.node): lookouts[lock.path].of(member).verdict
            for queue, request, lock, member in places
            if not self.graph.holds(queue, request)
        }

    def _places(self, actors: Iterable[str]) -> Iterator[Standing]:
        """Give all places of these actors, as the graph and as the locks know them."""
        for actor in actors:
            for queue, request in self.graph.places(actor):
                lock = self.locks.get(Text(path_of(queue.lock)))
                member = lock.member(request.node) if lock else None
                if lock is not None and member is not None:
                    yield queue, request, lock, member

    def _names(self) -> Names:
        """Give each actor of stuck queues a name that is no other's, and lines their locks'."""
        residue = self.graph.residue
        names = [name for name in self.graph.queues if name in residue.locks]
        actors = {request.actor for name in names for request in self.graph.queues[name].requests}
        labels = {
            request.actor: label
            for name in names
            for request in self.graph.queues[name].requests
            if (label := self._label(name, request))
        }
        called = {actor: self._called(actor, labels.get(actor)) for actor in actors}
        return Names(
            owners={actor: name for actor, name in called.items() if name is not None},
            paths={name: path_of(name) for name in names if path_of(name) != name},
            labels=labels,
            presences={actor: one for actor in actors if (one := self._presence(actor))},
        )

    def _called(self, actor: str, label: Text | None) -> str | None:
        session = session_of(actor)
        return self.calling(session, label) if session else label

    def _presence(self, actor: str) -> Presence | None:
        session = session_of(actor)
        return self.sight.presence(session) if session else None

    def _label(self, name: str, request: Request) -> Text | None:
        lock = self.locks.get(Text(path_of(name)))
        member = lock.member(request.node) if lock else None
        return member.label if member else None


def _known(
    tell: Callable[[Session], Millis | None], sessions: Mapping[str, Session | None]
) -> dict[str, Millis]:
    """Ask of each actor that is a session; leave out what cannot be told."""
    told = ((actor, tell(session)) for actor, session in sessions.items() if session)
    return {actor: answer for actor, answer in told if answer is not None}


def _of_locks(deadlock: Deadlock) -> Deadlock:
    """Name locks instead of the lines of locks."""
    if not any(path_of(name) != name for name in deadlock.locks):
        return deadlock
    steps = tuple(
        replace(step, holds=tuple(map(_of_lock, step.holds)), waits=_of_lock(step.waits))
        for step in deadlock.steps
    )
    return replace(deadlock, locks=tuple(sorted(set(map(path_of, deadlock.locks)))), steps=steps)


def _of_lock(place: Place) -> Place:
    return replace(place, lock=path_of(place.lock))
