"""One real server and one Java process for all tests; clients and a path for each."""

import itertools
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from clients.client_processes import (
    DEBIAN_GO,
    LONG_S,
    ClientProcess,
    CuratorProcess,
    Stage,
    StartClients,
    built,
    compiled,
    curator_process,
    go_clients,
    kazoo_clients,
)
from clients.commands import Check, checking
from kazoo.client import KazooClient
from servers import DEBIAN_JARS, RunningServer, kazoo_client, real_zookeeper

TICK_MS = 200  # sessions of half a second and more, expired to the tick
LONGEST_SESSION_MS = 60_000

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A standalone server with short ticks."""
    settings = {
        "tickTime": TICK_MS,
        "maxSessionTimeout": LONGEST_SESSION_MS,
        "extendedTypesEnabled": "true",  # znodes with a time to live
        "audit.enable": "true",  # into its log
    }
    with real_zookeeper(admin=True, **settings) as running:
        yield running


@pytest.fixture(scope="session")
def zookeeper(server: RunningServer) -> Iterator[KazooClient]:
    """A client that only reads."""
    with kazoo_client(server.address) as client:
        yield client


@pytest.fixture(scope="session")
def classpath(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled Java program, and Curator."""
    if not (DEBIAN_JARS / "curator-recipes.jar").exists():
        pytest.skip("no Curator on this machine")
    return compiled(tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="session")
def machine(server: RunningServer, classpath: str) -> Iterator[CuratorProcess]:
    """The Java process of all Curator clients that are not killed."""
    with curator_process(server, classpath) as running:
        yield running


@pytest.fixture(scope="session")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled Go program."""
    if shutil.which("go") is None or not (DEBIAN_GO / "src/github.com/samuel").exists():
        pytest.skip("no Go, or no go-zookeeper, on this machine")
    return built(tmp_path_factory.mktemp("go"))


@pytest.fixture
def go(server: RunningServer, go_program: Path) -> Iterator[StartClients]:
    """Start Go clients."""
    with go_clients(server, go_program) as start_clients:
        yield start_clients


@pytest.fixture
def stage(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A root for this test; its clients end with it."""
    with kazoo_clients(server) as kazoo, ExitStack() as stack:

        def curator(*names: str, begin: str = "begin") -> list[ClientProcess]:
            shared: CuratorProcess = request.getfixturevalue("machine")
            members = shared.start_clients(*names, begin=begin)
            for client in members:
                stack.callback(shared.dismiss, client)
            return members

        def mortal_curator(*names: str, timeout_s: float = LONG_S) -> list[ClientProcess]:
            path = request.getfixturevalue("classpath")
            own = stack.enter_context(curator_process(server, path))
            return own.start_clients(*names, timeout_s=timeout_s)

        yield Stage(server, f"/clients-{next(_numbers)}", kazoo, curator, mortal_curator)


@pytest.fixture
def check(stage: Stage, tmp_path: Path) -> Check:
    """`zktop check` on this test's root, as a process."""
    return checking(stage.server, stage.root, tmp_path)
