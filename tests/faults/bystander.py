"""Somebody else at the same servers, who must not notice what we do or leave undone."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from kazoo.client import KazooClient
from servers import ask

OUTSTANDING = 10
NOTICED_S = 0.25  # somebody who waits for a stopped client would wait for as long as it sleeps


class Pace(NamedTuple):
    """How long a write and a read of somebody else take mostly, and what piles up."""

    took: float
    outstanding: int


def pace(client: KazooClient, ports: Sequence[int], seconds: float) -> Pace:
    """Write and read for so long, as fast as it goes."""
    took, most = [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        client.set("/", b"x")
        client.get("/")
        took.append(time.monotonic() - begin)
        if len(took) % 20 == 0:
            most = max(most, *map(_outstanding, ports))
    return Pace(sorted(took)[len(took) // 2], most)


def _outstanding(port: int) -> int:
    lines = ask(port, "srvr").splitlines()
    return max(int(one.split()[1]) for one in lines if one.startswith("Outst"))
