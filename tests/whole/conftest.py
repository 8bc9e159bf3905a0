"""The servers on which scenes are played and observed at the same time."""

from collections.abc import Iterator

import pytest
from each_server import EITHER, server_of

TICK_MS = 500


@pytest.fixture(scope="module", params=EITHER)
def hosts(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server of each kind."""
    with server_of(request.param, TICK_MS) as server:
        yield server.address
