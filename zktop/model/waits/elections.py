"""The question what would be if candidates did block while they wait to lead.

Normally a candidate goes on working, so an election is no wait. But a leader that waits for a lock
whose holder waits to lead is worth a hint, and more where identities name threads.
"""

from msgspec.structs import replace

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.state import Queue


def entangled(graph: WaitGraph) -> WaitGraph | None:
    """Make a graph of all that hangs together with candidates who also want locks, if any."""
    elections = [q for q in graph.queues.values() if q.kind == "election" and not q.blocking]
    elections = [queue for queue in elections if _may_entangle(graph, queue)]
    work = [request.actor for queue in elections for request in queue.requests]
    if not work:
        return None
    locks: set[str] = set()
    in_elections = {request.actor for queue in elections for request in queue.requests}
    while work:
        for lock in set(graph.locks(work.pop())) - locks:
            locks.add(lock)
            actors = {request.actor for request in graph.queues[lock].requests}
            work += actors & (graph.tangled | in_elections)
    blocking = [replace(queue, blocking=True) for queue in elections]
    return WaitGraph([*blocking, *(graph.queues[lock] for lock in sorted(locks))])


def _may_entangle(graph: WaitGraph, queue: Queue) -> bool:
    """Whether a candidate holds something while another one before it waits for something."""
    actors = [request.actor for request in queue.requests]
    waits = (not graph.holds(q, r) for actor in actors[:-1] for q, r in graph.places(actor))
    return any(graph.locks(actor) for actor in actors[1:]) and any(waits)
