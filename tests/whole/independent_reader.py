"""A small reader of locks that shares no code with zktop, to compare scenes with."""

import re
from itertools import groupby

from kazoo.client import KazooClient
from servers import ask

Place = tuple[str, str, str]  # family of names, owner, mode


def look(zookeeper: KazooClient, path: str) -> tuple[list[str], list[str]]:
    """Holders and waiters of a lock, by the names that the owners wrote into the nodes."""
    if zookeeper.exists(f"{path}-__lock__"):
        return _leases(zookeeper, path), [o for _, o, _ in _queue(zookeeper, f"{path}-__lock__")]
    if zookeeper.exists(path).ephemeralOwner:
        return [zookeeper.get(path)[0].decode()], []
    queue = sorted(_queue(zookeeper, path), key=_family_of)
    holders, waiters = [], []
    for _, places in groupby(queue, key=_family_of):
        family = list(places)
        for number, place in enumerate(family):
            (waiters if _blocked(place, family[:number]) else holders).append(place[1])
    return holders, waiters


def watching(port: int, path: str, sessions: dict[str, str]) -> list[str]:
    """The sessions that watch a node, by the server's own table."""
    section = re.search(rf"^{re.escape(path)}\n((?:\t.*\n?)+)", ask(port, "wchp"), re.MULTILINE)
    return sorted(sessions[line.strip()] for line in section[1].splitlines()) if section else []


def _queue(zookeeper: KazooClient, path: str) -> list[Place]:
    names = sorted(zookeeper.get_children(path), key=lambda name: int(name[-10:]))
    return [(_family(name), _owner(zookeeper, f"{path}/{name}"), _mode(name)) for name in names]


def _family_of(place: Place) -> str:
    return place[0]


def _family(name: str) -> str:
    if "lock__" in name:
        return "kazoo"
    return name[:5] if name.startswith("lock") else "read-write"


def _mode(name: str) -> str:
    return "read" if re.search(r"^read-|-R-|__rlock__", name) else "exclusive"


def _owner(zookeeper: KazooClient, node: str) -> str:
    return zookeeper.get(node)[0].decode().removeprefix("b'").removesuffix("'")


def _blocked(place: Place, before: list[Place]) -> bool:
    return any("exclusive" in {place[2], other[2]} for other in before)


def _leases(zookeeper: KazooClient, path: str) -> list[str]:
    nodes = [f"{path}/{name}" for name in zookeeper.get_children(path)]
    nodes.sort(key=lambda node: zookeeper.exists(node).czxid)
    return [_owner(zookeeper, node) for node in nodes]
