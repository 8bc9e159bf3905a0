"""Root blockers: whom all the waiting leads to."""

from model.waits.notation import graph

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.root_blockers import Forest, RootBlocker


def roots(found: WaitGraph, now_ms: int = 1_000_000) -> tuple[RootBlocker, ...]:
    """The roots of a state."""
    forest = Forest()
    for lock, queue in found.queues.items():
        forest.replaced(lock, queue)
    return forest.roots(found, now_ms)


def test_waits_add_up_at_the_root():
    """C waits for B, which waits for A: both are A's."""
    (root,) = roots(graph("X x: A@1 B@20 ; Y x: B@2 C@30"), now_ms=100_000)

    assert (root.actors, root.blocked, root.blocked_ms) == (("A",), 2, 80_000 + 70_000)


def test_nobody_waits_for_less_than_no_time():
    """The clock of the leader, which dates the nodes, may be ahead of ours."""
    (root,) = roots(graph("X x: A@1 B@20"), now_ms=10_000)

    assert root.blocked_ms == 0


def test_the_most_blocked_time_comes_first():
    """Not the longest queue."""
    found = roots(graph("X x: A@1 B@900 C@901 ; Y x: D@2 E@3"))

    assert [root.actors for root in found] == [("D",), ("A",)]


def test_a_deadlock_is_one_root():
    """Whoever waits behind it, waits for all of it."""
    (root,) = roots(graph("X x: A@1 B@8 ; Y x: B@2 A@7 D@9"), now_ms=10_000)

    assert (root.actors, root.core, root.blocked) == (("A", "B"), 0, 3)


def test_a_waiter_in_two_queues_counts_once():
    """In the one where it has waited longer."""
    found = roots(graph("X x: A@1 C@10 ; Y x: B@2 C@11"), now_ms=20_000)

    assert [(root.actors, root.blocked) for root in found if root.blocked] == [(("A",), 1)]


def test_readers_before_the_first_writer_do_not_wait():
    """R R W R: two wait."""
    (root,) = roots(graph("L rw: A.R B.R C.W D.R"))

    assert (root.actors, root.blocked) == (("A",), 2)


def test_nobody_can_be_a_root():
    """An orphan blocks as well as anybody."""
    (root,) = roots(graph("X x: orphan@1 B@2"))

    assert root.actors == ("nobody:/X/1",)


def test_a_queue_that_is_gone_leaves_no_root():
    """Only the newest queues count."""
    found, forest = graph("X x: A B"), Forest()
    forest.replaced("/X", found.queues["/X"])
    forest.replaced("/X", None)

    assert forest.roots(found, 1_000) == ()


def test_a_pool_that_will_open_is_not_followed_in_circles():
    """T09: the first of the ring stands for it."""
    found = roots(graph("P sem(2): A@1 C@2 B@8 ; Y x: B@3 A@7"))

    assert sum(root.blocked for root in found) == 2
