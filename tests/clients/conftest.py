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
    Hire,
    Person,
    Stage,
    Virtual,
    built,
    compiled,
    go_people,
    kazoo_people,
    virtual,
)
from clients.commands import Check, checking
from kazoo.client import KazooClient
from servers import DEBIAN_JARS, RunningServer, real_zookeeper

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
    }
    with real_zookeeper(admin=True, **settings) as running:
        yield running


@pytest.fixture(scope="session")
def zookeeper(server: RunningServer) -> Iterator[KazooClient]:
    """A client that only looks."""
    client = KazooClient(server.address)
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.fixture(scope="session")
def classpath(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The compiled Java program, and Curator."""
    if not (DEBIAN_JARS / "curator-recipes.jar").exists():
        pytest.skip("no Curator on this machine")
    return compiled(tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="session")
def machine(server: RunningServer, classpath: str) -> Iterator[Virtual]:
    """The Java process of all Curator clients that come to no harm."""
    with virtual(server, classpath) as running:
        yield running


@pytest.fixture(scope="session")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled Go program."""
    if shutil.which("go") is None or not (DEBIAN_GO / "src/github.com/samuel").exists():
        pytest.skip("no Go, or no go-zookeeper, on this machine")
    return built(tmp_path_factory.mktemp("go"))


@pytest.fixture
def go(server: RunningServer, go_program: Path) -> Iterator[Hire]:
    """Hire Go clients."""
    with go_people(server, go_program) as hire:
        yield hire


@pytest.fixture
def stage(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A place of the test's own; whoever is hired is gone after the test."""
    with kazoo_people(server) as kazoo, ExitStack() as stack:

        def curator(*names: str, begin: str = "begin") -> list[Person]:
            shared: Virtual = request.getfixturevalue("machine")
            people = shared.hire(*names, begin=begin)
            for person in people:
                stack.callback(shared.dismiss, person)
            return people

        def mortal_curator(*names: str, timeout_s: float = LONG_S) -> list[Person]:
            path = request.getfixturevalue("classpath")
            own = stack.enter_context(virtual(server, path))
            return own.hire(*names, timeout_s=timeout_s)

        yield Stage(server, f"/clients-{next(_numbers)}", kazoo, curator, mortal_curator)


@pytest.fixture
def check(stage: Stage, tmp_path: Path) -> Check:
    """`zktop check` on this test's place, as a process."""
    return checking(stage.server, stage.root, tmp_path)
