"""Facts: what was read from ZooKeeper, each with the moment at which it was true.

Every fact was read at or after the transaction `zxid`, and arrived at the time `at`, in
milliseconds of the wall clock. Facts about znodes are ordered by zxid; facts about one server are
ordered by `at`, because a server's tables have no zxid of their own.

Text enters the model here: facts about znodes, clients and watched paths clean their text when
they are created. `zk` cleans the rest, and code that prints a recording cleans it again.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, Literal

import msgspec

from zktop.model.text import Text, are_clean, clean

Session = int  # the unsigned 64-bit session id; 0 means "no owner"
Millis = int  # wall clock, milliseconds since 1970
Flavour = Literal["zookeeper", "keeper", "raftkeeper", "zetcd"]  # the implementation of a server

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
MAX_DATA_BYTES: Final = 4096  # per znode; labels and lease counts are at its beginning
EPOCH_BITS: Final = 32  # lower bits of a zxid: the counter within one epoch


class Fact(msgspec.Struct, frozen=True, gc=False, tag_field="fact", kw_only=True):
    """One thing read from ZooKeeper, with the zxid and the time."""

    zxid: int
    at: Millis


class Stat(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What ZooKeeper knows about a znode besides its data. Numbers are as the server sends them.

    `cversion` and `pzxid` are None if the server is not ZooKeeper and counts them differently.
    """

    czxid: int
    mzxid: int
    ctime: Millis
    version: int = 0
    cversion: int | None = 0
    aversion: int = 0
    owner: Session = 0
    data_length: int = 0
    num_children: int = 0
    pzxid: int | None = 0

    @property
    def next_sequence(self) -> int | None:
        """The number that the next sequential child will get; None if it is unknown.

        `cversion` is twice the number of creations minus the number of children. The arithmetic is
        unsigned, because `cversion` turns negative half-way through the range. Doubling loses the
        counter's top bit, so a wrapped counter looks like one that has not wrapped.

        >>> Stat(czxid=1, mzxid=1, ctime=0, cversion=17, num_children=3).next_sequence
        10
        """
        if self.cversion is None:
            return None
        return ((self.cversion + self.num_children) & 0xFFFF_FFFF) >> 1


class _PathFact(Fact, frozen=True):
    """A fact about the znode at a path."""

    path: Text

    def __post_init__(self) -> None:
        if not self.path.isprintable():
            msgspec.structs.force_setattr(self, "path", clean(self.path))


class _NamesFact(_PathFact, frozen=True):
    """A fact about some children of the znode at a path."""

    names: tuple[Text, ...]

    def __post_init__(self) -> None:
        if not are_clean((self.path, *self.names)):
            msgspec.structs.force_setattr(self, "path", clean(self.path))
            msgspec.structs.force_setattr(self, "names", tuple(map(clean, self.names)))


class Children(_NamesFact, frozen=True, tag="children"):
    """All children of one znode, and the znode's own Stat."""

    stat: Stat


class Node(_PathFact, frozen=True, tag="node"):
    """One znode exists. Stat and data are None while they are unread or forbidden."""

    stat: Stat | None = None
    data: bytes | None = None


class NodeBatch(_NamesFact, frozen=True, tag="siblings"):
    """Some children of one znode that were read together. Each is recorded as a Node."""

    stats: tuple[Stat, ...]
    data: tuple[bytes, ...]

    @property
    def nodes(self) -> Iterator[Node]:
        """Yield one fact per node."""
        for name, stat, data in zip(self.names, self.stats, self.data, strict=True):
            yield Node(
                zxid=self.zxid, at=self.at, path=join(self.path, name), stat=stat, data=data
            )


RemovalKind = Literal[
    "deleted",  # by a request
    "closed",  # with its session, which its client closed
    "expired",  # with its session, which had been silent for too long
    "ended",  # with its session, which had not been silent: an administrator ended it
    "reaped",  # by the server: an empty container, or the end of a time to live
]


class Gone(_PathFact, frozen=True, tag="gone", omit_defaults=True):
    """The znode does not exist. Only transaction logs show which session removed it, and how."""

    by: Session | None = None
    how: RemovalKind | None = None


class Denied(_PathFact, frozen=True, tag="denied"):
    """The znode's ACL does not allow zktop to list its children, or to read it."""

    what: Literal["list", "read"]


