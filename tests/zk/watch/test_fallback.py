"""Servers that refuse requests of their version are watched by older ones."""

from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, real_zookeeper
from zk.observed import observing

pytestmark = pytest.mark.zookeeper

OPTIMIZED = "org.apache.zookeeper.server.watch.WatchManagerOptimized"


@pytest.fixture(scope="module")
def optimized() -> Iterator[RunningServer]:
    """A server whose watch manager has no persistent watches."""
    with real_zookeeper(watchManagerName=OPTIMIZED) as server:
        yield server


def test_refused_persistent_watches_become_one_shot_watches(
    optimized: RunningServer,
) -> None:
    """The first refusal switches the kind of watches, and the connection stays."""
    client = KazooClient(optimized.address)
    client.start()
    client.create("/locks/l/m-0000000000", makepath=True)
    with observing(optimized.address, "/locks/*") as live:
        assert live.source.cost().watches == 3
        client.create("/locks/l/m-0000000001", b"x")
        live.until(lambda world: (one := world.node("/locks/l/m-0000000001")) and one.data == b"x")
    client.stop()
    client.close()
