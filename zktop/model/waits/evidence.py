"""What is known beside the queues, and a deadlock before the judge."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from zktop.model.waits.coexistence import Coexistence
from zktop.model.waits.kinds import Rule
from zktop.model.waits.ring import Edge, Ring
from zktop.model.waits.state import Request


class Evidence(Struct, frozen=True, kw_only=True):
    """Facts about actors, as far as they are known; what is absent is unknown.

    `concurrent`: seen to act while they should have been blocked. `threads`: the identity names a
    thread. `released`: the zxid at which who is stuck last released something. `still_since_ms`:
    when it sent its last request but pings. `quiet_ms`: for so long it has been watched to send
    none. `watched` and `astray`: (lock, node) of requests whose watch is where it should be, or
    is not. `usual_hold_ms`: the 99th percentile by lock. `patience_ms`: after how long an actor
    gave up before.
    """

    now_ms: int
    settle_ms: int = 2_000
    concurrent: AbstractSet[str] = frozenset()
    threads: AbstractSet[str] = frozenset()
    released: Mapping[str, int] = {}
    still_since_ms: Mapping[str, int] = {}
    quiet_ms: Mapping[str, int] = {}
    watched: AbstractSet[tuple[str, str]] = frozenset()
    astray: AbstractSet[tuple[str, str]] = frozenset()
    usual_hold_ms: Mapping[str, int] = {}
    patience_ms: Mapping[str, int] = {}


class Clue(Struct, frozen=True, gc=False):
    """One line of evidence: it supports the verdict, speaks against it, or (None) is assumed."""

    supports: bool | None
    text: str


class Case(Struct, frozen=True, kw_only=True):
    """A ring before the judge."""

    rule: Rule
    ring: Ring
    closing: Edge  # the request since which nobody can go on
    actors: AbstractSet[str]
    coexistence: Coexistence
    owner: Callable[[str], str]
    several: Mapping[str, str] = {}  # who has several threads, by what shows that
    is_supposed: bool = False

    def is_threaded(self, known: Evidence) -> bool:
        """Whether some of its actors are known to have several threads."""
        return bool(self.several or self.actors & known.concurrent)

    @property
    def requests(self) -> Iterator[Request]:
        """Everything that waits or blocks in the ring."""
        return (request for edge in self.ring for request in (edge.request, edge.blocker))
