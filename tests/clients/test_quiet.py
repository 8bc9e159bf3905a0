"""Healthy clients of both libraries, with what they ask for by default: zktop finds nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.client_processes import Person, Stage, kazoo_people, virtual
from clients.commands import checking
from clients.snapshots import glance_when
from servers import RunningServer, real_zookeeper

pytestmark = pytest.mark.zookeeper

ASKED_S = 60.0  # as Curator does by default; a server with its own default grants 40
LOOKS_S = 3.0


@pytest.fixture(scope="module")
def usual() -> Iterator[RunningServer]:
    """A server as it comes."""
    with real_zookeeper(admin=True) as running:
        yield running


def queue(people: list[Person], recipe: str, path: str) -> None:
    """One has it, and the others wait."""
    people[0].acquire(recipe, path)
    for one in people[1:]:
        one.ask(recipe, path)


@pytest.mark.parametrize("recipe", ["Lock", "ReadLock", "WriteLock", "Semaphore"])
def test_healthy_clients_of_kazoo(usual: RunningServer, recipe: str, tmp_path: Path) -> None:
    """A queue in which everybody waits as he should."""
    with kazoo_people(usual) as hire:
        people = hire("ann", "bob", "cem", timeout_s=ASKED_S)
        reads = recipe == "ReadLock"
        queue(people[:1] if reads else people, recipe, f"/kazoo-{recipe}/orders")
        _assert_quiet(usual, f"/kazoo-{recipe}", tmp_path)


@pytest.mark.parametrize("recipe", ["InterProcessMutex", "LeaderLatch", "WriteLock"])
def test_healthy_clients_of_curator(
    usual: RunningServer, classpath: str, recipe: str, tmp_path: Path
) -> None:
    """The same; their sessions get the most that the server grants."""
    with virtual(usual, classpath) as machine:
        people = machine.hire("ann", "bob", "cem", timeout_s=ASKED_S)
        queue(people, recipe, f"/curator-{recipe}/orders")
        _assert_quiet(usual, f"/curator-{recipe}", tmp_path)


def _assert_quiet(server: RunningServer, root: str, folder: Path) -> None:
    """Watch for a while: nothing is found, and `check` prints OK alone."""
    stage = Stage(server, root, None, None, None)  # type: ignore[arg-type]  # nobody more is hired
    began = time.monotonic()
    seen = glance_when(
        lambda seen: seen.shot["findings"] or time.monotonic() > began + LOOKS_S,
        stage,
        f"{root}/*",
    )
    answer = checking(server, root, folder)()

    assert seen.shot["findings"] == []
    assert (answer.code, answer.lines[0]) == (0, "OK: 1 lock, 0 deadlocks")
    assert all(line.startswith("not seen: ") for line in answer.lines[1:])
