"""The servers of the sandbox's tests."""

import pytest
from each_server import EITHER, server_of

TICK_MS = 500  # so that the shortest session lasts a second


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox with short ticks, fresh for each test file."""
    with server_of("sandbox", TICK_MS) as server:
        yield server


@pytest.fixture(scope="session")
def real():
    """A real server with the same ticks."""
    with server_of("real", TICK_MS) as server:
        yield server


@pytest.fixture(scope="module")
def fresh_real():
    """A real server that no other test has used."""
    with server_of("real", TICK_MS) as server:
        yield server


@pytest.fixture(params=EITHER)
def either(request):
    """Both servers in turn; each test holds for both."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["sandbox", pytest.param("fresh_real", marks=pytest.mark.zookeeper)])
def either_fresh(request):
    """Both servers in turn, used by this file alone."""
    return request.getfixturevalue(request.param)
