"""Recognises servers that speak ZooKeeper's protocol, and lists what each supports.

The facts are from their sources: ClickHouse Keeper (FourLetterCommand.cpp,
KeeperTCPHandler.cpp, KeeperStorage.cpp), RaftKeeper (FourLetterCommand.cpp, ConnectionHandler.cpp,
KeeperStore.cpp) and zetcd (encode.go, zketcd.go, stat.go).
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from zktop.model.facts import Children, Flavour, Node, NodeBatch, SourceFact, Stat

Version = tuple[int, int, int]

TITLES: Final[dict[Flavour, str]] = {
    "zookeeper": "ZooKeeper",
    "keeper": "ClickHouse Keeper",
    "raftkeeper": "RaftKeeper",
    "zetcd": "zetcd",
}


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What a server supports, and which of its answers can be trusted."""

    # MultiRead (request 22). It must not be sent to a server that does not know it: Keeper and
    # zetcd then close the connection, and RaftKeeper never answers.
    multi_read: bool = False
    # Persistent recursive watches whose events name the changed znode. Keeper has supported
    # request 106 since 25.12, but its events name the watched znode (ClickHouse#115475).
    recursive: bool = False

    admin: bool = False  # may have an AdminServer
    answers_words: bool = True  # answers four-letter words with tables
    blank_end: bool = False  # `wchc` and `wchp` end with a blank line
    all_watches: bool = True  # child and persistent watches are in the tables, without their kind
    all_sessions: bool = False  # `dump` lists the sessions of all servers
    expiry: bool = False  # `dump` shows when sessions expire
    counts_own_connection: bool = False  # its connection count includes the one that asks
    lresp_includes_pings: bool = False  # `lresp` is the time of the last answer, even to a ping

    counts_creations: bool = False  # `cversion` of a parent counts creations and deletions only
    dates_changes: bool = False  # its `pzxid` is the last creation or deletion of a child
    ctime_units: int = 1  # per millisecond


OLD_ZOOKEEPER: Final = Traits(
    admin=True,
    blank_end=True,
    all_watches=False,
    all_sessions=True,
    expiry=True,
    counts_own_connection=True,
    lresp_includes_pings=True,
    counts_creations=True,
    dates_changes=True,
)
ZOOKEEPER: Final = msgspec.structs.replace(OLD_ZOOKEEPER, multi_read=True, recursive=True)
# Even a write to a child raises `cversion`. A deletion leaves `pzxid` as is (ClickHouse#115457).
OLD_KEEPER: Final = Traits(all_sessions=True)
KEEPER: Final = msgspec.structs.replace(OLD_KEEPER, multi_read=True)
# The end of a session leaves `pzxid` as is, but a deletion changes it.
OLD_RAFTKEEPER: Final = Traits(counts_creations=True)
RAFTKEEPER: Final = msgspec.structs.replace(OLD_RAFTKEEPER, multi_read=True)
# Sequential nodes have their own counter, and `pzxid` may be that of any child.
ZETCD: Final = Traits(answers_words=False, ctime_units=1000)
UNKNOWN: Final = Traits()

# Traits by first version. The last matching row counts.
TABLE: Final[tuple[tuple[Flavour, Version, Traits], ...]] = (
    ("zookeeper", (0, 0, 0), OLD_ZOOKEEPER),
    ("zookeeper", (3, 6, 0), ZOOKEEPER),
    ("keeper", (0, 0, 0), OLD_KEEPER),
    ("keeper", (22, 11, 0), KEEPER),
    ("raftkeeper", (0, 0, 0), OLD_RAFTKEEPER),
    ("raftkeeper", (2, 1, 0), RAFTKEEPER),
    ("zetcd", (0, 0, 0), ZETCD),
)


