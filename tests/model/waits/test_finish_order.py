"""What a change costs: which places the deadlock test looks at again."""

from model.waits.notation import put, queues
from model.waits.stuck import stuck_classes

from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue

CHAIN = " ; ".join(f"L{n} x: A{n}@{2 * n + 1} A{n + 1}@{2 * n + 2}" for n in range(50))


def places_tested_after(*changed: WaitQueue) -> int:
    """Begin with a chain of fifty waits, change some queues, and count the places tested."""
    graph = WaitGraph(queues(CHAIN))
    assert not stuck_classes(graph)
    for queue in changed:
        put(graph, queue)
    assert not graph.cores
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
    assert not stuck_classes(graph)

    (closing,) = queues("L50 x: A50@101 A0@102")
    put(graph, closing)

    assert len(stuck_classes(graph)) == 51


def test_a_ring_that_ends_leaves_nobody_stuck():
    """One release lets all of them finish."""
    graph = WaitGraph(queues(f"{CHAIN} ; L50 x: A50@101 A0@102"))
    assert len(stuck_classes(graph)) == 51

    (released,) = queues("L50 x: A0@102")
    put(graph, released)

    assert not stuck_classes(graph)


def test_a_change_in_one_deadlock_leaves_the_others_as_they_are():
    """What was found out about them still holds."""
    graph = WaitGraph(queues("X x: A B ; Y x: B A ; V x: C D ; W x: D C"))
    (other,) = [one for one in graph.stuck_sets if "A" in one.actors]

    (longer,) = queues("V x: C@1 D@2 E@9")
    put(graph, longer)

    assert other in graph.stuck_sets
    assert len(graph.stuck_sets) == 2


def test_deadlocks_that_get_a_queue_in_common_are_explained_together():
    """An actor behind both of them connects them."""
    graph = WaitGraph(queues("X x: A B ; Y x: B A ; V x: C D ; W x: D C"))
    assert len(graph.stuck_sets) == 2

    for queue in queues("X x: A@1 B@2 E@9 ; V x: C@1 D@2 E@8"):
        put(graph, queue)
    (joined,) = graph.stuck_sets

    assert joined.actors == set("ABCDE")
    assert len(joined.cores) == 2
