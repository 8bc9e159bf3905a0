"""A real server for the whole session, and a path of its own for each test."""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, real_zookeeper

_numbers = itertools.count()


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[RunningServer]:
    """A standalone server with everything switched on."""
    with real_zookeeper(admin=True) as server:
        if server is None:
            pytest.skip("no ZooKeeper on this machine")
        yield server


@pytest.fixture(scope="module")
def _client(zookeeper: RunningServer) -> Iterator[KazooClient]:
    client = KazooClient(zookeeper.address, timeout=30)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.fixture
def client(_client: KazooClient) -> KazooClient:
    """Somebody who writes."""
    return _client


@pytest.fixture
def clients(zookeeper: RunningServer) -> Iterator[Callable[[], KazooClient]]:
    """Sessions of their own, ended with the test."""
    made: list[KazooClient] = []

    def one_more() -> KazooClient:
        client = KazooClient(zookeeper.address, timeout=10)
        client.start()
        made.append(client)
        return client

    yield one_more
    for client in made:
        client.stop()
        client.close()


@pytest.fixture
def root(client: KazooClient) -> str:
    """A znode of the test's own."""
    path = f"/test-{next(_numbers)}"
    client.create(path)
    return path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that nobody signed but itself, in one file."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        f"-keyout {path} -out {path}.crt".split(),
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path
