"""Joins the tables of all servers: connections, watches and expiry times of sessions.

Tables of different servers are read at slightly different times and may contradict each other. The
newest one wins, and other servers that claim the same session are listed. An answer is None if no
table can decide. The absence of a session counts only in a table that could have shown it: if
the `czxid` of one of its nodes is given, tables read before that transaction are ignored.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import starmap
from operator import is_
from typing import Final, Literal

import msgspec

from zktop.model.facts import Expiry, Millis, Server, Session, Watches
from zktop.model.text import Text
from zktop.model.world.tables_of_one_server import (
    TABLE_NAMES,
    USUAL_TICK_MS,
    MissingTable,
    Presence,
    ServerTables,
    TableKind,
    host_of,
    latest_expiry,
)
from zktop.model.world.world import World

DATE_ERROR_MS: Final = 1_000  # servers print dates to the second
MANY_NODES: Final = 1_000  # a session with fewer can always end: its record is small enough

Extent = Literal["all", "some", "none"]


class Visibility(msgspec.Struct, frozen=True):
    """How complete the tables of the ensemble are."""

    sessions: Extent
    watches: Extent
    expiry: Literal["all", "none"]


class ExpiryWindow(msgspec.Struct, frozen=True, gc=False):
    """The earliest and the latest expiry of a session, in milliseconds from now."""

    low: int
    high: int


class Ensemble(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The tables of all servers at one moment. `Ensemble.of` makes it; it never changes."""

    now_ms: Millis = 0
    tables: tuple[ServerTables, ...] = ()
    own: Session | None = None  # our own session, which is left out of most answers
    link: str | None = None  # the state of our own connection
    zxid: int = 0  # the newest known transaction
    link_at: Millis = 0  # when our own connection entered its present state
    complete_to: int = 0  # the transaction up to which no change is missing; 0: not known
    listed: int = 0  # number of sessions that any server lists, including our own
    connected_at: Millis | None = None  # when our own connection came up, if that is known

    @classmethod
    def of(cls, world: World, now_ms: Millis, previous: "Ensemble | None" = None) -> "Ensemble":
        """Join the tables of a world, reusing the indexes of tables that did not change."""
        known, link = previous or NO_ENSEMBLE, world.link
        before = {server.server: server for server in known.tables}
        is_lost = link is not None and link.gone_since is not None
        tables = tuple(
            ServerTables.of(server, tables, before.get(server), keep_connections=is_lost)
            for server, tables in sorted(world.tables.items())
        )
        own = link.session if link else None
        state, at, came_up = (link.state, link.at, link.connected_at) if link else (None, 0, None)
        is_same = len(tables) == len(known.tables) and all(map(is_, tables, known.tables))
        listed = known.listed if is_same else _count_sessions(tables)
        return cls(
            now_ms, tables, own or None, state, world.zxid, at, world.complete_to, listed, came_up
        )

    @property
    def has_several_servers(self) -> bool:
        return len(self.tables) > 1

    @property
    def visibility(self) -> Visibility:
        return Visibility(
            _extent([server.connections is not None for server in self.tables]),
            _extent([server.watches is not None for server in self.tables]),
            "all" if any(server.expiry.expires_in_ms for server in self.tables) else "none",
        )

    @cached_property
    def blind_spots(self) -> tuple[MissingTable, ...]:
        """Tables that could not be read; only the leader has expiry times, so one is enough."""
        blind = (spot for server in self.tables for spot in server.blind_spots())
        has_times = self.visibility.expiry == "all"
        return tuple(spot for spot in blind if not (has_times and spot.table == "expiry"))

    def missing(self, kind: TableKind) -> tuple[str, ...]:
        """Why a kind of table is incomplete, one sentence per server, or () if it is complete."""
        if not self.tables:
            return (f"no server was asked for its {TABLE_NAMES[kind]}",)
        return tuple(str(spot) for spot in self.blind_spots if spot.table == kind)

    @property
    def servers(self) -> tuple[Server, ...]:
        """The figures of all ensemble members, by address."""
        return tuple(server.figures for server in self.tables)

    @property
    def session_count(self) -> int | None:
        """The number of sessions listed, without zktop's own; None if no server lists any."""
        if self.visibility.sessions == "none":
            return None
        return self.listed - any(self.own in (server.connections or ()) for server in self.tables)

    def hides_watches(self, session: Session) -> bool | None:
        """Return whether the server of a session counts more watches than it lists."""
        tables = self._server_of(session)
        return tables.hides_watches(self.own) if tables else None

    def presence(self, session: Session) -> Presence | None:
        """Return the connection of a session, the newest one if several servers claim it."""
        claims = [claim for server in self.tables if (claim := server.presence(session))]
        if len(claims) < 2:  # noqa: PLR2004  most often one server has it
            return claims[0] if claims else None
        claims.sort(key=Presence.newness, reverse=True)
        others = tuple(claim.server for claim in claims[1:])
        return msgspec.structs.replace(claims[0], other_servers=others)

    @cached_property
    def own_connection(self) -> Presence | None:
        """Our own connection, in a table that was read since it came up."""
        known, came_up = self.presence(self.own) if self.own else None, self.connected_at
        return known if known and came_up is not None and known.at >= came_up else None

    def connections_from(self, origin: str) -> int:
        """Count the connections, without our own, that come from one address or one host."""
        own = self.presence(self.own) if self.own else None
        ours = own is not None and origin in (own.client, host_of(own.client))
        return sum(server.callers[Text(origin)] for server in self.tables) - ours

    def connected(self, session: Session, czxid: int = 0) -> bool | None:
        """Return whether it is connected to any server; None if a table is missing."""
        if any(session in (server.connections or ()) for server in self.tables):
            return True
        tables = [server.facts.connections for server in self.tables]
        could_show_session = all(
            table is not None and table.rows is not None and table.zxid >= czxid
            for table in tables
        )
        return False if tables and could_show_session else None

    def watched(self, session: Session) -> frozenset[Text] | None:
        """Return the paths that a session watches; None if no table shows it.

        Only the server that it is connected to lists them. If connections are not visible, that is
        the server that lists watches of the session.
        """
        tables = self._server_of(session)
        return tables.watches.of(session) if tables and tables.watches else None

    def watched_in(self, session: Session, folder: str) -> Iterator[Text]:
        """Yield the paths below a znode that a session watches, as far as tables show them."""
        tables = self._server_of(session)
        if tables is not None and tables.watches is not None:
            yield from tables.watches.in_folder(session, folder)

    def watched_at(self, session: Session) -> Millis | None:
        """Return when `watched` was read."""
        fact = self.watch_fact(session)
        return fact.at if fact else None

    def watch_fact(self, session: Session) -> Watches | None:
        """Return the table that `watched` was read from."""
        tables = self._server_of(session)
        return tables.facts.watches if tables and tables.watches else None

    def watchers(self, path: str) -> frozenset[Session]:
        """Return the sessions that watch a path, without our own and those of other zktops."""
        tables = [server.watches for server in self.tables if server.watches]
        watching = {session for table in tables for session in table.by_path.get(Text(path), ())}
        if watching:
            watching.difference_update((self.own,), *(table.zktops for table in tables))
        return frozenset(watching)

    def timeout_ms(self, session: Session) -> int | None:
        """Return the negotiated timeout, from its connection or from a list of all sessions."""
        presence = self.presence(session)
        if presence is not None and presence.timeout_ms is not None:
            return presence.timeout_ms
        lists = sorted(self._expiries(), key=_at, reverse=True)
        timeouts = ((expiry.timeouts_ms or {}).get(session) for expiry in lists)
        return next((timeout for timeout in timeouts if timeout is not None), None)

    def expires_in(self, session: Session, now_ms: Millis | None = None) -> ExpiryWindow | None:
        """Return when a session expires if it stays silent; None if unknown.

        The leader's own date counts, unless the session has been in contact since.
        """
        now_ms = self.now_ms if now_ms is None else now_ms
        dates = [date for date in (self._by_leader(session), self._by_contact(session)) if date]
        date = max(dates) if dates else self._at_the_latest(session)
        if date is None:
            return None
        low, high = date
        return ExpiryWindow(max(0, low - now_ms), max(0, high - now_ms))

    def silence_by_leader(self, session: Session) -> int | None:
        """Return the least time of silence, by the leader's clock, when it listed expiry dates."""
        newest, timeout = self._newest_dates(session), self.timeout_ms(session)
        return None if newest is None or timeout is None else timeout - newest[1]

    def is_listed(self, session: Session, czxid: int = 0) -> bool | None:
        """Return whether the newest list of all sessions has it; None if no list can be trusted.

        A list without our own session is incomplete, so an absence from it proves nothing.
        """
        for server in self._lists:
            if server.lists(session):
                return True
            trusted = self.own is None or server.lists(self.own)
            if trusted and server.expiry.zxid >= czxid:
                return False
        return False if self._have_all_ended(czxid) else None

    @cached_property
    def _lists(self) -> list[ServerTables]:
        """The servers that list all sessions, the newest list first."""
        lists = [server for server in self.tables if server.sessions]
        return sorted(lists, key=lambda server: server.expiry.at, reverse=True)

    def _have_all_ended(self, czxid: int) -> bool:
        """Whether transaction logs show that no session was left at or after this transaction."""
        return self.complete_to > 0 and any(
            server.expiry.timeouts_ms == {} and server.expiry.zxid >= czxid
            for server in self.tables
        )

    def alive(self, session: Session, czxid: int = 0) -> bool | None:
        """Return whether the ensemble still has the session; None if unknown."""
        for server in self.tables:
            if server.connections and session in server.connections:
                return True
        return self.is_listed(session, czxid)

    def is_cut_off(self, session: Session, czxid: int = 0) -> bool | None:
        """Return whether a session exists without a connection: it is about to expire."""
        connected = self.connected(session, czxid)
        if connected is not False:
            return False if connected else None
        return self.is_listed(session, czxid)

    def owner_of(self, path: str) -> Session | None:
        """Return the owner of an ephemeral znode from a server's dump, even if an ACL hides it."""
        dumps = sorted(self.tables, key=lambda server: server.expiry.at, reverse=True)
        return next((server.owners[Text(path)] for server in dumps if path in server.owners), None)

    def changed_since(self, before: "Ensemble") -> frozenset[Session]:
        """Return the sessions whose server, watches or nodes (if many) changed."""
        return frozenset[Session]().union(*starmap(_difference, self._pairs(before)))

    def relisted_since(self, before: "Ensemble") -> int:
        """Return the number of connections in the tables read since the earlier version."""
        return sum(
            len(now.connections or ())
            for was, now in self._pairs(before)
            if now and (was is None or now.facts.connections is not was.facts.connections)
        )

    def rewatched_since(self, before: "Ensemble") -> set[Text]:
        """Return the paths whose watchers, without our own session, may have changed."""
        ours = {before.own or 0, self.own or 0} if before.own != self.own else ()
        changed: set[Text] = set()
        for was, now in (map(_watch_rows, pair) for pair in self._pairs(before)):
            for session in _changed(was, now):
                changed.update({*was.get(session, ())} ^ {*now.get(session, ())})
            for session in ours:
                changed.update(was.get(session, ()), now.get(session, ()))
        return changed

    def _pairs(
        self, before: "Ensemble"
    ) -> Iterator[tuple[ServerTables | None, ServerTables | None]]:
        """Yield the earlier and the present tables of each server."""
        earlier = {server.server: server for server in before.tables}
        later = {server.server: server for server in self.tables}
        addresses = earlier.keys() | later.keys()
        return ((earlier.get(address), later.get(address)) for address in addresses)

    def _server_of(self, session: Session) -> ServerTables | None:
        """Find the server that the session is connected to, as far as that is known."""
        presence = self.presence(session)
        if presence is not None:
            return next(server for server in self.tables if server.server == presence.server)
        if self.visibility.sessions == "all":
            return None
        watching = [
            server for server in self.tables if server.watches and session in server.watches.rows
        ]
        return max(watching, key=lambda server: _at(server.facts.watches), default=None)

    def _expiries(self) -> Iterator[Expiry]:
        return (table.expiry for table in self.tables)

    def _by_leader(self, session: Session) -> tuple[Millis, Millis] | None:
        """The earliest and the latest expiry according to the leader."""
        newest = self._newest_dates(session)
        if newest is None:
            return None
        (at, left), timeout = newest, self.timeout_ms(session)
        if timeout is not None and left > latest_expiry(timeout, self._tick_ms) + DATE_ERROR_MS:
            return None  # no session lives that long: the clocks differ
        date = at + left
        return date, date + self._tick_ms // 2

    def _newest_dates(self, session: Session) -> tuple[Millis, int] | None:
        """When a leader last listed the expiry of a session, and after how long it expires."""
        tables = (
            (expiry.at, expiry.expires_in_ms[session])
            for expiry in self._expiries()
            if expiry.expires_in_ms and session in expiry.expires_in_ms
        )
        return max(tables, default=None)

    def _by_contact(self, session: Session) -> tuple[Millis, Millis] | None:
        """The earliest and the latest expiry if the session stays silent from its last contact."""
        presence, timeout = self.presence(session), self.timeout_ms(session)
        if presence is None or presence.contact is None or timeout is None:
            return None
        date = presence.contact + timeout
        return date, presence.contact + latest_expiry(timeout, self._tick_ms)

    def _at_the_latest(self, session: Session) -> tuple[Millis, Millis] | None:
        """Bound the expiry of a session without a connection, which nothing renews."""
        timeout = self.timeout_ms(session)
        if timeout is None or not self.is_cut_off(session):
            return None
        seen_gone = max(_at(server.facts.connections) for server in self.tables)
        return self.now_ms, seen_gone + latest_expiry(timeout, self._tick_ms)

    @property
    def _tick_ms(self) -> int:
        ticks = (expiry.tick_ms or 0 for expiry in self._expiries())
        return next((tick for tick in ticks if tick > 0), USUAL_TICK_MS)


