"""What holds in every state (Q1 to Q7, Q9), on random small worlds."""

import random

from hypothesis import given
from hypothesis import strategies as st
from model.waits import random_states as w
from model.waits.notation import put
from model.waits.stuck import actors_behind, stuck_classes
from msgspec.structs import replace

from zktop.model.waits.cores import StuckQueue, components, keep_stuck, sparse_edges
from zktop.model.waits.wait_graph import WaitGraph, stuck_cores
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

PLAIN = ("exclusive", "read-write")
ORDERS = st.randoms(use_true_random=False)


def stuck(queues: list[WaitQueue]) -> set[str]:
    """The stuck actors, by the engine."""
    return set(stuck_classes(WaitGraph(queues)))


def verdict(graph: WaitGraph) -> tuple[object, ...]:
    """All that a graph says, in a form that can be compared."""
    behind = {one.core.actors: frozenset(actors_behind(one)) for one in stuck_cores(graph)}
    return stuck_classes(graph), behind


@given(w.worlds(), ORDERS)
def test_the_stuck_are_whom_a_literal_simulation_leaves(
    queues: list[WaitQueue], order: random.Random
):
    """Q1: the order in which actors finish does not matter."""
    assert stuck(queues) == w.simulate(queues, order)


@given(w.worlds(PLAIN, odd=False))
def test_with_plain_waits_an_actor_is_stuck_if_and_only_if_there_is_a_cycle(
    queues: list[WaitQueue],
):
    """Q2: for AND waits the search for cycles is exact."""
    assert bool(stuck(queues)) == w.has_cycle(w.full_edges(queues))


@given(w.worlds(PLAIN, odd=False))
def test_sparse_and_full_edges_have_the_same_components(queues: list[WaitQueue]):
    """Q3: the few edges lose no connection."""
    full = w.full_edges(queues)
    sparse = {
        (queue.requests[place].actor, queue.requests[other].actor)
        for queue in queues
        for place, other in sparse_edges(_whole(queue))
    }
    actors = sorted({actor for edge in full for actor in edge})

    assert _groups(sparse, actors) == _groups(full, actors)


def _whole(queue: WaitQueue) -> StuckQueue:
    return keep_stuck(queue, queue.requests, {r.actor for r in queue.requests})


def _groups(edges: set[tuple[str, str]], actors: list[str]) -> set[frozenset[str]]:
    graph = {actor: [b for a, b in sorted(edges) if a == actor] for actor in actors}
    return {frozenset(group) for group in components(graph)}


@given(w.worlds(), st.data())
def test_a_newcomer_changes_only_its_own_status(queues: list[WaitQueue], data: st.DataObject):
    """Q4: no member is behind the tail."""
    queue = data.draw(st.sampled_from(queues))
    after = _with(queues, queue, w.request(data.draw, queue.lock, queue.kind, "Z", 99))

    assert stuck(after) - {"Z"} == stuck(queues)


@given(w.worlds(), st.data())
def test_no_actor_gets_stuck_because_a_request_is_gone(
    queues: list[WaitQueue], data: st.DataObject
):
    """Q5, T30: a deadlock never closes by a deletion."""
    gone = data.draw(
        st.sets(st.sampled_from([(q.lock, f"n-{n}") for q in queues for n in range(6)]))
    )
    after = [
        replace(q, requests=tuple(r for r in q.requests if (q.lock, r.node) not in gone))
        for q in queues
        if q.kind != "single"
    ]
    before = [q for q in queues if q.kind != "single"]

    assert stuck(after) <= stuck(before)


@given(w.worlds(), st.data())
def test_a_request_of_a_free_actor_changes_nothing_for_others(
    queues: list[WaitQueue], data: st.DataObject
):
    """Q6: if its actor is free afterwards, nothing changed."""
    queue = data.draw(st.sampled_from(queues))
    actor = data.draw(st.sampled_from(w.ACTORS))
    after = _with(
        queues, queue, w.request(data.draw, queue.lock, queue.kind, actor, 99, odd=False)
    )

    assert actor in stuck(after) or stuck(after) == stuck(queues)


def _with(queues: list[WaitQueue], queue: WaitQueue, request: WaitRequest) -> list[WaitQueue]:
    longer = replace(queue, requests=(*queue.requests, request))
    if queue.kind == "conflict":
        longer = w.with_conflicts(longer)
    return [longer if other is queue else other for other in queues]


@given(w.worlds(odd=False))
def test_every_core_is_stuck_all_alone(queues: list[WaitQueue]):
    """Q7: a core needs no actor outside of it."""
    for core in WaitGraph(queues).cores:
        alone = [
            replace(q, requests=tuple(r for r in q.requests if r.actor in core.actors))
            for q in queues
            if q.kind != "single" or (q.requests and q.requests[0].actor in core.actors)
        ]

        assert stuck(alone) == core.actors


@given(w.worlds(("exclusive", "read-write", "pool", "single", "conflict"), odd=False))
def test_every_stuck_actor_leads_to_a_core(queues: list[WaitQueue]):
    """Q7: without orphans and leaders there is no other reason."""
    assert set(stuck_classes(WaitGraph(queues)).values()) <= {"core", "behind"}


@given(w.worlds(), st.randoms(use_true_random=False))
def test_the_order_of_reading_does_not_matter(queues: list[WaitQueue], order: random.Random):
    """Q8: the same queues in any order give the same verdict."""
    shuffled = order.sample(queues, len(queues))

    assert verdict(WaitGraph(shuffled)) == verdict(WaitGraph(queues))


@given(w.worlds(), st.integers(0, 2**32))
def test_step_by_step_is_the_same_as_all_at_once(queues: list[WaitQueue], seed: int):
    """Q9: after every event (or burst of events) the fold says what a new graph says."""
    chance = random.Random(seed)
    graph = WaitGraph(queues)
    now = {queue.lock: queue for queue in queues}
    for number in range(chance.randint(1, 12)):
        queue = now[chance.choice(sorted(now))]
        if chance.random() < 0.05:
            graph.remove(queue.lock)
            now[queue.lock] = replace(queue, requests=())
            continue
        after, created, deleted = w.changed(queue, number + 100, chance)
        now[queue.lock] = after
        is_told = chance.random() < 0.5 and queue.kind != "single"
        if is_told:
            graph.replace(after, created, deleted)
        else:
            put(graph, after)
        if chance.random() < 0.6:
            assert verdict(graph) == verdict(WaitGraph(now.values()))

    assert verdict(graph) == verdict(WaitGraph(now.values()))
