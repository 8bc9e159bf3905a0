"""Every recipe: holders, waiters, what a time-out leaves behind, what a release wakes."""

import pytest
from demo.contenders import Bench

from zktop.demo.client import LockClient
from zktop.demo.recipes import RECIPES
from zktop.demo.scene_count import scene_count

QUEUES = ("poll", "parent-watch", "predecessor", "get-watch", "kazoo-lock", "kazoo-election")
READ_WRITE = ("rw", "rw-host", "rw-herd", "rw-herd-host", "kazoo-rw")
ALL = (*QUEUES, "single-node", "rw-naive", *READ_WRITE, "kazoo-semaphore")


def alone(recipe: str) -> dict[str, object]:
    """What makes a claim exclude every other."""
    return {"mode": "write"} if "rw" in recipe else {}


def story(recipe: str) -> str:
    """What the recipe says of itself."""
    return next(one.info().story for one in RECIPES if one.name == recipe)


@pytest.mark.parametrize("recipe", QUEUES)
def test_the_lock_goes_down_the_queue(threads: Bench, recipe: str):
    """Released by the first, it goes to the second, and not to the third."""
    threads.queue_up(recipe, "a", "b", "c", poll_s=0.05)
    threads.pool.release("a")
    threads.holds("b")
    threads.pool.release("b")
    threads.holds("c")

    assert len(threads.log.most_believers(threads.path)) == 1


@pytest.mark.parametrize("recipe", QUEUES)
def test_the_third_window_goes_on_when_the_second_is_closed(threads: Bench, recipe: str):
    """Who waited for one that left waits for the one before that, and gets the lock in the end."""
    threads.queue_up(recipe, "a", "b", "c", poll_s=0.05)
    threads.pool.cancel("b")
    threads.ended("b")

    assert threads.holders() == {"a"}

    threads.pool.release("a")
    threads.holds("c")


@pytest.mark.parametrize("how", ["cancelled", "timed out"])
def test_a_client_that_leaves_the_queue_wakes_the_next(
    threads: Bench, monkeypatch: pytest.MonkeyPatch, how: str
):
    """It counts as woken even if it is notified before the delete is answered."""
    answered = LockClient.delete

    def answered_late(client: LockClient, path: str) -> None:
        answered(client, path)
        threads.wait_for_step("c", "notified")

    threads.queue_up("predecessor", "a")
    threads.queue_up_behind("b", timeout_s=60 if how == "cancelled" else 1)
    threads.queue_up_behind("c")
    monkeypatch.setattr(LockClient, "delete", answered_late)
    if how == "cancelled":
        threads.pool.cancel("b")
    threads.ended("b")

    assert [(one.contender, one.woken) for one in scene_count(threads.log.steps).departures] == [
        ("b", ("c",))
    ]


def test_without_a_queue_any_client_may_be_next(threads: Bench):
    """Where one node is the lock, exactly one of the herd has it after a release."""
    threads.queue_up("single-node", "a", "b", "c")
    threads.pool.release("a")
    threads.until(lambda: len(threads.holders() & {"b", "c"}) == 1)
    (second,) = threads.holders()
    threads.pool.release(second)
    threads.holds("b" if second == "c" else "c")


@pytest.mark.parametrize("recipe", ALL)
def test_a_client_that_gives_up_leaves_no_node(threads: Bench, recipe: str):
    """After a time-out the queue is as it was before, though the contender's session lives on."""
    threads.queue_up(recipe, "a", **alone(recipe))
    before = threads.nodes()
    again = {"rounds": 2, "pause_s": 3600}
    threads.start("b", recipe, timeout_s=0.3, poll_s=0.1, **again, **alone(recipe))
    threads.wait_for_step("b", "gave-up")

    assert threads.nodes() == before
    assert threads.holders() == {"a"}