NO_ENSEMBLE: Final = Ensemble()


def _at(fact: msgspec.Struct | None) -> Millis:
    return getattr(fact, "at", 0)


def _count_sessions(tables: Iterable[ServerTables]) -> int:
    """Count each session once: one that moved is in two tables for a while."""
    return len(set[Session]().union(*(server.connections or () for server in tables)))


def _extent(has_table: list[bool]) -> Extent:
    if not any(has_table):
        return "none"
    return "all" if all(has_table) else "some"


def _difference(before: ServerTables | None, after: ServerTables | None) -> set[Session]:
    if before is after:
        return set()
    watches = _changed(_watch_rows(before), _watch_rows(after))
    connections = before and before.connections, after and after.connections
    here, there = (frozenset(rows or ()) for rows in connections)
    return watches | (here ^ there) | _changed(_large_owners(before), _large_owners(after))


def _large_owners(tables: ServerTables | None) -> dict[Session, tuple[Text, ...]]:
    """The nodes of sessions that own many, according to a dump."""
    dumped = (tables.expiry.ephemerals if tables else None) or {}
    return {session: paths for session, paths in dumped.items() if len(paths) >= MANY_NODES}


def _watch_rows(tables: ServerTables | None) -> dict[Session, tuple[Text, ...]]:
    return tables.watches.rows if tables and tables.watches else {}


def _changed(
    before: dict[Session, tuple[Text, ...]], after: dict[Session, tuple[Text, ...]]
) -> set[Session]:
    if before is after:
        return set()
    either = before.keys() | after.keys()
    return {session for session in either if before.get(session) != after.get(session)}
