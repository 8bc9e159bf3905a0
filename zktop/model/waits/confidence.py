"""How certain a deadlock is, and the evidence for and against it.

ZooKeeper shows sessions, not threads. C4: proven. C3: proven if each actor is one blocked thread.
C2: likely. C1: a hint, for instance because one of the actors has several threads.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from zktop.model.format import span
from zktop.model.text import clean
from zktop.model.waits.choose_ring import (
    ActorEvidence,
    RingCase,
    WaitEdge,
    twice_queued,
)
from zktop.model.waits.wait_queue import lock_path

Confidence = Literal["C1", "C2", "C3", "C4"]
CONFIRMED: Final = ("C3", "C4")
CONFIDENCE_WORD: Final = {"C1": "hint", "C2": "likely", "C3": "confirmed", "C4": "confirmed"}


class Evidence(Struct, frozen=True, gc=False):
    """A reason for the finding (True), against it (False), or an assumption (None)."""

    supports: bool | None
    text: str

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            force_setattr(self, "text", clean(self.text))


QUIET_MS: Final = 30_000  # a client that is not blocked would have sent a request by then
# A ring that has lasted this long is reported as a hint, even if one of its clients still works.
WORKING_RING_MS: Final = 30_000


def confidence(case: RingCase, known: ActorEvidence) -> tuple[Confidence, tuple[Evidence, ...]]:
    """The confidence in a ring, and all evidence."""
    grading = _Grading(case, known)
    return min(grading.level(), grading.cap()), tuple(grading.clues())


class _Grading(Struct, frozen=True):
    case: RingCase
    known: ActorEvidence

    def level(self) -> Confidence:
        """The confidence in a plain ring."""
        case = self.case
        if case.is_threaded(self.known) or any(edge.queue.guessed for edge in case.ring):
            return "C1"
        if not case.coexistence.is_proven or not self._is_settled():
            return "C2"
        if self._names_threads():
            return "C4" if self._is_watched() else "C3"
        is_still = all(map(self._is_still, case.actors))
        return "C3" if is_still or self._is_quiet() else "C2"

    def cap(self) -> Confidence:
        """The highest possible confidence: some rules prove less than a plain ring."""
        match self.case.rule:
            case "D3":
                is_guess = any(edge.queue.capacity_is == "inferred" for edge in self.case.ring)
                return "C2" if is_guess else "C4"
            case "D4":
                return self._cap_of_upgrades()
            case "D6":
                is_one_thread = twice_queued(self.case.ring).keys() <= self.known.threads
                return "C3" if is_one_thread else "C1"
            case "D8":
                return "C1" if self.case.is_supposed and not self._names_threads() else "C3"
            case _:
                return "C4"

    def clues(self) -> Iterator[Evidence]:
        yield from self._about_threads()
        yield from self._about_time()
        yield from self._about_requests()
        yield from chain.from_iterable(map(self._about_input, self.case.ring))
        yield from self._about_merges()

    def _cap_of_upgrades(self) -> Confidence:
        if self._names_threads():
            return "C4"
        usual = self.known.usual_hold_ms.get(self.case.closing.queue.lock)
        age = self._age()
        return "C3" if age is not None and usual is not None and age > 10 * usual else "C2"

    def _names_threads(self) -> bool:
        return self.case.actors <= self.known.threads

    def _age(self) -> int | None:
        since = self.case.closing.request.since_ms
        return None if since is None else self.known.now_ms - since

    def _is_settled(self) -> bool:
        age = self._age()
        return age is not None and age >= self.known.settle_ms

    @property
    def _places(self) -> Iterator[tuple[str, str]]:
        """The lock and the node of each wait in the ring."""
        return ((edge.queue.lock, edge.request.node) for edge in self.case.ring)

    def _is_watched(self) -> bool:
        return all(place in self.known.watched for place in self._places)

    def _is_still(self, actor: str) -> bool:
        """True if its only request since the ring closed is the one that set its watch."""
        since = self.known.still_since_ms.get(actor)
        closed = self.case.closing.request.since_ms
        return since is not None and closed is not None and since <= closed + self.known.settle_ms

    def _has_moved(self) -> bool:
        """True if an actor has a new connection since the ring closed."""
        closed = self.case.closing.request.since_ms or 0
        return any(self.known.moved_ms.get(actor, 0) > closed for actor in self.case.actors)

    def _is_quiet(self) -> bool:
        """True if no actor sent anything in QUIET_MS of observation, and none lacks its watch."""
        if any(place in self.known.astray for place in self._places):
            return False
        return all(self.known.quiet_ms.get(actor, 0) >= QUIET_MS for actor in self.case.actors)

    def _about_threads(self) -> Iterator[Evidence]:
        case, known = self.case, self.known
        if self._names_threads():
            yield Evidence(supports=True, text="your rule names every client")
        else:
            yield Evidence(supports=None, text="assumes one blocked thread per client")
        for actor in sorted((case.actors & known.concurrent) - case.several.keys()):
            text = f"{case.owner(actor)} acted while it should have been blocked"
            yield Evidence(supports=False, text=text)
        for actor, shown in sorted(case.several.items()):
            text = f"{case.owner(actor)} {shown}: it has several threads"
            yield Evidence(supports=False, text=text)
        for actor in sorted(twice_queued(case.ring).keys() - known.threads):
            text = f"{case.owner(actor)} is in one queue twice: perhaps two threads"
            yield Evidence(supports=False, text=text)

    def _about_time(self) -> Iterator[Evidence]:
        proof = self.case.coexistence
        if proof.is_proven:
            is_period = proof.oldest_listing > proof.newest
            until = f" to {proof.oldest_listing:#x}" if is_period else ""
            text = "all lock nodes existed at the same time"
            yield Evidence(supports=True, text=f"{text} (zxid {proof.newest:#x}{until})")
        else:
            yield Evidence(supports=None, text="assumes that all nodes existed at one moment")
        if self._age() is None:
            yield Evidence(supports=None, text="its duration is unknown")
        elif not self._is_settled():
            yield Evidence(
                supports=False, text=f"formed less than {span(self.known.settle_ms)} ago"
            )

    def _about_requests(self) -> Iterator[Evidence]:
        still = {actor: self._is_still(actor) for actor in self.case.actors}
        seconds = QUIET_MS // 1000
        if all(still.values()):
            text = "no requests but pings since the ring closed"
            again = ", except when clients connected again" if self._has_moved() else ""
            yield Evidence(supports=True, text=f"{text}{again}")
        elif self._is_quiet():
            watched = f"in the {seconds} s that zktop has watched"
            yield Evidence(supports=True, text=f"no requests but pings {watched}")
        elif self.known.quiet_ms.keys() >= still.keys():
            active = sorted(actor for actor in still if self.known.quiet_ms[actor] < QUIET_MS)
            names = ", ".join(map(self.case.owner, active)) or "a client without its watch"
            text = f"not watched for {seconds} s yet, or sent requests meanwhile: {names}"
            yield Evidence(supports=None, text=text)
        else:
            yield Evidence(supports=None, text="no server shows whether the clients send requests")
        if self._is_watched():
            yield Evidence(supports=True, text="every waiter watches what its recipe needs")

    def _about_input(self, edge: WaitEdge) -> Iterator[Evidence]:
        queue, actor, path = edge.queue, edge.request.actor, lock_path(edge.queue.lock)
        if queue.guessed:
            yield Evidence(supports=False, text=f"the layout of {path} is a guess")
        if not edge.is_plain:
            is_known = queue.capacity_is == "known"
            origin = "known" if is_known else "inferred from what was seen"
            yield Evidence(supports=None, text=f"{path} has {queue.room} leases ({origin})")
        patience = self.known.patience_ms.get(actor)
        if patience is not None:
            gave_up = f"{self.case.owner(actor)} has given up before"
            text = f"may resolve by itself: {gave_up}, after {patience / 1000:g} s"
            yield Evidence(supports=False, text=text)

    def _about_merges(self) -> Iterator[Evidence]:
        sessions: dict[str, set[str]] = {}
        for request in self.case.requests:
            if request.session is not None and request.session != request.actor:
                sessions.setdefault(request.actor, set()).add(request.session)
        for actor, names in sorted(sessions.items()):
            rule = f"by your merge rule {self.case.owner(actor)} is {', '.join(sorted(names))}"
            yield Evidence(supports=None, text=rule)
