"""A long queue after small changes equals one that is read for the first time."""

import random
from collections.abc import Iterator
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.make_facts import NOW, kazoo_name, lock, session

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone, Node, Stat, join
from zktop.model.text import Text
from zktop.model.waits.wait_queue import WaitRequest
from zktop.model.world.world import World

CROWD = tuple(f"w{number}" for number in range(80))
PATH = Text("/a")
MIXED = ("rlock", "lock", "rlock")


def changes(chance: random.Random, modes: tuple[str, ...]) -> Iterator[AnyFact]:
    """Endless changes: contenders come at the end and leave from anywhere."""
    alive = [kazoo_name(owner, number) for number, owner in enumerate(CROWD)]
    number = len(alive)
    while True:
        number += 1
        zxid, at = 1_000 + number, NOW + number
        if chance.random() < 0.5:
            gone = alive.pop(chance.choice((0, chance.randrange(len(alive)))))
            yield Gone(path=join(PATH, gone), zxid=zxid, at=at)
            continue
        owner = chance.choice(CROWD[:5])
        name = _name(f"{owner}-{number}", number, chance.choice(modes))
        alive.append(name)
        stat = Stat(zxid, zxid, at, owner=session(owner))
        yield Node(path=join(PATH, name), stat=stat, data=owner.encode(), zxid=zxid, at=at)


def _name(owner: str, number: int, mode: str) -> Text:
    if mode == "curator":
        return Text(f"_c_{UUID(int=number)}-lock-{number:010d}")
    return kazoo_name(owner, number, mode)


@pytest.mark.parametrize("modes", [("lock",), ("lock", "rlock"), ("lock", "curator")])
@settings(max_examples=15)
@given(chance=st.randoms(use_true_random=False), sizes=st.lists(st.integers(1, 5), max_size=8))
def test_it_waits_as_if_it_were_new(
    modes: tuple[str, ...], chance: random.Random, sizes: list[int]
) -> None:
    """In one library or two, with readers or without, one change a look or several."""
    world, examiner = World().after(*lock(PATH, *CROWD)), Examiner()
    examiner.look(world, NOW)
    history = changes(chance, modes)
    for size in sizes:
        for _ in range(size):
            world = world.after(next(history))
        examiner.look(world, NOW + 5_000)

    assert _requests(examiner) == _requests(_fresh(world))


def test_a_contender_between_the_last_reader_and_the_next_is_a_writer() -> None:
    """One look brings all three: the old reader's end, the contender, and a new reader."""
    names = [_name(f"{mode}-{number}", number, mode) for number, mode in enumerate(MIXED, 100)]
    nodes = [
        Node(
            path=join(PATH, name),
            stat=Stat(number, number, NOW, owner=session(name)),
            data=b"",
            zxid=number,
            at=NOW,
        )
        for number, name in enumerate(names, start=1_001)
    ]
    world, examiner = World().after(*lock(PATH, "a", "b", "c"), nodes[0]), Examiner()
    examiner.look(world, NOW)
    world = world.after(Gone(path=nodes[0].path, zxid=1_010, at=NOW), *nodes[1:])
    examiner.look(world, NOW + 5_000)

    assert _requests(examiner) == _requests(_fresh(world))


def _fresh(world: World) -> Examiner:
    examiner = Examiner()
    examiner.look(world, NOW + 5_000)
    return examiner


def _requests(examiner: Examiner) -> dict[str, tuple[WaitRequest, ...]]:
    queues = examiner._waits.graph.queues
    return {name: tuple(queue.requests) for name, queue in queues.items()}
