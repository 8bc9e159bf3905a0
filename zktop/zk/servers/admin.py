"""Read-only AdminServer commands over HTTP or HTTPS, parsed into rows.

It uses HTTP/1.0, in which the server closes the connection after its answer, so no library is
needed. `/commands` is never crawled, because some commands reset counters. If an answer is
incomplete or malformed, its table is unknown.
"""

import ssl
from collections.abc import Callable
from typing import Any

import msgspec

from zktop.model.facts import Connection, Session
from zktop.model.session_ids import session_id
from zktop.model.text import clean
from zktop.zk.connect.address import Address
from zktop.zk.connect.read_only_exchange import ANSWER_TIMEOUT_S, exchange
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.table_formats import (
    PathsBySession,
    WantedPaths,
    client_address,
    number,
    unreadable,
    with_silence,
)

READ_ONLY_COMMANDS = frozenset(
    {
        "configuration",
        "connections",
        "dump",
        "monitor",
        "server_stats",
        "watch_summary",
        "watches",
    }
)

HOW_TO_ENABLE = "admin.enableServer=true in zoo.cfg starts it; from 3.10 on it is off by default"

JsonAnswer = dict[str, Any]


def command(
    address: Address,
    name: str,
    *,
    context: ssl.SSLContext | None = None,
    seconds: float = ANSWER_TIMEOUT_S,
    count_bytes: Callable[[int], None] = lambda _bytes: None,
) -> JsonAnswer:
    """Run a command and return its JSON object, or raise RefusedError with the reason.

    Large tables are not decoded: they are the `bytes` that the server sent.
    """
    if name not in READ_ONLY_COMMANDS:
        raise ValueError(f"{name!r} is not a read-only command")
    question = f"GET /commands/{name} HTTP/1.0\r\nHost: {address}\r\n\r\n"
    try:
        answer = exchange(address, question.encode("utf-8"), context=context, seconds=seconds)
    except TimeoutError:
        raise RefusedError(f"AdminServer {name}: no answer within {seconds:g} s") from None
    except OSError as problem:
        reason = str(problem.strerror or problem)
        if isinstance(problem, ConnectionRefusedError):
            reason += f" ({HOW_TO_ENABLE})"
        where = f"port {address.port}" + (f", at {address.via}" if address.via else "")
        raise RefusedError(f"AdminServer on {where}: {reason}") from problem
    count_bytes(len(answer))
    return _decode(name, answer)


def _decode(name: str, answer: bytes) -> JsonAnswer:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 1)
    if not status[0].startswith("HTTP/"):
        raise RefusedError(f"AdminServer {name}: the answer is not HTTP")
    if not status[-1].startswith("200"):
        raise RefusedError(f"AdminServer {name}: {status[-1][:60].strip()}")
    try:
        raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        values = {
            key: bytes(value) if key in LARGE_TABLES else msgspec.json.decode(value)
            for key, value in raw.items()
        }
    except (msgspec.DecodeError, UnicodeDecodeError):
        if body.startswith(b"{") and not body.rstrip().endswith(b"}"):  # truncated
            raise unreadable(f"AdminServer {name}") from None
        raise RefusedError(f"AdminServer {name}: this is not an AdminServer") from None
    if values.get("error") is not None:
        raise RefusedError(f"AdminServer {name}: {values['error']!s}")
    return values


WATCHES, EPHEMERALS = "session_id_to_watched_paths", "session_id_to_ephemeral_paths"
LARGE_TABLES = frozenset({WATCHES, EPHEMERALS})


def large_table(answer: JsonAnswer, name: str) -> bytes:
    text: bytes = answer.get(name, b"null")
    return text


def connections(answer: dict[str, Any]) -> tuple[Connection, ...]:
    """Parse `connections`, plain and TLS."""
    if not isinstance(answer.get("connections"), list):
        raise unreadable("AdminServer connections", str(answer.get("connections")))
    rows: list[Connection] = []
    response_times: list[int | None] = []
    for entry in [*_list(answer, "connections"), *_list(answer, "secure_connections")]:
        row = _connection(entry)
        if row is not None:
            rows.append(row)
            response_times.append(integer(entry.get("last_response_time")))
    return with_silence(rows, response_times)


def _connection(entry: object) -> Connection | None:
    match entry:
        case {
            "session_id": int(session),
            "remote_socket_address": str() | None as client,
            "packets_received": int(received),
            "packets_sent": int(sent),
            **rest,
        }:
            operation = rest.get("last_operation")
        case _:
            raise unreadable("AdminServer connections", str(entry))
    if not session or client is None:  # None: it is closing
        return None
    return Connection(
        session_id(session),
        client_address(client),
        integer(rest.get("session_timeout")),
        received,
        sent,
        integer(rest.get("outstanding_requests")) or 0,
        clean(operation) if isinstance(operation, str) else None,
        integer(rest.get("last_cxid")),
        integer(rest.get("established")),
    )


def newest_answer(answer: dict[str, Any]) -> int | None:
    """The newest `last_response_time`, close to the present on the server's monotonic clock."""
    entries = [*_list(answer, "connections"), *_list(answer, "secure_connections")]
    moments = [
        integer(entry.get("last_response_time")) for entry in entries if isinstance(entry, dict)
    ]
    return max(filter(None, moments), default=None)


def watched(answer: dict[str, Any]) -> PathsBySession:
    return _paths("watches", large_table(answer, WATCHES))


def total_watches(answer: dict[str, Any]) -> int:
    """Parse the number of all watches from `watch_summary`."""
    count = integer(answer.get("num_total_watches"))
    if count is None:
        raise unreadable("AdminServer watch_summary", str(answer.get("num_total_watches")))
    return count


def ephemerals(answer: dict[str, Any], wanted: WantedPaths) -> PathsBySession:
    """Parse the owners of ephemeral znodes from `dump`, of these paths only."""
    if not wanted:
        return {}
    kept = (
        (session, tuple(path for path in map(wanted.get, paths) if path is not None))
        for session, paths in _paths("dump", large_table(answer, EPHEMERALS)).items()
    )
    return {session: paths for session, paths in kept if paths}


def expiry(answer: dict[str, Any]) -> dict[int, tuple[Session, ...]]:
    """Parse the expiry times of sessions from a leader's `dump`, by its monotonic clock."""
    buckets = answer.get("expiry_time_to_session_ids", {})
    try:
        return {
            int(moment): tuple(session_id(int(session)) for session in sessions)
            for moment, sessions in buckets.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise unreadable("AdminServer dump", str(buckets)) from None


def _paths(command: str, table: bytes) -> PathsBySession:
    """Parse a table of paths by session, without the sessions that have none."""
    try:
        rows = msgspec.json.decode(table, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = table.decode("utf-8", "replace")
        raise unreadable(f"AdminServer {command}", text) from None
    by_session: PathsBySession = {}
    for text, paths in rows.items():
        session = number(text)
        if session is None or not isinstance(paths, list) or not all(map(_is_path, paths)):
            raise unreadable(f"AdminServer {command}", f"{text}: {paths}")
        if paths:
            by_session[session_id(session)] = tuple(map(clean, paths))
    return by_session


def _is_path(path: object) -> bool:
    return isinstance(path, str) and path.startswith("/")


def _list(answer: dict[str, Any], name: str) -> list[Any]:
    value = answer.get(name)
    return value if isinstance(value, list) else []


def integer(value: object) -> int | None:
    """Return an integer, given as a number or as a string, or None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return number(value) if isinstance(value, str) else None
