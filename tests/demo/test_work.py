"""What contenders do with their locks: work, oversleep, raise, die, keep them, queue up again."""

import signal

import pytest
from demo.contenders import Bench

from zktop.demo_types import LockClaim


def test_held_for_as_long_as_ordered(threads: Bench):
    """The lock is released after `hold_s`, without a command."""
    threads.start("a", hold_s=0.1)
    threads.ended("a")

    assert threads.log.count("a", "released") == 1
    assert threads.log.ended["a"].exit_code == 0


def test_an_early_release_counts(threads: Bench):
    """The command to release may arrive before the contender has the lock."""
    threads.queue_up("predecessor", "a", "b")
    threads.pool.release("b")
    threads.pool.release("a")
    threads.ended("a", "b")

    assert threads.log.count("b", "acquired") == 1


def test_an_oversleeper_believes_it_holds_until_it_checks(bench: Bench):
    """Its session expires while it sleeps: for a while, two contenders believe that they hold."""
    bench.start("a", work="oversleep", sleep_s=2.5, session_timeout_s=1.0)
    bench.wait_for_step("a", "working")
    bench.start("b")
    bench.wait_for_step("b", "acquired")
    bench.wait_for_step("a", "lost")
    bench.ended("a")

    assert bench.log.most_believers(bench.path) == {"a", "b"}
    assert bench.holders() == {"b"}
    assert "wakes up" in " ".join(step.says for step in bench.log.steps)


def test_work_that_raises_releases_the_locks(threads: Bench):
    """Its locks do not outlive the exception."""
    threads.queue_up("predecessor", "a", "b", work="raise")
    threads.pool.release("a")
    threads.wait_for_step("b", "acquired")
    threads.ended("a")

    assert threads.log.count("a", "failed") == 1


def test_a_contender_that_dies_holds_until_its_session_expires(bench: Bench):
    """A killed contender releases nothing: the next one waits until the session expires."""
    bench.start("a", work="die", hold_s=0, session_timeout_s=1.0)
    bench.ended("a")
    bench.start("b")
    bench.wait_for_step("b", "acquired")

    assert bench.log.ended["a"].exit_code == -signal.SIGKILL
    assert bench.log.count("a", "released") == 0


def test_a_contender_that_forgets_to_release_holds_for_ever(threads: Bench):
    """Its work is done, its session lives, and no other contender gets the lock."""
    threads.start("a", work="never", hold_s=0)
    threads.wait_for_step("a", "working", times=2)
    threads.start("b", timeout_s=0.3)
    threads.ended("b")

    assert threads.holders() == {"a"}


def test_locks_are_taken_in_the_given_order_and_released_in_reverse(threads: Bench):
    """Three locks are acquired as x, y, z and released as z, y, x."""
    locks = [f"{threads.path}/{name}" for name in "xyz"]
    threads.start("a", claims=tuple(LockClaim("predecessor", lock) for lock in locks), hold_s=0)
    threads.ended("a")
    steps = [s for s in threads.log.steps if s.what in {"acquired", "released"}]

    assert [step.lock for step in steps] == locks + locks[::-1]


def test_a_gate_stays_closed_until_go(threads: Bench):
    """It asks for the second lock after `go`, so that scenes can be set up step by step."""
    x, y = f"{threads.path}/x", f"{threads.path}/y"
    threads.start("a", claims=(LockClaim("rw", x), LockClaim("rw", y, gate=True)))
    threads.wait_for_step("a", "waiting")

    assert threads.nodes(y) == []

    threads.pool.go("a")
    threads.wait_for_step("a", "acquired", times=2)


def test_a_contender_that_gave_up_queues_up_again(threads: Bench):
    """It tries for two rounds, and joins the end of the queue in each."""
    threads.queue_up("get-watch", "a")
    threads.start("b", "get-watch", timeout_s=0.1, rounds=2, pause_s=0.05)
    threads.ended("b")
    created = [s.says for s in threads.log.steps if s.contender == "b" and s.what == "created"]

    assert created == ["created lock_0000000001", "created lock_0000000002"]
    assert threads.log.count("b", "gave-up") == 2


def test_a_lost_place_is_taken_again(threads: Bench):
    """If its node is deleted, the recipe of the Java article queues up once more."""
    threads.queue_up("predecessor", "a", "b")
    threads.zookeeper.delete(f"{threads.path}/lock-0000000001")
    threads.pool.release("a")
    threads.holds("b")

    assert threads.nodes() == ["lock-0000000002"]


def test_the_wrong_node_is_never_deleted(bench: Bench):
    """A holder wakes after its session has expired: the node belongs to another by then."""
    bench.queue_up("single-node", "a", "b", session_timeout_s=1.0)
    bench.pool.freeze("a")
    bench.wait_for_step("b", "acquired")
    bench.pool.release("a")
    bench.pool.thaw("a")
    bench.ended("a")

    assert bench.zookeeper.get(bench.path)[0] == b"b"


def test_another_contenders_node_is_never_deleted(threads: Bench):
    """If the node of a holder was replaced, its release leaves the new node alone."""
    threads.queue_up("single-node", "a")
    threads.zookeeper.delete(threads.path)
    threads.zookeeper.create(threads.path, b"somebody else")
    threads.pool.release("a")
    threads.ended("a")

    assert threads.zookeeper.get(threads.path)[0] == b"somebody else"


def test_a_contender_that_never_had_the_lock_exits_with_1(threads: Bench):
    """The exit code is 1 after a time-out, as with `flock`."""
    threads.queue_up("predecessor", "a")
    threads.start("b", timeout_s=0.1)
    threads.ended("b")

    assert threads.log.ended["b"].exit_code == 1


@pytest.mark.parametrize("recipe", ["poll", "get-watch", "rw", "single-node", "kazoo-lock"])
def test_a_short_disconnection_costs_no_place(threads: Bench, recipe: str):
    """The session continues on a new connection, and the watch is set again."""
    wanted = {"mode": "write"} if recipe == "rw" else {}
    threads.queue_up(recipe, "a", "b", poll_s=0.05, session_timeout_s=8.0, **wanted)
    before = threads.nodes()
    for name in "ab":
        threads.pool.cut(name, 0.05)
    for name in "ab":
        threads.wait_for_step(name, "connected", times=2)
    threads.pool.release("a")
    threads.holds("b")

    assert set(threads.nodes()) <= set(before)
    assert len(threads.log.most_believers(threads.path)) == 1
