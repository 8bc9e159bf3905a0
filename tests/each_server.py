"""Both kinds of server, for what holds on each: our own sandbox, and a real ZooKeeper."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from servers import RunningServer, real_zookeeper, sandbox_server

EITHER = ("sandbox", pytest.param("real", marks=pytest.mark.zookeeper))
TICK_MS = 2000


@contextmanager
def server_of(kind: str, tick_ms: int = TICK_MS) -> Iterator[RunningServer]:
    """A server of this kind; sessions are expired to the tick, and last for two ticks or more."""
    if kind == "real":
        with real_zookeeper(tickTime=tick_ms) as server:
            yield server
        return
    with sandbox_server("--tick-ms", str(tick_ms)) as server:
        yield server
