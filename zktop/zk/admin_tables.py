"""What the AdminServer answers, read into the same rows; an answer may lack or garble anything."""

from typing import Any

from zktop.model.facts import Connection, Session, session_id
from zktop.model.text import Text, clean
from zktop.zk.tables import Paths, Wanted, aged, client_address, number

EPHEMERALS = "session_id_to_ephemeral_paths"


def connections(told: dict[str, Any]) -> tuple[Connection, ...]:
    """Read `connections`, the plain ones and those over TLS."""
    rows: list[Connection] = []
    answered: list[int | None] = []
    for entry in [*_list(told, "connections"), *_list(told, "secure_connections")]:
        row = _connection(entry) if isinstance(entry, dict) else None
        if row is not None:
            rows.append(row)
            answered.append(whole(entry.get("last_response_time")))
    return aged(rows, answered)


def _connection(entry: dict[str, Any]) -> Connection | None:
    session = whole(entry.get("session_id"))
    if not session:
        return None
    operation = entry.get("last_operation")
    return Connection(
        session_id(session),
        client_address(str(entry.get("remote_socket_address", "?"))),
        whole(entry.get("session_timeout")),
        whole(entry.get("packets_received")) or 0,
        whole(entry.get("packets_sent")) or 0,
        whole(entry.get("outstanding_requests")) or 0,
        clean(operation) if isinstance(operation, str) else None,
        whole(entry.get("last_cxid")),
        whole(entry.get("established")),
    )


def newest_answer(told: dict[str, Any]) -> int | None:
    """Give the newest `last_response_time`: about now, by the server's monotonic clock."""
    entries = [*_list(told, "connections"), *_list(told, "secure_connections")]
    moments = [
        whole(entry.get("last_response_time")) for entry in entries if isinstance(entry, dict)
    ]
    return max(filter(None, moments), default=None)


def watched(told: dict[str, Any]) -> Paths:
    """Read `watches`."""
    return _paths(told.get("session_id_to_watched_paths"))


def watched_in_detail(told: dict[str, Any], kind: str) -> Paths | None:
    """Read the watches of a kind, data or children, from `watch_details`; None when cut short.

    It is proposed upstream and no release has it, so anything unexpected also means None.
    """
    entries = told.get("watches", told.get("watch_details"))
    if told.get("truncated") is not False or not isinstance(entries, list):
        return None
    paths: dict[Session, list[Text]] = {}
    for entry in entries:
        if not isinstance(entry, dict) or kind not in _list(entry, "watch_kind"):
            continue
        session, path = whole(entry.get("session_id")), entry.get("path")
        if session and isinstance(path, str):
            paths.setdefault(session_id(session), []).append(clean(path))
    return {session: tuple(found) for session, found in paths.items()}


def ephemerals(told: dict[str, Any], wanted: Wanted | None = None) -> Paths:
    """Read who owns which ephemeral znode from `dump`; only those that are wanted, if named."""
    if wanted is not None and not wanted:
        return {}
    table = _paths(told.get(EPHEMERALS))
    if wanted is None:
        return table
    kept = (
        (session, tuple(wanted[p] for p in paths if p in wanted))
        for session, paths in table.items()
    )
    return {session: paths for session, paths in kept if paths}


def expiry(told: dict[str, Any]) -> dict[int, tuple[Session, ...]]:
    """Read from a leader's `dump` which sessions expire at which moment of its monotonic clock."""
    buckets = told.get("expiry_time_to_session_ids")
    if not isinstance(buckets, dict):
        return {}
    return {
        moment: tuple(session_id(one) for one in map(whole, sessions) if one)
        for text, sessions in buckets.items()
        if isinstance(sessions, list) and (moment := number(text)) is not None
    }


def _paths(table: object) -> Paths:
    if not isinstance(table, dict):
        return {}
    return {
        session_id(session): tuple(clean(path) for path in paths if isinstance(path, str))
        for text, paths in table.items()
        if isinstance(paths, list) and (session := number(text))
    }


def _list(told: dict[str, Any], name: str) -> list[Any]:
    value = told.get(name)
    return value if isinstance(value, list) else []


def whole(value: object) -> int | None:
    """Give a whole number, also one that was written as a string."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return number(value) if isinstance(value, str) else None
