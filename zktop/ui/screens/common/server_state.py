"""Outages of servers, and the newest transaction of all."""

from collections.abc import Iterable
from typing import Final

from zktop.model.facts import EPOCH_BITS, Millis, Server, ServerState
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import elapsed

OUTAGES: Final[dict[ServerState | None, tuple[str, Ink]]] = {
    "down": ("DOWN", "critical"),
    "no-quorum": ("NO SERVICE", "critical"),
    "no-answer": ("NO ANSWER", "critical"),
}


def is_same_epoch(zxid: int, other: int) -> bool:
    return zxid >> EPOCH_BITS == other >> EPOCH_BITS


def newest_of(servers: Iterable[Server]) -> int:
    return max((server.server_zxid or 0 for server in servers), default=0)


def out_for(server: Server, now: Millis) -> int | None:
    """Return how long a server has been down, in ms."""
    return None if server.since is None else max(0, max(now, server.at) - server.since)


def outage(state: ServerState | None, out_ms: int | None) -> tuple[str, Ink]:
    """Return the outage of a server, and its duration.

    >>> outage("down", 12_000)
    ('DOWN 12s', 'critical')
    """
    word, ink = OUTAGES[state]
    return (word if out_ms is None else f"{word} {elapsed(out_ms)}"), ink
