"""Every recipe: who holds, who waits, what a time-out leaves behind, whom a release wakes."""

import pytest
from demo.contenders import Stage

from zktop.demo.recipes import RECIPES

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
def test_the_lock_goes_down_the_queue(rehearsal: Stage, recipe: str):
    """Released by the first, it goes to the second, and not to the third."""
    rehearsal.queue_up(recipe, "a", "b", "c", poll_s=0.05)
    rehearsal.pool.release("a")
    rehearsal.holds("b")
    rehearsal.pool.release("b")
    rehearsal.holds("c")

    assert len(rehearsal.log.most_believers(rehearsal.path)) == 1


@pytest.mark.parametrize("recipe", QUEUES)
def test_the_third_window_goes_on_when_the_second_is_closed(rehearsal: Stage, recipe: str):
    """Who waited for one that left waits for the one before that, and gets the lock in the end."""
    rehearsal.queue_up(recipe, "a", "b", "c", poll_s=0.05)
    rehearsal.pool.cancel("b")
    rehearsal.ended("b")

    assert rehearsal.holders() == {"a"}

    rehearsal.pool.release("a")
    rehearsal.holds("c")


def test_without_a_queue_anybody_may_be_next(rehearsal: Stage):
    """Where one node is the lock, exactly one of the herd has it after a release."""
    rehearsal.queue_up("single-node", "a", "b", "c")
    rehearsal.pool.release("a")
    rehearsal.until(lambda: len(rehearsal.holders() & {"b", "c"}) == 1)
    (second,) = rehearsal.holders()
    rehearsal.pool.release(second)
    rehearsal.holds("b" if second == "c" else "c")


@pytest.mark.parametrize("recipe", ALL)
def test_who_gives_up_leaves_no_node(rehearsal: Stage, recipe: str):
    """After a time-out the queue is as it was before, though the contender's session lives on."""
    rehearsal.queue_up(recipe, "a", **alone(recipe))
    before = rehearsal.nodes()
    again = {"rounds": 2, "pause_s": 3600}
    rehearsal.start("b", recipe, timeout_s=0.3, poll_s=0.1, **again, **alone(recipe))
    rehearsal.told("b", "gave-up")

    assert rehearsal.nodes() == before
    assert rehearsal.holders() == {"a"}


@pytest.mark.parametrize("recipe", READ_WRITE)
def test_readers_share_and_writers_are_alone(rehearsal: Stage, recipe: str):
    """R R W R: the writer waits for both readers, the last reader for the writer."""
    rehearsal.queue_up(recipe, "r1", mode="read")
    rehearsal.queue_up(recipe, "r2", mode="read")
    rehearsal.start("w", recipe, mode="write")
    rehearsal.told("w", "watching")
    rehearsal.start("r3", recipe, mode="read")
    rehearsal.told("r3", "watching")

    assert rehearsal.holders() == {"r1", "r2"}

    rehearsal.pool.release("r2")
    rehearsal.holds("r1")
    rehearsal.pool.release("r1")
    rehearsal.holds("w")
    rehearsal.pool.release("w")
    rehearsal.holds("r3")


def test_a_semaphore_has_as_many_holders_as_leases(rehearsal: Stage):
    """Of three contenders for two leases one waits until another has released."""
    rehearsal.queue_up("kazoo-semaphore", "a", leases=2)
    rehearsal.queue_up("kazoo-semaphore", "b", leases=2)
    rehearsal.start("c", "kazoo-semaphore", leases=2)
    rehearsal.told("c", "watching")

    assert rehearsal.holders() == {"a", "b"}

    rehearsal.pool.release("a")
    rehearsal.holds("b", "c")


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
def test_whom_a_release_wakes(rehearsal: Stage, recipe: str, woken: int):
    """A herd wakes all three waiters, a predecessor's watch only the next."""
    waiters = ("b", "c", "d")
    rehearsal.queue_up(recipe, "a", **alone(recipe))
    for number, name in enumerate(waiters):
        rehearsal.queue_up_behind(name, recipe, **alone(recipe))
        for there, earlier in enumerate(waiters[:number] if "children" in story(recipe) else ()):
            rehearsal.told(earlier, "watching", times=number - there + 1)  # woken by this one too
    before = {name: rehearsal.log.count(name, "notified") for name in waiters}
    rehearsal.pool.release("a")
    rehearsal.until(lambda: bool(rehearsal.holders() & set(waiters)))
    rehearsal.until(
        lambda: sum(rehearsal.log.count(n, "notified") > before[n] for n in waiters) >= woken
    )
    notified = [n for n in waiters if rehearsal.log.count(n, "notified") > before[n]]

    assert len(notified) == woken


def test_every_step_is_told_in_plain_words(rehearsal: Stage):
    """A waiter tells what it created, listed, decided and watches, and what became of it."""
    rehearsal.queue_up("predecessor", "a", "b")
    rehearsal.pool.release("a")
    rehearsal.holds("b")
    rehearsal.pool.release("b")
    rehearsal.ended("b")
    steps = [(s.what, s.says) for s in rehearsal.log.steps if s.who == "b"]

    assert steps[1:] == [
        ("created", "created lock-0000000001"),
        ("listed", f"listed {rehearsal.path}: lock-0000000000, lock-0000000001"),
        ("decided", "lock-0000000000 is before lock-0000000001"),
        ("watching", "watches lock-0000000000"),
        ("notified", f"notified: {rehearsal.path}/lock-0000000000 is gone"),
        ("listed", f"listed {rehearsal.path}: lock-0000000001"),
        ("decided", "lock-0000000001 is first"),
        ("acquired", f"acquired {rehearsal.path}"),
        ("working", "works until told"),
        ("releasing", f"gives {rehearsal.path} back"),
        ("released", f"released {rehearsal.path}"),
        ("ended", "done"),
    ]


@pytest.mark.parametrize("recipe", ALL)
def test_the_owner_can_be_told_from_the_nodes(rehearsal: Stage, recipe: str):
    """A contender's node carries its name."""
    rehearsal.queue_up(recipe, "worker-7", **alone(recipe))
    own = rehearsal.nodes() or [""]
    path = f"{rehearsal.path}/{own[0]}".rstrip("/")

    assert rehearsal.zookeeper.get(path)[0] == b"worker-7"
