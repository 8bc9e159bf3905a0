"""What a change costs: which places the deadlock test looks at again."""

from model.waits.notation import queues

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue

CHAIN = " ; ".join(f"L{n} x: A{n}@{2 * n + 1} A{n + 1}@{2 * n + 2}" for n in range(50))


def places_tested_after(*changed: WaitQueue) -> int:
    """Begin with a chain of fifty waits, change some queues, and count the places tested."""
    graph = WaitGraph(queues(CHAIN))
    assert not graph.stuck_set.actors
    for queue in changed:
        graph.replace(queue)
    assert not graph.stuck_set.cores
    return graph.tested


def test_the_first_test_looks_at_every_place():
    """A0 and A50 have only one place, and pass through."""
    assert places_tested_after() == 98


def test_a_release_tests_nothing_again():
    """Whatever could finish before still can."""
    (released,) = queues("L20 x: A21@42")

    assert places_tested_after(released) == 0


def test_a_new_wait_tests_only_what_is_behind_it():
    """A47 waits for a newcomer: only A48 and A49 depend on it."""
    assert places_tested_after(*queues("M x: B@200 A47@201 ; N x: B@199")) < 20


def test_a_new_ring_is_found():
    """The last one waits for the first one."""
    graph = WaitGraph(queues(CHAIN))
    assert not graph.stuck_set.actors

    (closing,) = queues("L50 x: A50@101 A0@102")
    graph.replace(closing)

    assert len(graph.stuck_set.actors) == 51


def test_a_ring_that_ends_leaves_nobody_stuck():
    """One release lets all of them finish."""
    graph = WaitGraph(queues(f"{CHAIN} ; L50 x: A50@101 A0@102"))
    assert len(graph.stuck_set.actors) == 51

    (released,) = queues("L50 x: A0@102")
    graph.replace(released)

    assert not graph.stuck_set.actors
