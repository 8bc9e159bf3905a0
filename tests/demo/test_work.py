"""What contenders do under their locks: work, oversleep, raise, die, forget, come again."""

import signal

import pytest
from demo.contenders import Stage

from zktop.demo_types import LockClaim


def test_held_for_as_long_as_ordered(rehearsal: Stage):
    """Then it is released, without anybody's word."""
    rehearsal.start("a", hold_s=0.1)
    rehearsal.ended("a")

    assert rehearsal.log.count("a", "released") == 1
    assert rehearsal.log.ended["a"].exit_code == 0


def test_an_early_release_counts(rehearsal: Stage):
    """The word to release may come before the work has begun."""
    rehearsal.queue_up("predecessor", "a", "b")
    rehearsal.pool.release("b")
    rehearsal.pool.release("a")
    rehearsal.ended("a", "b")

    assert rehearsal.log.count("b", "acquired") == 1


def test_an_oversleeper_believes_until_it_looks(stage: Stage):
    """Its session expires while it stands still: for a while two believe."""
    stage.start("a", work="oversleep", sleep_s=2.5, session_timeout_s=1.0)
    stage.told("a", "working")
    stage.start("b")
    stage.told("b", "acquired")
    stage.told("a", "lost")
    stage.ended("a")

    assert stage.log.most_believers(stage.path) == {"a", "b"}
    assert stage.holders() == {"b"}
    assert "awake" in " ".join(step.says for step in stage.log.steps)


def test_work_that_raises_releases_all_the_same(rehearsal: Stage):
    """The exception ends the contender, and not the lock."""
    rehearsal.queue_up("predecessor", "a", "b", work="raise")
    rehearsal.pool.release("a")
    rehearsal.told("b", "acquired")
    rehearsal.ended("a")

    assert rehearsal.log.count("a", "failed") == 1


def test_one_that_dies_holds_until_its_session_expires(stage: Stage):
    """No word to the server: the next waits for the session, not for a release."""
    stage.start("a", work="die", hold_s=0, session_timeout_s=1.0)
    stage.ended("a")
    stage.start("b")
    stage.told("b", "acquired")

    assert stage.log.ended["a"].exit_code == -signal.SIGKILL
    assert stage.log.count("a", "released") == 0


def test_one_that_forgets_holds_for_ever(rehearsal: Stage):
    """Its work is done, its session lives, and nobody else gets the lock."""
    rehearsal.start("a", work="never", hold_s=0)
    rehearsal.told("a", "working", times=2)
    rehearsal.start("b", timeout_s=0.3)
    rehearsal.ended("b")

    assert rehearsal.holders() == {"a"}


def test_locks_are_taken_in_the_given_order_and_released_in_reverse(rehearsal: Stage):
    """One after the other."""
    locks = [f"{rehearsal.path}/{name}" for name in "xyz"]
    rehearsal.start("a", claims=tuple(LockClaim("predecessor", lock) for lock in locks), hold_s=0)
    rehearsal.ended("a")
    steps = [s for s in rehearsal.log.steps if s.what in {"acquired", "released"}]

    assert [step.lock for step in steps] == locks + locks[::-1]


def test_a_gate_holds_until_the_word_comes(rehearsal: Stage):
    """The second lock is asked for when told, so that scenes can be set up step by step."""
    x, y = f"{rehearsal.path}/x", f"{rehearsal.path}/y"
    rehearsal.start("a", claims=(LockClaim("rw", x), LockClaim("rw", y, gate=True)))
    rehearsal.told("a", "waiting")

    assert rehearsal.nodes(y) == []

    rehearsal.pool.go("a")
    rehearsal.told("a", "acquired", times=2)


def test_who_gave_up_comes_again(rehearsal: Stage):
    """Two rounds in vain, each at the tail of the queue."""
    rehearsal.queue_up("get-watch", "a")
    rehearsal.start("b", "get-watch", timeout_s=0.1, rounds=2, pause_s=0.05)
    rehearsal.ended("b")
    created = [s.says for s in rehearsal.log.steps if s.who == "b" and s.what == "created"]

    assert created == ["created lock_0000000001", "created lock_0000000002"]
    assert rehearsal.log.count("b", "gave-up") == 2


def test_a_lost_place_is_taken_again(rehearsal: Stage):
    """Our node was deleted: the Java article's recipe queues up once more."""
    rehearsal.queue_up("predecessor", "a", "b")
    rehearsal.zookeeper.delete(f"{rehearsal.path}/lock-0000000001")
    rehearsal.pool.release("a")
    rehearsal.holds("b")

    assert rehearsal.nodes() == ["lock-0000000002"]


def test_the_wrong_node_is_never_deleted(stage: Stage):
    """A holder of the one node wakes after its session: the node is another's by then."""
    stage.queue_up("single-node", "a", "b", session_timeout_s=1.0)
    stage.pool.freeze("a")
    stage.told("b", "acquired")
    stage.pool.release("a")
    stage.pool.thaw("a")
    stage.ended("a")

    assert stage.zookeeper.get(stage.path)[0] == b"b"


def test_another_contenders_node_is_never_deleted(rehearsal: Stage):
    """The one node was replaced behind the holder's back; its release leaves the new one alone."""
    rehearsal.queue_up("single-node", "a")
    rehearsal.zookeeper.delete(rehearsal.path)
    rehearsal.zookeeper.create(rehearsal.path, b"somebody else")
    rehearsal.pool.release("a")
    rehearsal.ended("a")

    assert rehearsal.zookeeper.get(rehearsal.path)[0] == b"somebody else"


def test_who_never_had_the_lock_ends_with_code_1(rehearsal: Stage):
    """As `flock` does."""
    rehearsal.queue_up("predecessor", "a")
    rehearsal.start("b", timeout_s=0.1)
    rehearsal.ended("b")

    assert rehearsal.log.ended["b"].exit_code == 1


@pytest.mark.parametrize("recipe", ["poll", "get-watch", "rw", "single-node", "kazoo-lock"])
def test_a_short_cut_of_the_line_costs_no_place(rehearsal: Stage, recipe: str):
    """The session lives on at another connection, and the watch is set again."""
    wanted = {"mode": "write"} if recipe == "rw" else {}
    rehearsal.queue_up(recipe, "a", "b", poll_s=0.05, session_timeout_s=8.0, **wanted)
    before = rehearsal.nodes()
    for name in "ab":
        rehearsal.pool.cut(name, 0.05)
    for name in "ab":
        rehearsal.told(name, "connected", times=2)
    rehearsal.pool.release("a")
    rehearsal.holds("b")

    assert set(rehearsal.nodes()) <= set(before)
    assert len(rehearsal.log.most_believers(rehearsal.path)) == 1
