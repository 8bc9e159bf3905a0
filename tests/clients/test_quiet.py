"""Healthy clients with default settings of both libraries cause no finding."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.client_processes import (
    ClientProcess,
    CuratorProcess,
    Stage,
    curator_process,
    kazoo_clients,
)
from clients.commands import checking
from clients.snapshots import snapshot_when
from servers import RunningServer, real_zookeeper

pytestmark = pytest.mark.zookeeper

ASKED_S = 60.0  # as Curator does by default; a server with its own default grants 40
LOOKS_S = 3.0


@pytest.fixture(scope="module")
def default_server() -> Iterator[RunningServer]:
    """A server with default settings."""
    with real_zookeeper(admin=True) as running:
        yield running


@pytest.fixture(scope="module")
def default_machine(default_server: RunningServer, classpath: str) -> Iterator[CuratorProcess]:
    """A Java process with Curator clients of this server."""
    with curator_process(default_server, classpath) as running:
        yield running


def queue(members: list[ClientProcess], recipe: str, path: str) -> None:
    """One client holds, and the others wait."""
    members[0].acquire(recipe, path)
    for one in members[1:]:
        one.ask(recipe, path)


@pytest.mark.parametrize("recipe", ["Lock", "ReadLock", "WriteLock", "Semaphore"])
def test_healthy_clients_of_kazoo(
    default_server: RunningServer, recipe: str, tmp_path: Path
) -> None:
    """A regular queue has no findings."""
    with kazoo_clients(default_server) as start_clients:
        members = start_clients("ann", "bob", "cem", timeout_s=ASKED_S)
        reads = recipe == "ReadLock"
        queue(members[:1] if reads else members, recipe, f"/kazoo-{recipe}/orders")
        _assert_quiet(default_server, f"/kazoo-{recipe}", tmp_path)


@pytest.mark.parametrize("recipe", ["InterProcessMutex", "LeaderLatch", "WriteLock"])
def test_healthy_clients_of_curator(
    default_server: RunningServer, default_machine: CuratorProcess, recipe: str, tmp_path: Path
) -> None:
    """The same; their sessions get the longest timeout that the server grants."""
    names = (f"{recipe}-{number}" for number in range(3))
    members = default_machine.start_clients(*names, timeout_s=ASKED_S)
    queue(members, recipe, f"/curator-{recipe}/orders")
    _assert_quiet(default_server, f"/curator-{recipe}", tmp_path)
    for one in members:
        default_machine.dismiss(one)


def _assert_quiet(server: RunningServer, root: str, folder: Path) -> None:
    """Watch for a while: no finding appears, and `check` prints only OK."""
    stage = Stage(server, root, None, None, None)  # type: ignore[arg-type]  # no other clients
    began = time.monotonic()
    seen = snapshot_when(
        lambda seen: seen.shot["findings"] or time.monotonic() > began + LOOKS_S,
        stage,
        f"{root}/*",
    )
    answer = checking(server, root, folder)()

    assert seen.shot["findings"] == []
    assert (answer.code, answer.lines[0]) == (0, "OK: 1 lock, 0 deadlocks")
    assert all(line.startswith("no data: ") for line in answer.lines[1:])
