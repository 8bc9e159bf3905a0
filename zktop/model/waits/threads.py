"""Finds sessions that must have several threads, by their places at one moment.

One thread waits in one place at a time, so a session that waits in two has at least two threads.
So has one that owns a lock and waits for the same one: no library asks twice for one thread. A
reader may, since it asks to write as well or to read once more, and so may a thread that takes
several leases of a pool.
"""

from collections.abc import Container, Iterable, Mapping

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

_ONE_OWNER = ("exclusive", "read-write", "conflict")


def multi_threaded(
    graph: WaitGraph, actors: Iterable[str], threads: Container[str]
) -> Mapping[str, str]:
    """The actors that cannot be one thread, each with what shows it.

    An actor whose name is that of a thread may ask for a lock that it holds.
    """
    found = {actor: _waits_twice(graph, actor) for actor in actors}
    found |= {a: _asks_again(graph, a) for a in actors if not found[a] and a not in threads}
    return {actor: shown for actor, shown in found.items() if shown}


def waiting_places(graph: WaitGraph, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
    """The places in which the actor waits."""
    return [(q, r) for q, r in graph.places(actor) if r.releases and not graph.holds(q, r)]


def _waits_twice(graph: WaitGraph, actor: str) -> str:
    waiting = waiting_places(graph, actor)
    locks = {queue.lock for queue, _ in waiting}
    if len(waiting) < 2:  # noqa: PLR2004  one wait is what one thread does
        return ""
    where = f"{len(locks)} locks at once" if len(locks) > 1 else "one queue twice"
    return f"waits in {where}"


def _asks_again(graph: WaitGraph, actor: str) -> str:
    owned = {q.lock for q, r in graph.places(actor) if not r.reads and graph.holds(q, r)}
    again = any(q.kind in _ONE_OWNER and q.lock in owned for q, _ in waiting_places(graph, actor))
    return "asks for a lock that it holds" if again else ""