@pytest.mark.parametrize("recipe", READ_WRITE)
def test_readers_share_and_writers_are_alone(threads: Bench, recipe: str):
    """R R W R: the writer waits for both readers, the last reader for the writer."""
    threads.queue_up(recipe, "r1", mode="read")
    threads.queue_up(recipe, "r2", mode="read")
    threads.start("w", recipe, mode="write")
    threads.wait_for_step("w", "watching")
    threads.start("r3", recipe, mode="read")
    threads.wait_for_step("r3", "watching")

    assert threads.holders() == {"r1", "r2"}

    threads.pool.release("r2")
    threads.holds("r1")
    threads.pool.release("r1")
    threads.holds("w")
    threads.pool.release("w")
    threads.holds("r3")


def test_a_semaphore_has_as_many_holders_as_leases(threads: Bench):
    """Of three contenders for two leases one waits until another has released."""
    threads.queue_up("kazoo-semaphore", "a", leases=2)
    threads.queue_up("kazoo-semaphore", "b", leases=2)
    threads.start("c", "kazoo-semaphore", leases=2)
    threads.wait_for_step("c", "watching")

    assert threads.holders() == {"a", "b"}

    threads.pool.release("a")
    threads.holds("b", "c")


def test_a_semaphore_with_other_leases_is_refused(threads: Bench):
    """A contender that expects another number of leases says so and ends; it does not crash."""
    threads.queue_up("kazoo-semaphore", "a", leases=2)
    threads.start("c", "kazoo-semaphore", leases=3)
    threads.ended("c")

    (failure,) = (step for step in threads.log.steps if step.what == "failed")
    assert failure.says == "kazoo refuses: Inconsistent max leases: 2, expected: 3"


@pytest.mark.parametrize(
    ("recipe", "woken"),
    [
        ("parent-watch", 3),
        ("single-node", 3),
        ("predecessor", 1),
        ("get-watch", 1),
        ("rw-herd", 3),
    ],
)
def test_whom_a_release_wakes(threads: Bench, recipe: str, woken: int):
    """A herd wakes all three waiters, a predecessor's watch only the next."""
    waiters = ("b", "c", "d")
    threads.queue_up(recipe, "a", **alone(recipe))
    for number, name in enumerate(waiters):
        threads.queue_up_behind(name, recipe, **alone(recipe))
        for there, earlier in enumerate(waiters[:number] if "children" in story(recipe) else ()):
            threads.wait_for_step(earlier, "watching", times=number - there + 1)
    before = {name: threads.log.count(name, "notified") for name in waiters}
    threads.pool.release("a")
    threads.until(lambda: bool(threads.holders() & set(waiters)))
    threads.until(
        lambda: sum(threads.log.count(n, "notified") > before[n] for n in waiters) >= woken
    )
    notified = [n for n in waiters if threads.log.count(n, "notified") > before[n]]

    assert len(notified) == woken


def test_every_step_is_told_in_plain_words(threads: Bench):
    """A waiter tells what it created, listed, decided and watches, and what became of it."""
    threads.queue_up("predecessor", "a", "b")
    threads.pool.release("a")
    threads.holds("b")
    threads.pool.release("b")
    threads.ended("b")
    steps = [(s.what, s.says) for s in threads.log.steps if s.contender == "b"]

    assert steps[1:] == [
        ("created", "created lock-0000000001"),
        ("listed", f"listed {threads.path}: lock-0000000000, lock-0000000001"),
        ("decided", "lock-0000000000 is ahead of lock-0000000001"),
        ("watching", "watches lock-0000000000"),
        ("notified", f"notified: {threads.path}/lock-0000000000 was deleted"),
        ("listed", f"listed {threads.path}: lock-0000000001"),
        ("decided", "lock-0000000001 is first"),
        ("acquired", f"acquired {threads.path}"),
        ("working", "works until it is released"),
        ("releasing", f"releasing {threads.path}"),
        ("released", f"released {threads.path}"),
        ("ended", "done"),
    ]


@pytest.mark.parametrize("recipe", ALL)
def test_the_owner_can_be_told_from_the_nodes(threads: Bench, recipe: str):
    """A contender's node carries its name."""
    threads.queue_up(recipe, "worker-7", **alone(recipe))
    own = threads.nodes() or [""]
    path = f"{threads.path}/{own[0]}".rstrip("/")

    assert threads.zookeeper.get(path)[0] == b"worker-7"
