"""Facts in one line each, so that a test says only what it is about.

Session of a contender: `session("alice")`, the same number wherever the name is used. Names are
written as kazoo writes them, with a uuid made from the contender's name.
"""

from collections.abc import Mapping
from hashlib import md5

from zktop.model.facts import (
    Children,
    Connection,
    Connections,
    Expiry,
    Link,
    Node,
    NodeBatch,
    Server,
    ServerState,
    Session,
    Stat,
    Watches,
    ZnodeFact,
    join,
    split,
)
from zktop.model.text import Text
from zktop.model.world.children_of_znode import FamilyFact
from zktop.model.world.world import World

ZK1, ZK2, ZK3 = (Text(f"zk{number}:2181") for number in (1, 2, 3))
NOW = 1_000_000


def session(name: str) -> Session:
    """The session id of a name."""
    return 0x1000_0000_0000_0000 + int.from_bytes(md5(name.encode()).digest()[:4], "big")


def kazoo_name(owner: str, sequence: int, mode: str = "lock") -> Text:
    """Name a contender's znode as kazoo does."""
    return Text(f"{md5(owner.encode()).hexdigest()}__{mode}__{sequence:010d}")


def lock(path: str, *owners: str, czxid: int = 100, at: int = NOW) -> tuple[ZnodeFact, ...]:
    """The facts of a kazoo lock with these contenders, in order of arrival."""
    names = tuple(kazoo_name(owner, number) for number, owner in enumerate(owners))
    newest = czxid + len(names)
    root = Stat(czxid, czxid, 0, cversion=len(names), num_children=len(names), pzxid=newest)
    nodes = (
        Node(
            path=join(path, name),
            stat=Stat(czxid + number, czxid + number, at, owner=session(owner)),
            data=owner.encode(),
            zxid=newest,
            at=at,
        )
        for number, (name, owner) in enumerate(zip(names, owners, strict=True), start=1)
    )
    return Children(path=Text(path), names=names, stat=root, zxid=newest, at=at), *nodes


def folder(number: int) -> str:
    """A folder of its own for a lock: findings in it are no part of a group.

    >>> folder(0), folder(27), folder(700)
    ('/aaa', '/abb', '/bay')
    """
    letters = (chr(ord("a") + number // 26**place % 26) for place in (2, 1, 0))
    return "/" + "".join(letters)


def as_sibling(fact: ZnodeFact) -> FamilyFact:
    """The same facts in batches."""
    if not isinstance(fact, Node) or fact.stat is None or fact.data is None:
        return fact
    parent, name = split(fact.path)
    return NodeBatch(
        path=parent,
        names=(name,),
        stats=(fact.stat,),
        data=(fact.data,),
        zxid=fact.zxid,
        at=fact.at,
    )


def row(name: str, quiet_ms: int | None = 0, timeout_ms: int = 10_000, **more: int) -> Connection:
    """One connection, of a client that was active just now."""
    client = Text(f"10.0.0.1:{session(name) % 50_000}")
    return Connection(session(name), client, timeout_ms, quiet_ms=quiet_ms, **more)


def connections(
    server: Text, *rows: Connection, at: int = NOW, zxid: int = 1_000_000
) -> Connections:
    """The connection table of a server."""
    return Connections(server=server, rows=rows, at=at, zxid=zxid)


def no_connections(server: Text, why: str = "not in the whitelist", at: int = NOW) -> Connections:
    """The answer of a server that hides its connections."""
    return Connections(server=server, why=Text(why), at=at, zxid=0)


def watches(
    server: Text, rows: Mapping[str, tuple[str, ...]], at: int = NOW, zxid: int = 1_000_000
) -> Watches:
    """The watch table of a server: the watched paths by session."""
    by_session = {session(name): tuple(map(Text, paths)) for name, paths in rows.items()}
    return Watches(server=server, rows=by_session, at=at, zxid=zxid)


def no_watches(server: Text, why: str = "not in the whitelist", at: int = NOW) -> Watches:
    """The answer of a server that hides its watches."""
    return Watches(server=server, why=Text(why), at=at, zxid=0)


def expiry(
    server: Text, expires_in: Mapping[str, int], at: int = NOW, tick_ms: int = 2000
) -> Expiry:
    """The leader's expiry table: milliseconds to expiry by session."""
    dates = {session(name): date for name, date in expires_in.items()}
    return Expiry(server=server, expires_in_ms=dates, tick_ms=tick_ms, at=at, zxid=1_000_000)


def timeouts(server: Text, timeouts_ms: Mapping[str, int], at: int = NOW) -> Expiry:
    """A follower's list of all sessions with their timeouts."""
    by_session = {session(name): timeout for name, timeout in timeouts_ms.items()}
    return Expiry(server=server, timeouts_ms=by_session, at=at, zxid=1_000_000)


def figures(
    server: Text, version: str = "3.8.0", watches: int = 0, mode: str = "leader"
) -> Server:
    """The figures of a server."""
    return Server(
        server=server, version=Text(version), watches=watches, mode=Text(mode), at=NOW, zxid=0
    )


def out(
    server: Text, state: ServerState, why: str = "connection refused", ago: int = 12_000
) -> Server:
    """The figures of a server that has not served for so long."""
    return Server(
        server=server, state=state, since=NOW - ago, why=Text(why), at=NOW - 1_000, zxid=0
    )


def own(name: str = "zktop", state: str = "connected", at: int = NOW) -> Link:
    """Zktop's own connection."""
    return Link(state=state, session=session(name), at=at, connected_at=at, zxid=0)


def world(*facts: object) -> World:
    """The world in which these facts are known."""
    return World().after(*facts)
