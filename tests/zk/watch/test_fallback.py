"""Servers that refuse what their version can do are watched all the same."""

from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, real_zookeeper
from zk.observed import observing

pytestmark = pytest.mark.zookeeper

OPTIMIZED = "org.apache.zookeeper.server.watch.WatchManagerOptimized"


@pytest.fixture(scope="module")
def optimized() -> Iterator[RunningServer]:
    """A server whose watch manager knows no persistent watches."""
    with real_zookeeper(watchManagerName=OPTIMIZED) as server:
        yield server


def test_a_watch_manager_that_refuses_is_watched_by_single_watches(
    optimized: RunningServer,
) -> None:
    """It says so to the first request, and the connection stays."""
    client = KazooClient(optimized.address)
    client.start()
    client.create("/locks/l/m-0000000000", makepath=True)
    with observing(optimized.address, "/locks/*") as live:
        assert live.source.cost().watches == 3
        client.create("/locks/l/m-0000000001", b"x")
        live.until(lambda world: (one := world.node("/locks/l/m-0000000001")) and one.data == b"x")
    client.stop()
    client.close()
