"""The servers on which scenes are played and watched at the same time."""

import os
from collections.abc import Iterator

import pytest
from servers import has_real_zookeeper, real_zookeeper, sandbox_server

TICK_MS = 500


@pytest.fixture(
    scope="module",
    params=["sandbox", pytest.param("zookeeper", marks=pytest.mark.zookeeper)],
)
def hosts(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server of each kind."""
    if request.param == "sandbox":
        with sandbox_server("--tick-ms", str(TICK_MS)) as server:
            yield server.address
        return
    if not has_real_zookeeper() and not os.environ.get("ZKTOP_REQUIRE_ZOOKEEPER"):
        pytest.skip("no real ZooKeeper on this machine")
    with real_zookeeper(tickTime=TICK_MS) as server:
        assert server
        yield server.address
