"""Build small worlds for lock tests: children with owners, and the changes after."""

from collections.abc import Iterable, Sequence

from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.locks.lock import Lock, Member, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

ROOT = "/locks/tested"
ZXID = 1_000_000
DEFAULT_SETTINGS = Settings()


def world_of(
    names: Sequence[str],
    *,
    path: str = ROOT,
    owners: Sequence[int] = (),
    data: Sequence[bytes] = (),
    next_sequence: int = 0,
) -> World:
    """Make a world with one family; by default each child has a session of its own."""
    known = tuple(map(Text, names))
    stat = Stat(1, 1, 0, cversion=2 * next_sequence - len(names), num_children=len(names))
    facts: list[AnyFact] = [Children(zxid=ZXID, at=1, path=Text(path), names=known, stat=stat)]
    for number, name in enumerate(names):
        owner = owners[number] if owners else 0x1000 + number
        content = data[number] if data else b""
        facts.append(child(name, czxid=100 + number, owner=owner, data=content, path=path))
    return World().after(*facts)


def child(
    name: str,
    *,
    czxid: int,
    owner: int = 1,
    data: bytes = b"",
    path: str = ROOT,
    zxid: int = ZXID,
) -> Node:
    """Make the fact that a child exists."""
    stat = Stat(czxid, czxid, 0, owner=owner)
    return Node(zxid=zxid, at=1, path=join(path, name), stat=stat, data=data)


def gone(name: str, *, zxid: int, path: str = ROOT) -> Gone:
    """Make the fact that a child was deleted."""
    return Gone(zxid=zxid, at=1, path=join(path, name))


def lock_in(world: World, path: str = ROOT, previous: Lock | NotALock | None = None) -> Lock:
    """Return the lock, which must be one."""
    lock = lock_at(path, world, DEFAULT_SETTINGS, 0, previous)
    assert isinstance(lock, Lock), lock
    return lock


def nodes(members: Iterable[Member]) -> list[str]:
    """Return the names of members."""
    return [str(member.node) for member in members]
