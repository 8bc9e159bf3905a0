"""States written as one line: `L rw: A.R W.W A.R ; Y x: B A`, in queue order.

Kinds: `x`, `rw`, `sem(2)`, `sem(2?)` of inferred size, `elect`, `elect!` blocking, `single`.
Letters are actors; `.R` and `.W` the class; `orphan` has no owner; `(exempt)` grants at once; `@7`
is a czxid. Other members get czxids column by column: the first of every queue came first.
"""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from zktop.model.layouts.layout import LockMode
from zktop.model.waits.lock_order import LockOrderGraph, OrderActor
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import QueueKind, WaitQueue, WaitRequest

KINDS: dict[str, QueueKind] = {
    "x": "exclusive",
    "rw": "read-write",
    "sem": "pool",
    "elect": "election",
    "single": "single",
}
MODES: dict[str, LockMode] = {
    "x": "exclusive",
    "rw": "write",
    "sem": "lease",
    "elect": "candidate",
    "single": "exclusive",
}
HEAD = re.compile(r"(\S+)\s+(x|rw|sem|elect|single)(?:\((\d+)(\?)?\))?(!)?$")
MEMBER = re.compile(r"(\w+?)(?:\.([RW]))?(\(exempt\)|!)?(?:@(\d+))?$")


def queues(text: str, *, seen_zxid: int = 1_000_000) -> list[WaitQueue]:
    """The queues of a state; a request is created a millisecond after the one before it."""
    rows = [part.split(":", 1) for part in text.split(";")]
    return [
        _queue(head.strip(), members.split(), number, seen_zxid)
        for number, (head, members) in enumerate(rows)
    ]


def _queue(head: str, members: list[str], row: int, seen_zxid: int) -> WaitQueue:
    name, kind, capacity, is_guess, blocking = HEAD.match(head).groups()
    lock = f"/{name}"
    requests = tuple(
        _request(lock, text, kind, 1 + place * 100 + row) for place, text in enumerate(members)
    )
    return WaitQueue(
        lock,
        KINDS[kind],
        requests,
        int(capacity) if capacity else None,
        "inferred" if is_guess else "known",
        bool(blocking),
        seen_zxid,
    )


def _request(lock: str, text: str, kind: str, number: int) -> WaitRequest:
    actor, mode, exempt, czxid = MEMBER.match(text).groups()
    is_orphan = actor.startswith("orphan")
    zxid = int(czxid) if czxid else number
    return WaitRequest(
        node=f"lock-{zxid:010d}",
        actor=f"nobody:{lock}/{zxid}" if is_orphan else actor,
        mode={"R": "read", "W": "write", None: MODES[kind]}[mode],
        czxid=zxid,
        since_ms=zxid * 1000,
        exempt=bool(exempt),
        releases=not is_orphan,
    )


def graph(text: str) -> WaitGraph:
    """The wait graph of a state."""
    return WaitGraph(queues(text))


def learn(
    known: LockOrderGraph,
    state: str,
    generations: Mapping[str, int] = {},
    **actors: OrderActor,
) -> None:
    """Let an order graph learn from all actors of a state."""
    found = graph(state)
    known.learn(
        found,
        found.tangled,
        lambda actor: actors.get(actor, OrderActor(actor, actor)),
        lambda lock: generations.get(lock, 0),
    )


def learned(*states: str, **actors: OrderActor) -> LockOrderGraph:
    """An order graph that has seen these states, one after the other."""
    known = LockOrderGraph()
    for state in states:
        learn(known, state, **actors)
    return known


def put(found: WaitGraph, queue: WaitQueue) -> None:
    """Put a queue in place of the one of its name."""
    before = found.queues.get(queue.lock)
    was, now = set(before.requests if before else ()), set(queue.requests)
    found.replace(queue, now - was, was - now)


def merged(found: list[WaitQueue], names: Mapping[str, str]) -> list[WaitQueue]:
    """The same queues with other actors, as a merge rule would give them."""
    return [
        replace(
            queue,
            requests=tuple(
                replace(r, actor=names.get(r.actor, r.actor), session=r.actor)
                for r in queue.requests
            ),
        )
        for queue in found
    ]
