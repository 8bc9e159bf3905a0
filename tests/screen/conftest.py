"""The servers that the UI is looked at on: our own, and a real one."""

from collections.abc import Iterator

import pytest
from each_server import EITHER, server_of
from servers import RunningServer


@pytest.fixture(scope="session", params=EITHER)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """Our own server, and a real one."""
    with server_of(request.param) as server:
        yield server
