"""Both kinds of server, for tests that hold on each: the sandbox, and a real ZooKeeper."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from servers import RunningServer, real_zookeeper, sandbox_server

EITHER = ("sandbox", pytest.param("real", marks=pytest.mark.zookeeper))
TICK_MS = 2000


@contextmanager
def server_of(kind: str, tick_ms: int = TICK_MS) -> Iterator[RunningServer]:
    """A server of this kind; sessions last at least two ticks, and expire to the tick."""
    if kind == "real":
        with real_zookeeper(tickTime=tick_ms) as server:
            yield server
        return
    with sandbox_server("--tick-ms", str(tick_ms)) as server:
        yield server
