"""Locks and verdicts are the same on all server flavours."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cli.live_processes import worker
from servers import sandbox_server

OTHERS = ("keeper", "raftkeeper", "zetcd")
WORKERS = ("alice", "bob", "carol")

Process = Callable[..., "subprocess.CompletedProcess[str]"]


@contextlib.contextmanager
def deadlocked(flavour: str) -> Iterator[str]:
    """A server on which alice and bob wait for each other, and carol waits behind them."""
    with sandbox_server("--flavour", flavour) as server, contextlib.ExitStack() as stack:
        alice, bob, carol = (stack.enter_context(worker(server.address, n)) for n in WORKERS)
        alice.acquire("/locks/orders")
        bob.acquire("/locks/stock")
        alice.ask("/locks/stock")
        bob.ask("/locks/orders")
        carol.ask("/locks/stock")
        yield server.address


def snapshot_of(process: Process, address: str) -> dict[str, Any]:
    """What `zktop snapshot` prints."""
    ran = process("-m", "zktop", "snapshot", "--hosts", address)

    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def essence(snapshot: dict[str, Any]) -> dict[str, Any]:
    """The part of a snapshot that all flavours share, without random names."""
    locks = [
        (
            lock["path"],
            lock["layout"],
            lock["kind"],
            [one["owner"] for one in lock["holders"]],
            [(one["owner"], len(one["blocked_by"])) for one in lock["waiters"]],
        )
        for lock in snapshot["locks"]
    ]
    deadlocks = [
        (
            one["rule"],
            one["kind"],
            one["coexistence_proven"],
            one["behind"],
            sorted((step["owner"], step["waits"]["lock"]) for step in one["steps"]),
        )
        for one in snapshot["deadlocks"]
    ]
    holds = sorted((one["owner"], *one["holds"]) for one in snapshot["sessions"].values())
    rules = {one["rule"] for one in snapshot["findings"]}
    return {"locks": locks, "deadlocks": deadlocks, "holds": holds, "rules": rules}


@pytest.fixture(scope="module")
def on_zookeeper() -> dict[str, Any]:
    """The same scene on the sandbox as ZooKeeper."""
    with deadlocked("zookeeper") as address:
        command = [sys.executable, "-m", "zktop", "snapshot", "--hosts", address]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return essence(json.loads(ran.stdout))


@pytest.mark.parametrize("flavour", OTHERS)
def test_locks_and_deadlocks_are_the_same(
    flavour: str, on_zookeeper: dict[str, Any], process: Process
) -> None:
    """Holders, queues and deadlocks depend only on the znodes."""
    with deadlocked(flavour) as address:
        snapshot = snapshot_of(process, address)
        checked = process("-m", "zktop", "check", "--hosts", address)

    found = essence(snapshot)
    assert found["locks"] == on_zookeeper["locks"]
    assert len(found["deadlocks"]) == 1
    assert found["deadlocks"] == on_zookeeper["deadlocks"]
    assert found["holds"] == on_zookeeper["holds"]
    assert found["rules"] <= on_zookeeper["rules"]
    assert checked.returncode == 1, checked.stderr
    assert "alice" in checked.stdout


@pytest.mark.parametrize("flavour", OTHERS)
def test_what_a_flavour_cannot_report_is_null(flavour: str, process: Process) -> None:
    """The server is listed with its flavour, and the reason is a blind spot."""
    with deadlocked(flavour) as address:
        snapshot = snapshot_of(process, address)

    (server,) = snapshot["source"]["servers"]
    assert server["flavour"] == flavour
    verdicts = {one["watch"]["verdict"] for lock in snapshot["locks"] for one in lock["waiters"]}
    assert verdicts == ({"unknown"} if flavour == "zetcd" else {"confirmed"})
    numbers = {lock["next_sequence"] for lock in snapshot["locks"]}
    assert (None in numbers) == (flavour != "raftkeeper")
    assert all(one["last_contact_s"] is None for one in snapshot["sessions"].values())
    titles = {"keeper": "ClickHouse Keeper", "raftkeeper": "RaftKeeper", "zetcd": "zetcd"}
    assert any(titles[flavour] in blind["why"] for blind in snapshot["blind"])


def test_zookeeper_has_a_flavour_too(process: Process) -> None:
    """ZooKeeper itself is listed with the flavour `zookeeper`."""
    with deadlocked("zookeeper") as address:
        (server,) = snapshot_of(process, address)["source"]["servers"]

    assert server["flavour"] == "zookeeper"