class Connection(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One client connection as its server lists it."""

    session: Session
    client: Text
    timeout_ms: int | None = None
    received: int = 0
    sent: int = 0
    queued: int = 0
    last_operation: Text | None = None
    last_cxid: int | None = None
    established: Millis | None = None
    quiet_ms: int | None = None  # since the server last replied to it, by the server's clock

    def __post_init__(self) -> None:
        if not self.client.isprintable():
            msgspec.structs.force_setattr(self, "client", clean(self.client))
        if self.last_operation is not None and not self.last_operation.isprintable():
            msgspec.structs.force_setattr(self, "last_operation", clean(self.last_operation))

    @property
    def notifications(self) -> int:
        """A counter that grows by one with each watch notification and is otherwise constant."""
        return self.sent - self.received + self.queued


class Connections(Fact, frozen=True, tag="connections"):
    """The connection table of one server; `why` is the reason if there is none."""

    server: Text
    rows: tuple[Connection, ...] | None = None
    why: Text | None = None


class Watches(Fact, frozen=True, tag="watches"):
    """The watches of one server, by session.

    ZooKeeper lists data and exists watches, and never child watches. Other servers list all kinds
    in one table without distinguishing them: then `is_mixed` is true.
    """

    server: Text
    rows: dict[Session, tuple[Text, ...]] | None = None
    why: Text | None = None
    children: dict[Session, tuple[Text, ...]] | None = None  # child watches; no release lists them
    listed: int | None = None  # the number of watches listed, including those outside our chroot
    is_mixed: bool = False

    def __post_init__(self) -> None:
        for field, table in (("rows", self.rows), ("children", self.children)):
            rows = table or {}
            if not are_clean(chain.from_iterable(rows.values())):
                tidy = {session: tuple(map(clean, paths)) for session, paths in rows.items()}
                msgspec.structs.force_setattr(self, field, tidy)


class Expiry(Fact, frozen=True, tag="expiry"):
    """When sessions expire, according to the leader: ms from `at`, rounded up to a tick.

    A follower returns `timeouts_ms` instead: every session of the ensemble with its timeout.
    ClickHouse Keeper returns `sessions`: every session of the ensemble, and nothing else.
    """

    server: Text
    expires_in_ms: dict[Session, int] | None = None
    timeouts_ms: dict[Session, int] | None = None
    sessions: tuple[Session, ...] | None = None
    ephemerals: dict[Session, tuple[Text, ...]] | None = None
    tick_ms: int | None = None
    why: Text | None = None


ServerState = Literal[
    "up",
    "down",  # it refuses connections, or its name cannot be resolved
    "no-answer",  # it accepts connections but does not reply
    "no-quorum",  # it replies that it serves no clients
    "unreached",  # /zookeeper/config names it, and it has never answered zktop
]


class Server(Fact, frozen=True, tag="server"):
    """The figures of one ensemble member."""

    server: Text
    mode: Text | None = None
    version: Text | None = None
    connections: int | None = None
    watches: int | None = None
    latency_ms: tuple[float, float, float] | None = None
    outstanding: int | None = None
    znodes: int | None = None
    server_zxid: int | None = None
    channel: Literal["4lw", "admin", "none"] = "none"
    flavour: Flavour | None = None
    why: Text | None = None
    state: ServerState | None = None  # None: unknown, or not in an old recording
    since: Millis | None = None  # when it stopped serving
    left: bool = False  # it is no longer a member: the other fields are outdated

    @property
    def is_up(self) -> bool:
        """Whether it replied to the last query."""
        if self.state is None:
            return self.channel != "none" or self.why is None
        return self.state == "up"


class Link(Fact, frozen=True, tag="link"):
    """The state of our own connection to the ensemble."""

    state: Literal["connecting", "connected", "suspended", "lost", "read-only", "closed"]
    session: Session | None = None
    server: Text | None = None
    why: Text | None = None
    lost_at: Millis | None = None  # when the connection was lost, if it is not back
    connected_at: Millis | None = None  # when it came up; after a gap, `at` is later

    @property
    def is_up(self) -> bool:
        """Whether requests can be sent."""
        return self.state in ("connected", "read-only")

    @property
    def gone_since(self) -> Millis | None:
        """When the connection was lost; None while it is up, or before the first connection."""
        if self.state not in ("suspended", "lost"):
            return None
        return self.at if self.lost_at is None else self.lost_at


class Cost(msgspec.Struct, frozen=True):
    """What watching costs the ensemble: watches now, requests and bytes of this session."""

    watches: int
    requests: int
    bytes_in: int
    requests_per_s: float | None = None


class Complete(Fact, frozen=True, tag="complete"):
    """The facts include all changes up to this transaction, so listings are correct up to it."""


class OwnerNames(Fact, frozen=True, tag="owners"):
    """The file with the user's list of owners, as it was read at this time."""

    owners: dict[str, str | dict[str, str]]


ZnodeFact = Children | Node | Gone | Denied
ServerFact = Connections | Watches | Expiry | Server
AnyFact = ZnodeFact | ServerFact | Link | Complete | OwnerNames
SourceFact = AnyFact | NodeBatch  # what a source delivers


def transactions_between(zxid: int, later: int) -> int:
    """Return the number of transactions between two zxids, or a lower bound if epochs differ.

    Across epochs, only those of the later one are counted: a follower shows a zxid of the earlier
    one until the first transaction of the later one.

    >>> transactions_between(0x5_0000_0003, 0x5_0000_0010)
    13
    >>> transactions_between(0x5_0000_0BB8, 0x6_0000_0002)
    2
    """
    first_of_epoch = later >> EPOCH_BITS << EPOCH_BITS
    return later - max(zxid, first_of_epoch)


def single_facts(facts: Iterable[SourceFact]) -> Iterator[AnyFact]:
    """Split batches into one fact per znode, as recordings store them."""
    for fact in facts:
        if isinstance(fact, NodeBatch):
            yield from fact.nodes
        else:
            yield fact


def split(path: str) -> tuple[Text, Text]:
    """Split a path into parent and name.

    >>> split("/locks/orders"), split("/locks"), split("/")
    (('/locks', 'orders'), ('/', 'locks'), ('', ''))
    """
    if path == "/":
        return Text(""), Text("")
    parent, _, name = path.rpartition("/")
    return Text(parent or "/"), Text(name)


def last_name(path: str) -> Text:
    """Return the name at the end of a path.

    >>> last_name("/locks/orders"), last_name("/")
    ('orders', '')
    """
    return Text(path[path.rfind("/") + 1 :])


def prefix_below(path: str) -> Text:
    """Return what the paths of all znodes below a path begin with.

    >>> prefix_below("/locks"), prefix_below("/")
    ('/locks/', '/')
    """
    return Text("/" if path == "/" else f"{path}/")


def join(parent: str, name: str) -> Text:
    """Join a parent path and a name.

    >>> join("/", "locks"), join("/locks", "orders")
    ('/locks', '/locks/orders')
    """
    return Text(f"/{name}" if parent == "/" else f"{parent}/{name}")
