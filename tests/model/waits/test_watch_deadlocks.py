"""Deadlocks of the watch graph, where the order graph sees none."""

from model.waits.notation import queues
from model.waits.stuck import stuck_classes

from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue
from zktop.model.waits.watch_deadlocks import watch_deadlocks


def queue(text: str) -> WaitQueue:
    """One lock."""
    (found,) = queues(text)
    return found


def test_two_that_watch_each_other_sleep_for_good():
    """T24: by order the reader holds the lock, by the watch table both sleep."""
    lock = queue("L rw: A.R@1 B.W@2")
    watched = {"A": {"lock-0000000002"}, "B": {"lock-0000000001"}}
    (made,) = watch_deadlocks(lock, watched, DisplayNames())

    assert not stuck_classes(WaitGraph([lock]))
    assert (made.rule, made.kind, made.confidence) == ("D7", "watches", "C4")
    assert made.sentence == (
        "A and B watch each other's nodes in /L: by queue order A may continue, but nothing "
        "will wake any of them."
    )


def test_a_waiter_that_watches_its_successor_is_never_woken():
    """All its watches are behind it."""
    watched = {"B": {"lock-0000000003"}}
    (made,) = watch_deadlocks(queue("L x: A@1 B@2 C@3"), watched, DisplayNames())

    assert made.sentence == (
        "B waits in /L but watches C, which is behind it; no release will wake it."
    )


def test_a_proper_chain_of_watches_is_fine():
    """Each waiter watches the one before it; a holder with a watch is no waiter."""
    chain = {"B": {"lock-0000000001"}, "C": {"lock-0000000002"}, "A": {"lock-0000000003"}}
    lock = queue("L x: A@1 B@2 C@3")

    assert not watch_deadlocks(lock, {"B": chain["B"], "C": chain["C"]}, DisplayNames())
    assert not watch_deadlocks(lock, {"A": chain["A"]}, DisplayNames())


def test_a_watch_before_it_is_enough():
    """Several members in a root: the union counts."""
    both = {"B": {"lock-0000000001", "lock-0000000003"}}

    assert not watch_deadlocks(queue("L x: A@1 B@2 C@3"), both, DisplayNames())


def test_a_watch_in_another_queue_of_the_lock_is_enough():
    """Any of them may wake it, wherever in the lock its node is."""
    ring = {"A": {"lock-0000000002", "elsewhere"}, "B": {"lock-0000000001"}}
    successor = {"B": {"lock-0000000003", "elsewhere"}}

    assert not watch_deadlocks(queue("L rw: A.R@1 B.W@2"), ring, DisplayNames())
    assert not watch_deadlocks(queue("L x: A@1 B@2 C@3"), successor, DisplayNames())


def test_watches_outside_of_the_lock_say_nothing():
    """Only members count, and actors whose table is unknown are left out."""
    assert not watch_deadlocks(queue("L x: A@1 B@2"), {"B": {"config"}}, DisplayNames())
    assert not watch_deadlocks(queue("L x: A@1 B@2"), {}, DisplayNames())
