"""The tables of one ensemble member, with indexes.

An index is built on first use and lives as long as its table. A watch table that has not changed
when it is read again keeps its index.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import starmap
from operator import is_
from typing import Final, Literal

import msgspec

from zktop.model.facts import Connection, Expiry, Millis, Server, ServerFact, Session, prefix_below
from zktop.model.text import Text
from zktop.model.world.newest_tables import NO_TABLES, TableFacts

NOTHING: Final[frozenset[Text]] = frozenset()
NO_SERVER: Final = Server(zxid=0, at=0, server=Text(""))
LOGS: Final = Text("transaction log")  # stands for the servers whose files were imported

TableKind = Literal["connections", "watches", "expiry", "figures"]
TABLE_NAMES: Final[dict[TableKind, str]] = {
    "connections": "connection table",
    "watches": "watch table",
    "expiry": "expiry table",
    "figures": "figures",
}

USUAL_TICK_MS: Final = 2000  # ZooKeeper's default, for servers that do not show their own
# Every zktop watches this path, which need not exist, so that others know its session.
MARK: Final = Text("/zookeeper/zktop")
# Servers from the first version up to (excluding) the second count a recursive watch twice.
_COUNTS_RECURSIVE_TWICE = ((3, 6), (3, 9))


class Presence(Connection, frozen=True, gc=False, kw_only=True):
    """A session's connection, as the server that last heard from the session shows it."""

    server: Text
    at: Millis  # when that server's table was read
    other_servers: tuple[Text, ...] = ()  # those that claim the session too

    @property
    def contact(self) -> Millis | None:
        """The last contact by our own clock, or a little earlier."""
        return None if self.quiet_ms is None else self.at - self.quiet_ms

    def silence(self, now_ms: Millis) -> int | None:
        """The milliseconds since its last contact, assuming none after the table was read."""
        return None if self.contact is None else max(0, now_ms - self.contact)

    def newness(self) -> tuple[Millis, Millis, Millis]:
        """Sort key for the claims of several servers; the largest is the newest contact.

        If the last contact is unknown, the start of the connection stands in for it.
        """
        contact = self.established or self.at if self.contact is None else self.contact
        return contact, self.established or 0, self.at


class MissingTable(msgspec.Struct, frozen=True, gc=False):
    """A table that one server did not return, and why."""

    server: Text
    table: TableKind
    why: Text

    def __str__(self) -> str:
        return f"{self.server} gives no {TABLE_NAMES[self.table]}: {self.why}"