class ServerKind(msgspec.Struct, frozen=True):
    """The make and version of a server, each None if unknown."""

    flavour: Flavour | None = None
    version: Version | None = None

    @property
    def traits(self) -> Traits:
        """The traits of this version.

        A ZooKeeper that hides its version is assumed to be a recent one.
        """
        version = self.version
        if version is None:
            version = (3, 6, 0) if self.flavour == "zookeeper" else (0, 0, 0)
        rows = (row for name, since, row in TABLE if name == self.flavour and since <= version)
        return [UNKNOWN, *rows][-1]

    def __str__(self) -> str:
        """The name and version.

        >>> str(ServerKind("keeper", (26, 3, 9))), str(ServerKind())
        ('ClickHouse Keeper 26.3.9', 'a server of unknown make')
        """
        if self.flavour is None:
            return "a server of unknown make"
        version = "" if self.version is None else f" {'.'.join(map(str, self.version))}"
        return TITLES[self.flavour] + version


ZOOKEEPER_OF_ANY_VERSION: Final = ServerKind("zookeeper")
FIRST_LINES: Final[tuple[tuple[str, Flavour], ...]] = (
    ("Zookeeper version: ", "zookeeper"),
    ("ClickHouse Keeper version: ", "keeper"),
    ("RaftKeeper version: ", "raftkeeper"),
    ("zk_version\tRaftKeeper", "raftkeeper"),
    ("zk_version\tv", "keeper"),
    ("zk_version\t", "zookeeper"),
    ("This ZooKeeper instance is not currently serving requests", "zookeeper"),
    ("This instance is not currently serving requests", "keeper"),
)


def kind_of(answer: str) -> ServerKind | None:
    """Recognise a server by the first line of `srvr`, `stat` or `mntr`.

    >>> str(kind_of("Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29"))
    'ZooKeeper 3.8.0'
    >>> str(kind_of("RaftKeeper version: RaftKeeper v2.3.0"))
    'RaftKeeper 2.3.0'
    """
    for beginning, flavour in FIRST_LINES:
        if answer.startswith(beginning):
            return ServerKind(flavour, version_of(answer))
    return None


def version_of(text: str) -> Version | None:
    """Find the version in a first line.

    >>> version_of("ClickHouse Keeper version: v26.3.9.8-0a1b2c")
    (26, 3, 9)
    """
    match = re.search(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", text.partition("\n")[0])
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def common_traits(kinds: Iterable[ServerKind]) -> Traits:
    """What all of these servers support and prove, so that all can be read in the same way.

    The other traits are those of the first server.
    """
    each = [kind.traits for kind in kinds] or [ZOOKEEPER]
    return msgspec.structs.replace(
        each[0],
        multi_read=all(traits.multi_read for traits in each),
        recursive=all(traits.recursive for traits in each),
        counts_creations=all(traits.counts_creations for traits in each),
        dates_changes=all(traits.dates_changes for traits in each),
    )


def trusted(facts: list[SourceFact], traits: Traits) -> list[SourceFact]:
    """Set to None the fields that this server's Stats do not prove, and scale their times."""
    if traits.counts_creations and traits.dates_changes and traits.ctime_units == 1:
        return facts
    return [_trusted(fact, traits) for fact in facts]


def _trusted(fact: SourceFact, traits: Traits) -> SourceFact:
    match fact:
        case Children() | Node() if fact.stat is not None:
            return msgspec.structs.replace(fact, stat=_trusted_stat(fact.stat, traits))
        case NodeBatch():
            stats = tuple(_trusted_stat(stat, traits) for stat in fact.stats)
            return msgspec.structs.replace(fact, stats=stats)
    return fact


def _trusted_stat(stat: Stat, traits: Traits) -> Stat:
    return msgspec.structs.replace(
        stat,
        cversion=stat.cversion if traits.counts_creations else None,
        pzxid=stat.pzxid if traits.dates_changes else None,
        ctime=stat.ctime // traits.ctime_units,
    )


OPERATIONS: Final = {
    "Create": "CREA",
    "Remove": "DELE",
    "Exists": "EXIS",
    "Get": "GETD",
    "Set": "SETD",
    "List": "GETC",
    "SimpleList": "GETC",
    "FilteredList": "GETC",
    "GetACL": "GETA",
    "SetACL": "SETA",
    "Sync": "SYNC",
    "Multi": "MULT",
    "MultiRead": "MLTR",
    "Heartbeat": "PING",
    "Close": "CLOS",
}
"""Names of operations in `cons`, from those of Keeper and RaftKeeper to those of ZooKeeper."""
