"""Large worlds of different shapes, as facts: what may be slow at one of them is fast at others.

Each shape has the facts of a first reading. `release` is one change afterwards.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.facts import (
    AnyFact,
    Children,
    Connection,
    Connections,
    Gone,
    Node,
    Server,
    Stat,
    Watches,
    join,
)
from zktop.model.text import Text
from zktop.model.world.world import World

SEEN = 100_000_000  # the zxid of the reading
FIRST_ZXID = 100
PLACES = 10  # of each session of a service
CONTENDERS = 5
FIRST_SESSION = 0x1000000
SERVER = Text("zk1:2181")


class Place(Struct, frozen=True, gc=False):
    """The queue of a lock: its sessions, the holder first."""

    lock: Text
    sessions: tuple[int, ...]


class Shape(Struct, frozen=True, gc=False):
    """A large world."""

    queues: tuple[Place, ...]
    watched: bool | None = None  # whether each waiter watches its predecessor; None: no tables

    def facts(self, at: int) -> Iterator[AnyFact]:
        """The facts of a first reading at this time."""
        turn = len(self.queues)
        for number, queue in enumerate(self.queues):
            yield from _lock(queue, range(FIRST_ZXID + number, SEEN, turn), at)
        yield from self.tables(at)

    def tables(self, at: int) -> Iterator[AnyFact]:
        """The tables of the server, as they are read every few seconds."""
        if self.watched is None:
            return
        rows: dict[int, list[Text]] = {}
        for queue in self.queues:
            for place, session in enumerate(queue.sessions):
                watches = rows.setdefault(session, [])
                if place and self.watched:
                    watches.append(join(queue.lock, _name(place - 1)))
        yield Server(zxid=0, server=SERVER, at=at, channel="4lw", mode=Text("standalone"))
        yield Connections(
            zxid=0,
            server=SERVER,
            at=at,
            rows=tuple(
                Connection(session, Text(f"10.0.0.{session % 250}:{session % 60_000}"), 30_000)
                for session in rows
            ),
        )
        watching = {session: tuple(paths) for session, paths in rows.items() if paths}
        yield Watches(zxid=SEEN, server=SERVER, at=at, rows=watching)


def release(world: World, lock: Text, at: int, session: int | None = None) -> Iterator[AnyFact]:
    """The holder of a lock leaves it; this session takes the last place, or the holder itself."""
    members = sorted(world.family(lock), key=lambda znode: znode.name[-10:])
    first, last = members[0], members[-1]
    assert first.stat
    zxid = world.zxid + 1
    yield Gone(path=join(lock, first.name), zxid=zxid, at=at)
    owner = first.stat.owner if session is None else session
    stat = Stat(zxid + 1, zxid + 1, at, owner=owner, data_length=11, pzxid=zxid + 1)
    path = join(lock, _name(int(last.name[-10:]) + 1))
    yield Node(path=path, stat=stat, data=first.data, zxid=zxid + 1, at=at)


def services(locks: int) -> Shape:
    """Quiet locks, five contenders each; a fifth of the sessions hold, the others only wait."""
    holders = max(locks // PLACES, 1)
    waiters = (CONTENDERS - 1) * holders
    return Shape(
        tuple(
            Place(
                _path(number),
                (
                    FIRST_SESSION + number % holders,
                    *(
                        FIRST_SESSION + holders + (number * (CONTENDERS - 1) + place) % waiters
                        for place in range(CONTENDERS - 1)
                    ),
                ),
            )
            for number in range(locks)
        )
    )


def crowd(sessions: int) -> Shape:
    """One lock."""
    return Shape((Place(_path(0), tuple(range(FIRST_SESSION, FIRST_SESSION + sessions))),))


def one_waits_everywhere(locks: int) -> Shape:
    """One session waits in every lock, and watches every holder."""
    return Shape(
        tuple(
            Place(_path(number), (FIRST_SESSION + 1 + number, FIRST_SESSION))
            for number in range(locks)
        ),
        watched=True,
    )


def rings(number: int, actors: int) -> Shape:
    """Deadlocks: each actor holds one lock and waits for that of its neighbour."""
    return Shape(
        tuple(
            Place(
                Text(f"/locks/r{ring:04d}-{actor:04d}"),
                (
                    FIRST_SESSION + ring * actors + actor,
                    FIRST_SESSION + ring * actors + (actor + 1) % actors,
                ),
            )
            for ring in range(number)
            for actor in range(actors)
        )
    )


def nobody_watches(locks: int) -> Shape:
    """Services whose waiters watch nothing: none of them will learn that its turn has come."""
    return replace(services(locks), watched=False)


def _lock(queue: Place, zxids: Sequence[int], at: int) -> Iterator[AnyFact]:
    """One lock; `zxids` are those of its creation and of its contenders, one after another."""
    number = len(queue.sessions)
    stat = Stat(zxids[0], zxids[0], at, cversion=number, num_children=number, pzxid=zxids[number])
    names = tuple(_name(place) for place in range(number))
    yield Children(path=queue.lock, names=names, stat=stat, zxid=SEEN, at=at)
    for name, session, zxid in zip(names, queue.sessions, zxids[1:], strict=False):
        own = Stat(zxid, zxid, at, owner=session, data_length=11, pzxid=zxid)
        label = b"worker-%06d" % (session - FIRST_SESSION)
        yield Node(path=join(queue.lock, name), stat=own, data=label, zxid=SEEN, at=at)


def _path(number: int) -> Text:
    return Text(f"/locks/l{number:06d}")


def _name(sequence: int) -> Text:
    return Text(f"{sequence:032x}__lock__{sequence:010d}")
