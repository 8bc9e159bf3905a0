"""Verdicts that need several looks: phantoms, threads, abandoned waits."""

from model.waits.notation import graph, put, queues
from model.waits.stuck import assess
from msgspec.structs import replace

from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.concurrent_actors import ConcurrencyDetector
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue

RING = "X x: A@1 B@8 ; Y x: B@2 A@7"
KNOWN = ActorEvidence(now_ms=100_000)


def queue(text: str, seen_zxid: int = 1_000_000) -> WaitQueue:
    """One lock."""
    (found,) = queues(text, seen_zxid=seen_zxid)
    return found


def test_a_ring_stitched_from_two_moments_is_no_deadlock():
    """T22: the lock with the older listing is read again, and the ring is gone."""
    found = WaitGraph(
        [queue("X x: A@80 B@90", seen_zxid=100), queue("Y x: B@85 A@110", seen_zxid=120)]
    )
    before = assess(found, KNOWN)

    assert not before.deadlocks
    assert before.relist
    assert before.relist == ("/X",)

    put(found, queue("X x: B@90", seen_zxid=125))
    after = assess(found, KNOWN)

    assert (after.deadlocks, after.relist) == ((), ())


def test_a_second_listing_proves_a_ring():
    """T22, the other way: still there, so it was real."""
    late = queue("X x: A@80 B@90", seen_zxid=100)
    found = WaitGraph([late, queue("Y x: B@85 A@110", seen_zxid=120)])
    assess(found, KNOWN)
    found.replace(replace(late, seen_zxid=125), created=(), deleted=())
    after = assess(found, KNOWN)

    assert [made.coexistence_proven for made in after.deadlocks] == [True]


def test_without_zxids_nothing_is_proven_and_nothing_is_hidden():
    """Listing again would not help, so it is shown, with doubt."""
    found = assess(WaitGraph(queues(RING, seen_zxid=0)), KNOWN)

    assert [(made.coexistence_proven, made.confidence) for made in found.deadlocks] == [
        (False, "C2")
    ]
    assert not found.relist


def test_an_actor_that_acts_while_it_waits_has_several_threads():
    """T23: A creates and deletes a member of Z during its wait; the deadlock becomes a hint."""
    activity = ConcurrencyDetector()
    found = WaitGraph(queues(RING, seen_zxid=50))
    (extra,) = queue("Z x: A@20").requests
    activity.note_deletion(extra, there=20, gone=30)

    assert activity.look(found) == ()
    assert activity.is_concurrent("A")
    assert not activity.is_concurrent("B")

    made = assess(found, ActorEvidence(now_ms=100_000, concurrent={"A"}))

    assert [hint.confidence for hint in made.hints] == ["C1"]
    assert not made.deadlocks


def test_a_session_that_ends_is_not_concurrent():
    """All its nodes vanish at once, but listings show one after the other."""
    activity = ConcurrencyDetector()
    found = WaitGraph([queue("X x: B@8", seen_zxid=30), queue("Y x: B@2 A@7", seen_zxid=20)])
    activity.note_deletion(queue("X x: A@1").requests[0], there=10, gone=30)

    assert activity.look(found) == ("/Y",)

    put(found, queue("Y x: B@2", seen_zxid=31))

    assert activity.look(found) == ()
    assert not activity.is_concurrent("A")


def test_of_undecided_releases_only_the_newest_is_remembered():
    """A service may release thousands of times before a lock can be listed again."""
    activity = ConcurrencyDetector()
    found = WaitGraph([queue("X x: B@8", seen_zxid=20), queue("Y x: B@2 A@7", seen_zxid=20)])
    for zxid in range(30, 60, 2):
        activity.note_deletion(queue("Z x: A@1").requests[0], there=zxid, gone=zxid + 1)

        assert activity.look(found) == ("/Y",)
        assert len(activity._deletions) == 1

    put(found, queue("Y x: B@2 A@7", seen_zxid=60))

    assert activity.look(found) == ()
    assert activity.is_concurrent("A")


def test_taking_another_lock_while_stuck_shows_a_second_thread():
    """A holds a node that is younger than its own wait."""
    activity = ConcurrencyDetector()
    activity.look(graph(f"{RING} ; Z x: A@20"))

    assert activity.is_concurrent("A")


def test_a_second_wait_shows_a_second_thread():
    """It is still known when that wait is over."""
    activity = ConcurrencyDetector()
    activity.look(graph(f"{RING} ; Z x: C@3 A@20"))
    activity.look(graph(RING))

    assert activity.is_concurrent("A")
    assert not activity.is_concurrent("B")


def test_two_waits_that_may_have_followed_one_another_prove_nothing():
    """Its wait for Y was last seen before it asked for Z."""
    activity = ConcurrencyDetector()
    old = [*queues(RING, seen_zxid=15), queue("Z x: C@3 A@20", seen_zxid=21)]
    activity.look(WaitGraph(old))

    assert not activity.is_concurrent("A")
