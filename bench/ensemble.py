"""A large ensemble as facts: quiet locks, five contenders each.

Up to ten thousand locks, each contender is a session of its own. With more, the contenders share
fifty thousand sessions, as services with many threads do: a fifth of them only hold locks, the
others only wait, so that no deadlock is possible.
"""

import random
import time
from collections.abc import Iterator

from msgspec.structs import replace

from bench.sizes import size
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.text import Text

NOW = time.time_ns() // 1_000_000 - 60_000  # they have waited for a minute
LOCKS, EACH = size(10_000, 100), 5
SEEN = 10_000_000  # the zxid of the reading
SESSIONS = 50_000


def facts(locks: int = LOCKS, each: int = EACH) -> Iterator[AnyFact]:
    """The facts of a first reading."""
    chance = random.Random(1)
    for number in range(locks):
        path = Text(f"/locks/l{number:05d}")
        read = lock(path, each, 100 + number * 20, chance)
        yield from read if locks * each <= SESSIONS else _shared(read, number, each)


def _shared(read: Iterator[AnyFact], number: int, each: int) -> Iterator[AnyFact]:
    """The same lock, with owners that have places in other locks, too."""
    yield next(read)
    holders = SESSIONS // each
    waiters = SESSIONS - holders
    for place, fact in enumerate(read):
        waiter = holders + (number * (each - 1) + place - 1) % waiters
        owner = 1 + (waiter if place else number % holders)
        assert isinstance(fact, Node)
        stat = replace(fact.stat, owner=owner)
        yield replace(fact, stat=stat, data=b"worker-%d" % owner)


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
