"""A real server for the whole session, and a znode of its own for each test."""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from each_server import EITHER
from kazoo.client import KazooClient
from servers import RunningServer, real_zookeeper, sandbox_server

_numbers = itertools.count()


# These also run on the sandbox. The others need features of a real server, or break it in ways
# that take time.
ON_BOTH = (
    "test_client",
    "test_overlapping_roots",
    "test_pending",
    "test_root_watcher",
    "test_requests",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of some modules on the real server and on the sandbox."""
    module = metafunc.module.__name__.rpartition(".")[2]
    if module in ON_BOTH and "zookeeper" in metafunc.fixturenames:
        metafunc.parametrize("zookeeper", EITHER, indirect=True, scope="session")


@pytest.fixture(scope="session")
def zookeeper(request: pytest.FixtureRequest) -> RunningServer:
    """A standalone server with all features enabled, or the sandbox."""
    server: RunningServer = request.getfixturevalue(getattr(request, "param", "real"))
    return server


@pytest.fixture(scope="session")
def real() -> Iterator[RunningServer]:
    """A real server."""
    with real_zookeeper(admin=True) as server:
        yield server


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningServer]:
    """The sandbox server."""
    with sandbox_server() as server:
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
    """A client that writes."""
    return _client


@pytest.fixture
def clients(zookeeper: RunningServer) -> Iterator[Callable[[], KazooClient]]:
    """Start clients with sessions of their own, which end with the test."""
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
    """A znode for this test."""
    path = f"/test-{next(_numbers)}"
    client.create(path)
    return path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate and its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        f"-keyout {path} -out {path}.crt".split(),
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path
