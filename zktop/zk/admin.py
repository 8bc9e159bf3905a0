"""The AdminServer's commands, the read-only ones, over HTTP or HTTPS.

HTTP/1.0 on purpose: the server closes when it is done, so an answer ends where the connection
does, and no library is needed. `/commands` is never crawled: some commands reset things.
"""

import ssl
from collections.abc import Callable, Collection
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

SWITCHED_ON_BY = "admin.enableServer=true in zoo.cfg starts it; from 3.10 on it is off by default"

Told = dict[str, Any]


def command(  # noqa: PLR0913  what a question may be asked with
    address: Address,
    name: str,
    *,
    url: str = "/commands",
    context: ssl.SSLContext | None = None,
    seconds: float = 2.0,
    tally: Callable[[int], None] = lambda _bytes: None,
    leave_out: Collection[str] = (),
) -> Told:
    """Give the JSON object that a command answers, or raise RefusedError with the reason.

    What is left out of it is not even decoded: some of it may be megabytes.
    """
    if name not in READ_ONLY_COMMANDS:
        raise ValueError(f"{name!r} is not among the commands that only read")
    question = f"GET {url.rstrip('/')}/{name} HTTP/1.0\r\nHost: {address}\r\n\r\n"
    try:
        answer = exchange(address, question.encode("utf-8"), context=context, seconds=seconds)
    except TimeoutError:
        raise RefusedError(f"AdminServer {name}: no answer within {seconds:g} s") from None
    except OSError as problem:
        said = str(problem.strerror or problem)
        if isinstance(problem, ConnectionRefusedError):
            said += f" ({SWITCHED_ON_BY})"
        raise RefusedError(f"AdminServer on port {address.port}: {said}") from problem
    tally(len(answer))
    return _told(name, answer, leave_out)


def _told(name: str, answer: bytes, leave_out: Collection[str]) -> Told:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 1)
    if not status[0].startswith("HTTP/"):
        raise RefusedError(f"AdminServer {name}: that is no HTTP")
    if not status[-1].startswith("200"):
        raise RefusedError(f"AdminServer {name}: {status[-1][:60].strip()}")
    try:
        raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        told = {key: msgspec.json.decode(raw[key]) for key in raw if key not in leave_out}
    except msgspec.DecodeError:
        raise RefusedError(f"AdminServer {name}: that is no AdminServer") from None
    if told.get("error") is not None:
        raise RefusedError(f"AdminServer {name}: {told['error']}")
    return told
