"""The servers that the UI is looked at on: our own, and a real one."""

from collections.abc import Iterator

import pytest
from servers import RunningServer, real_zookeeper, sandbox_server


@pytest.fixture(
    scope="session", params=["sandbox", pytest.param("real", marks=pytest.mark.zookeeper)]
)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """Our own server, and a real one."""
    if request.param == "sandbox":
        with sandbox_server() as server:
            yield server
        return
    with real_zookeeper() as server:
        if server is None:
            pytest.skip("no ZooKeeper on this machine")
        yield server
