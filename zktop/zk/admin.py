"""The AdminServer's commands, the read-only ones, over HTTP or HTTPS.

HTTP/1.0 on purpose: the server closes when it is done, so an answer ends where the connection
does, and no library is needed. `/commands` is never crawled: some commands reset things.
"""

import ssl
from collections.abc import Callable
from typing import Any

import msgspec

from zktop.zk.hosts import Address
from zktop.zk.wire import exchange
from zktop.zk.words import RefusedError

READ_ONLY_COMMANDS = frozenset(
    {
        "configuration",
        "connections",
        "dump",
        "leader",
        "monitor",
        "server_stats",
        "voting_view",
        "watch_details",
        "watch_summary",
        "watches",
    }
)

Told = dict[str, Any]


def command(
    address: Address,
    name: str,
    *,
    url: str = "/commands",
    context: ssl.SSLContext | None = None,
    seconds: float = 2.0,
    tally: Callable[[int], None] = lambda _bytes: None,
) -> Told:
    """Give the JSON object that a command answers, or raise RefusedError with the reason."""
    if name not in READ_ONLY_COMMANDS:
        raise ValueError(f"{name!r} is not among the commands that only read")
    question = f"GET {url.rstrip('/')}/{name} HTTP/1.0\r\nHost: {address}\r\n\r\n"
    try:
        answer = exchange(address, question.encode("utf-8"), context=context, seconds=seconds)
    except TimeoutError:
        raise RefusedError(f"AdminServer {name}: no answer within {seconds:g} s") from None
    except OSError as problem:
        said = problem.strerror or problem
        raise RefusedError(f"AdminServer on port {address.port}: {said}") from problem
    tally(len(answer))
    return _told(name, answer)


def _told(name: str, answer: bytes) -> Told:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 1)
    if not status[0].startswith("HTTP/"):
        raise RefusedError(f"AdminServer {name}: that is no HTTP")
    if not status[-1].startswith("200"):
        raise RefusedError(f"AdminServer {name}: {status[-1][:60].strip()}")
    try:
        told = msgspec.json.decode(body)
    except msgspec.DecodeError:
        raise RefusedError(f"AdminServer {name}: that is no AdminServer") from None
    if not isinstance(told, dict) or told.get("error") is not None:
        said = told.get("error") if isinstance(told, dict) else "that is no AdminServer"
        raise RefusedError(f"AdminServer {name}: {said}")
    return told