class WatchIndex(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The data and exists watches of one server, by session and by path."""

    rows: dict[Session, tuple[Text, ...]]

    def of(self, session: Session) -> frozenset[Text]:
        paths = self.rows.get(session)
        if paths is None:
            return NOTHING
        known = self._sets.get(session)
        if known is None:
            known = self._sets[session] = frozenset(paths)
        return known

    def in_folder(self, session: Session, folder: str) -> Iterator[Text]:
        """The paths below a znode that the session watches, found by bisection."""
        known = self._sorted.get(session)
        if known is None:
            known = self._sorted[session] = sorted(self.rows.get(session, ()))
        below = prefix_below(folder)
        for index in range(bisect_left(known, below), len(known)):
            path = known[index]
            if not path.startswith(below):
                break
            yield path

    @cached_property
    def by_path(self) -> dict[Text, tuple[Session, ...]]:
        watchers: dict[Text, tuple[Session, ...]] = {}
        for session, paths in self.rows.items():
            for path in paths:
                known = watchers.get(path)
                watchers[path] = (session,) if known is None else (*known, session)
        return watchers

    @cached_property
    def zktops(self) -> frozenset[Session]:
        """The sessions of zktops, which all watch `MARK`."""
        return frozenset(self.by_path.get(MARK, ()))

    @cached_property
    def total(self) -> int:
        return sum(map(len, self.rows.values()))

    @cached_property
    def _sets(self) -> dict[Session, frozenset[Text]]:
        return {}

    @cached_property
    def _sorted(self) -> dict[Session, list[Text]]:
        return {}


class ServerTables(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One ensemble member and its tables."""

    server: Text
    facts: TableFacts = NO_TABLES
    watches: WatchIndex | None = None
    surplus: int | None = None  # watches that it counts but does not list; None: unknown
    surplus_before: int | None = None  # the same in its previous tables

    @classmethod
    def of(
        cls,
        server: Text,
        facts: TableFacts,
        before: "ServerTables | None" = None,
        *,
        keep_connections: bool = False,
    ) -> "ServerTables":
        """Index the tables of a server, reusing the indexes of tables that did not change.

        With `keep_connections`, known connections outlast a server that does not answer.
        """
        if before is not None:
            if keep_connections:
                facts = _with_connections(facts, before.facts)
            if facts is before.facts:
                return before
        known = before.watches if before is not None else None
        watches = _indexed(facts, known)
        surplus = _surplus(facts, watches)
        previous = before.surplus if before is not None else None
        return cls(server, facts, watches, previous if surplus is None else surplus, previous)

    @cached_property
    def connections(self) -> dict[Session, Connection] | None:
        """Its connections by session; None if it returned no table."""
        fact = self.facts.connections
        if fact is None or fact.rows is None:
            return None
        tick_ms = self.expiry.tick_ms or USUAL_TICK_MS
        return {row.session: _credible(row, tick_ms) for row in fact.rows}

    @cached_property
    def callers(self) -> Counter[Text]:
        """The number of connections from each address, and from each host."""
        rows = (self.connections or {}).values()
        return Counter(address for row in rows for address in (row.client, host_of(row.client)))

    @cached_property
    def by_timeout(self) -> dict[int, list[Session]]:
        sessions: dict[int, list[Session]] = {}
        for session, row in (self.connections or {}).items():
            if row.timeout_ms:
                sessions.setdefault(row.timeout_ms, []).append(session)
        return sessions

    @cached_property
    def sessions(self) -> Sequence[Collection[Session]]:
        """The lists of all sessions of the ensemble on this server.

        An empty list is left out: on a live server it cannot be right, because the reader itself
        had a session.
        """
        expiry = self.expiry
        listed = expiry.expires_in_ms, expiry.timeouts_ms, frozenset(expiry.sessions or ())
        return [sessions for sessions in listed if sessions]

    @property
    def lists_all_watches(self) -> bool:
        """Whether its watch table includes child watches."""
        return self.facts.watches is not None and self.facts.watches.is_mixed

    def lists(self, session: Session) -> bool:
        return any(session in sessions for sessions in self.sessions)

    @cached_property
    def owners(self) -> dict[Text, Session]:
        """The owner of each ephemeral znode, according to its `dump`."""
        dumped = self.expiry.ephemerals or {}
        return {path: session for session, paths in dumped.items() for path in paths}

    @property
    def expiry(self) -> Expiry:
        """Its expiry table, which is empty if it returned none."""
        return self.facts.expiry or Expiry(zxid=0, at=0, server=self.server)

    @property
    def figures(self) -> Server:
        """Its figures, which are empty if it returned none."""
        return self.facts.server or msgspec.structs.replace(NO_SERVER, server=self.server)

    def presence(self, session: Session) -> Presence | None:
        rows, fact = self.connections, self.facts.connections
        if fact is None or rows is None or session not in rows:
            return None
        row = msgspec.structs.astuple(rows[session])
        return Presence(*row, server=self.server, at=fact.at)

    def blind_spots(self) -> Iterator[MissingTable]:
        """Yield the tables that it did not return."""
        facts = self.facts
        tables: tuple[tuple[TableKind, bool, ServerFact | None], ...] = (
            ("connections", self.connections is not None, facts.connections),
            ("watches", self.watches is not None, facts.watches),
            ("expiry", bool(self.expiry.expires_in_ms), facts.expiry),
            ("figures", self.figures.mode is not None, facts.server),
        )
        for table, is_given, fact in tables:
            if not is_given:
                why = fact.why if fact else Text("it was not asked yet")
                yield MissingTable(self.server, table, why or Text("it gave no answer"))

    def hidden_watches(self, own: Session | None) -> int | None:
        """Count the child watches that its tables do not show; None if unknown.

        The count and the table are not read at the same moment, so the larger of the last two
        differences counts. On servers before 3.6, zktop sets child watches itself, so the number
        of other child watches is unknown for the server that it is connected to.
        """
        if self.lists_all_watches:
            return 0
        if self.surplus is None or self._is_old_and_ours(own):
            return None
        version, (first, last) = self.version, _COUNTS_RECURSIVE_TWICE
        is_twice = version is not None and first <= version < last
        recursive = self._recursive_watches(own) if is_twice else 0
        return max(0, max(self.surplus, self.surplus_before or 0) - recursive)

    def _recursive_watches(self, own: Session | None) -> int:
        """Count the watches that this zktop and other zktops have set here."""
        watches = self.watches
        if watches is None:
            return 0
        zktops = watches.zktops | {own or 0}
        return sum(len(watches.of(session) - {MARK}) for session in zktops)

    def hides_watches(self, own: Session | None) -> bool | None:
        """Return whether it has watches that no table lists, including ours; None if unknown."""
        if self.lists_all_watches:
            return False
        hidden = self.surplus if self._is_old_and_ours(own) else self.hidden_watches(own)
        return None if hidden is None else hidden > 0

    @property
    def version(self) -> tuple[int, ...] | None:
        """The first two numbers of its version; None if it is unknown."""
        return _version(self.figures.version)

    def _is_old_and_ours(self, own: Session | None) -> bool:
        is_old = self.version is None or self.version < _COUNTS_RECURSIVE_TWICE[0]
        return is_old and own is not None and own in (self.connections or {})


def _with_connections(facts: TableFacts, before: TableFacts) -> TableFacts:
    """Return tables with the earlier connections if they have none."""
    if facts.connections is None or facts.connections.rows is not None:
        return facts
    kept = msgspec.structs.replace(facts, connections=before.connections)
    pairs = zip(msgspec.structs.astuple(kept), msgspec.structs.astuple(before), strict=True)
    return before if all(starmap(is_, pairs)) else kept


def _indexed(facts: TableFacts, known: WatchIndex | None) -> WatchIndex | None:
    """Return the index of the watch table: the earlier index if the table did not change."""
    rows = facts.watches.rows if facts.watches else None
    if rows is None:
        return None
    is_same = known is not None and (known.rows is rows or known.rows == rows)
    return known if is_same else WatchIndex(rows)


def _surplus(facts: TableFacts, watches: WatchIndex | None) -> int | None:
    """Return how many watches a server counts but does not list, if both were read together."""
    figures, table = facts.server, facts.watches
    if figures is None or table is None or watches is None or figures.watches is None:
        return None
    # Old recordings do not have the number of watches listed.
    listed = watches.total if table.listed is None else table.listed
    return figures.watches - listed if figures.at == table.at else None


def latest_expiry(timeout_ms: int, tick_ms: int) -> int:
    """Return the longest time that a session lives after its last contact.

    A server rounds the time of expiry up to a whole tick, and checks twice a tick.
    """
    return timeout_ms + tick_ms * 3 // 2


def _credible(row: Connection, tick_ms: int) -> Connection:
    """Drop a silence longer than a session can survive: a session that is listed is alive."""
    quiet, timeout = row.quiet_ms, row.timeout_ms
    if quiet is None or timeout is None or quiet <= latest_expiry(timeout, tick_ms):
        return row
    return msgspec.structs.replace(row, quiet_ms=None)


def host_of(client: str) -> Text:
    """Return an address without its port.

    >>> host_of("10.0.4.31:38110"), host_of("[::1]:38110")
    ('10.0.4.31', '[::1]')
    """
    return Text(client.rpartition(":")[0])


def _version(text: str | None) -> tuple[int, int] | None:
    """Read the first two numbers of a version.

    >>> _version("3.8.0-5a02a05, built on 2022-02-25")
    (3, 8)
    """
    match = re.match(r"(\d+)\.(\d+)", text or "")
    return (int(match[1]), int(match[2])) if match else None
