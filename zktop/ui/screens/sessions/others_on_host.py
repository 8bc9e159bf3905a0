"""The other sessions on a session's host, and whether they are silent, too.

That distinguishes a problem with the process from one with its host or network.
"""

from collections.abc import Iterator

from zktop.model.facts import Connection, Session
from zktop.model.format import count
from zktop.model.history.endings import SILENT_SHARE
from zktop.model.world.tables_of_all_servers import Ensemble


def others_on_host(ensemble: Ensemble, session: Session) -> str:
    """Describe the other sessions from the same host, and whether they are silent too."""
    presence = ensemble.presence(session)
    if presence is None:
        return ""
    host = presence.client.rpartition(":")[0]
    same = [row for row in _connections(ensemble, host) if row.session != session]
    if not host or not same:
        return ""
    silent = sum(map(is_silent, same))
    others = f"{host} has {count(len(same), 'other session')}"
    if not is_silent(presence):
        return f"{others}, {silent} silent" if silent else others
    if silent == len(same):
        return f"{others}, all silent: a problem with the host or its network"
    if silent:
        return f"{others}, {silent} of them silent too"
    return f"{others}, none silent: a problem with this process, not with the host"


def _connections(ensemble: Ensemble, host: str) -> Iterator[Connection]:
    """Yield the sessions of a host except zktop's own, each from its newest table."""
    begin = f"{host}:"
    for tables in ensemble.tables:
        others = [server.connections or {} for server in ensemble.tables if server is not tables]
        for row in (tables.connections or {}).values():
            if row.session == ensemble.own or not row.client.startswith(begin):
                continue
            is_claimed = any(row.session in rows for rows in others)
            newest = ensemble.presence(row.session) if is_claimed else None
            if newest is None or newest.server == tables.server:
                yield row


def is_silent(presence: Connection) -> bool:
    """True if the session was silent for over half its timeout when its table was read."""
    quiet, timeout = presence.quiet_ms, presence.timeout_ms
    return quiet is not None and bool(timeout) and quiet > SILENT_SHARE * (timeout or 0)
