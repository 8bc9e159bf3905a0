"""The scale case has the answer that it was built for, also step by step."""

import pytest
from model.waits.scale_case import longer, scale_case, shorter
from model.waits.stuck import actors_behind, assess, stuck_classes

from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.wait_graph import WaitGraph, stuck_cores


@pytest.fixture(scope="module")
def graph() -> WaitGraph:
    """The wait graph of the scale case."""
    return WaitGraph(scale_case())


def sizes(graph: WaitGraph) -> list[int]:
    """How many actors each core has."""
    return sorted(len(core.actors) for core in graph.cores)


def test_the_state_has_its_size():
    """10,000 actors, 12,199 members, 2,203 locks."""
    queues = scale_case()
    members = [request for queue in queues for request in queue.requests]

    assert len(queues) == 2_203
    assert len(members) == 12_199
    assert len({request.actor for request in members}) == 10_000


def test_only_four_rings_and_their_victims_are_stuck(graph: WaitGraph):
    """1,200 stuck: 200 in four cores of 50, 1,000 behind the first."""
    found = stuck_classes(graph)

    assert sizes(graph) == [50, 50, 50, 50]
    assert list(found.values()).count("core") == 200
    assert {actor for actor in found if found[actor] == "behind"} == {
        f"victim{i}" for i in range(1_000)
    }
    assert sorted(sum(1 for _ in actors_behind(one)) for one in stuck_cores(graph)) == [
        0,
        0,
        0,
        1_000,
    ]


def test_the_last_of_the_chain_closes_it_and_any_deletion_opens_it(graph: WaitGraph):
    """3,200 stuck with a fifth core of 2,000; then 1,200 again."""
    lock = "/chain/0"
    queue, request = longer(graph.queues[lock], "chain1999")
    graph.replace(queue, created=(request,), deleted=())

    assert sizes(graph) == [50, 50, 50, 50, 2_000]
    assert len(stuck_classes(graph)) == 3_200

    middle = graph.queues["/chain/700"]
    asked = middle.requests[1]
    graph.replace(shorter(middle, asked), created=(), deleted=(asked,))

    assert sizes(graph) == [50, 50, 50, 50]
    assert len(stuck_classes(graph)) == 1_200


def test_a_long_ring_is_one_short_sentence(graph: WaitGraph):
    """Fifty actors are not spelled out."""
    found = assess(graph, ActorEvidence(now_ms=60_000)).deadlocks

    assert [made.behind for made in found] == [1_000, 0, 0, 0]
    assert found[0].sentence == (
        "Ring of 50: ring0-0 -> ring0-1 -> ... -> ring0-49 -> ring0-0; "
        "oldest wait ring0-0 59s, closed by ring0-49 at 00:00:00Z."
    )
    assert found[0].ways_out[0].frees == 1_050
