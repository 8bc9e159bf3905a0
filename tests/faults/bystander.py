"""Another client of the same servers, which zktop must not slow down."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from kazoo.client import KazooClient
from servers import ask

OUTSTANDING = 10
NOTICED_S = 0.25  # a client that waits for a stopped one would wait as long as the stop lasts


class Pace(NamedTuple):
    """The usual duration of another client's write and read, and the server's backlog."""

    took: float
    outstanding: int


def pace(client: KazooClient, ports: Sequence[int], seconds: float) -> Pace:
    """Write and read for this long, as fast as possible."""
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
    return max(int(line.split()[1]) for line in lines if line.startswith("Outst"))
