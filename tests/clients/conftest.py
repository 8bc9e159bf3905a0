"""One real server and one Java process for all tests; clients and a path for each."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from clients.commands import Check, checking
from clients.people import LONG_S, Person, Stage, Virtual, compiled, kazoo_people, virtual
from kazoo.client import KazooClient
from servers import DEBIAN_JARS, RunningServer, real_zookeeper

TICK_MS = 200  # sessions of half a second and more, expired to the tick
LONGEST_SESSION_MS = 60_000

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A standalone server with short ticks."""
    settings = {"tickTime": TICK_MS, "maxSessionTimeout": LONGEST_SESSION_MS}
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


@pytest.fixture
def stage(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A place of the test's own; whoever is hired is gone after the test."""
    with kazoo_people(server) as kazoo, ExitStack() as stack:

        def curator(*names: str) -> list[Person]:
            shared: Virtual = request.getfixturevalue("machine")
            people = shared.hire(*names)
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
