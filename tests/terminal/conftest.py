"""The servers for tests of the UI: the sandbox, and a real one."""

from collections.abc import Iterator

import pytest
from each_server import EITHER, server_of
from servers import RunningServer


@pytest.fixture(scope="session", params=EITHER)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """The sandbox, and a real server."""
    with server_of(request.param) as server:
        yield server
