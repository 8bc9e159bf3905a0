"""The servers that the sandbox's tests talk to."""

import os

import pytest
from servers import real_zookeeper, sandbox_server

TICK_MS = 500  # so that the shortest session lasts a second


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox with short ticks, fresh for each test file."""
    with sandbox_server("--tick-ms", str(TICK_MS)) as server:
        yield server


@pytest.fixture(scope="session")
def real():
    """A real server with the same ticks; tests that need it are skipped where there is none."""
    yield from _real()


@pytest.fixture(scope="module")
def fresh_real():
    """A real server that nobody else has used."""
    yield from _real()


def _real():
    with real_zookeeper(tickTime=TICK_MS) as server:
        if server is None:
            missing = "no ZooKeeper: set ZOOKEEPER_HOME or install Debian's packages"
            if os.environ.get("ZKTOP_REQUIRE_ZOOKEEPER"):
                pytest.fail(missing)
            pytest.skip(missing)
        yield server


@pytest.fixture(params=["sandbox", pytest.param("real", marks=pytest.mark.zookeeper)])
def either(request):
    """Both servers in turn: what the test states holds for the one as for the other."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["sandbox", pytest.param("fresh_real", marks=pytest.mark.zookeeper)])
def either_fresh(request):
    """Both servers in turn, used by this file alone."""
    return request.getfixturevalue(request.param)
