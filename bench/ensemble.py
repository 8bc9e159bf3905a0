"""A large ensemble as facts: ten thousand quiet locks, five contenders each."""

import random
import time
from collections.abc import Iterator

from bench.sizes import size
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.text import Text

NOW = time.time_ns() // 1_000_000 - 60_000  # they have waited for a minute
LOCKS, EACH = size(10_000, 100), 5
SEEN = 10_000_000  # the zxid of the reading


def facts(locks: int = LOCKS, each: int = EACH) -> Iterator[AnyFact]:
    """The facts of a first reading."""
    chance = random.Random(1)
    for number in range(locks):
        yield from lock(Text(f"/locks/l{number:05d}"), each, 100 + number * 20, chance)


def lock(path: Text, each: int, czxid: int, chance: random.Random) -> Iterator[AnyFact]:
    """One lock, as kazoo writes it; its first contender has just acquired it."""
    names = tuple(kazoo_name(chance, sequence) for sequence in range(each))
    root = Stat(czxid, czxid, NOW, cversion=each, num_children=each, pzxid=czxid + each)
    yield Children(path=path, names=names, stat=root, zxid=SEEN, at=NOW)
    for place, name in enumerate(names, start=1):
        yield contender(join(path, name), czxid + place, chance, NOW)


def contender(path: Text, czxid: int, chance: random.Random, at: int) -> Node:
    """One contender with its own session and label."""
    owner = chance.getrandbits(62) | 1
    stat = Stat(czxid, czxid, at, owner=owner, data_length=11, pzxid=czxid)
    label = b"worker-%04d" % chance.randrange(10_000)
    return Node(path=path, stat=stat, data=label, zxid=max(SEEN, czxid), at=at)


def kazoo_name(chance: random.Random, sequence: int) -> Text:
    return Text(f"{chance.getrandbits(128):032x}__lock__{sequence:010d}")
