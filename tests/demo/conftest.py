"""A server of each kind, and a bench on it."""

import contextlib
from collections.abc import Iterator

import pytest
from demo.contenders import Bench, ThreadPool, kill_all
from demo.steps_and_believers import FullLog
from each_server import EITHER, server_of
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from zktop.demo.contender_processes import ProcessPool

TICK_MS = 200  # sessions of half a second and more, expired to the tick


@pytest.fixture(scope="session", params=EITHER)
def hosts(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server with short ticks."""
    with server_of(request.param, TICK_MS) as server:
        yield server.address


@pytest.fixture(scope="session")
def zookeeper(hosts: str) -> Iterator[KazooClient]:
    """A client that only reads."""
    client = KazooClient(hosts)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.fixture
def bench(hosts: str, zookeeper: KazooClient) -> Iterator[Bench]:
    """A bench for processes; everything on it is removed afterwards."""
    log = FullLog()
    with ProcessPool(log.add) as pool:
        yield Bench(hosts, pool, log, zookeeper)
        kill_all(pool)
    sweep(zookeeper)


@pytest.fixture
def threads(hosts: str, zookeeper: KazooClient) -> Iterator[Bench]:
    """A bench for contenders that are threads of this process: fast, but they cannot be killed."""
    log = FullLog()
    with ThreadPool(log.add) as pool:
        yield Bench(hosts, pool, log, zookeeper)
    sweep(zookeeper)


def sweep(zookeeper: KazooClient) -> None:
    """Delete everything below the demo root; sessions of killed contenders may still expire."""
    with contextlib.suppress(NoNodeError):
        zookeeper.retry(zookeeper.delete, "/zktop-demo", recursive=True)
