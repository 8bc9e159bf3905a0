"""Servers before 3.6: one-shot watches, single reads, and tables only by words."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import UnimplementedError
from kazoo.protocol.states import KazooState
from servers import ask, kazoo_client
from waiting import eventually
from zk.observed import names, observing
from zk.older_servers import Older, kinds, named, older

from zktop.model.facts import Link
from zktop.model.session_ids import session_id, session_text
from zktop.zk.read.requests import AddWatch

pytestmark = pytest.mark.zookeeper

LOCK = "/locks/orders"
StartClients = Callable[[str], KazooClient]


@pytest.fixture(scope="module", params=kinds(), ids=named)
def old(request: pytest.FixtureRequest) -> Iterator[Older]:
    """A server of 3.4, and one of 3.5."""
    with older(request.param) as server:
        yield server


@pytest.fixture
def queue(old: Older) -> Iterator[list[KazooClient]]:
    """Alice holds a kazoo lock, and bob waits for it."""
    with ExitStack() as stack:
        clients = [stack.enter_context(kazoo_client(old.address)) for _ in "ab"]
        alice, bob = (
            one.Lock(LOCK, who) for one, who in zip(clients, ("alice", "bob"), strict=True)
        )
        alice.acquire()
        threading.Thread(target=bob.acquire, daemon=True).start()
        eventually(lambda: len(alice.contenders()) == 2)
        eventually(lambda: _watches_something(old, clients[1]))
        yield clients
        alice.release()
        eventually(lambda: bob.is_acquired)
        bob.release()


def _watches_something(old: Older, client: KazooClient) -> bool:
    session = f"{session_id(client.client_id[0]):#x}"
    return session in ask(int(old.address.rpartition(":")[2]), "wchc")


def snapshot_of(old: Older, *arguments: str) -> dict[str, Any]:
    """The output of `zktop snapshot`."""
    command = [sys.executable, "-m", "zktop", "snapshot", "--hosts", old.address, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    snapshot: dict[str, Any] = json.loads(ran.stdout)
    return snapshot


def test_a_snapshot_is_complete(old: Older, queue: list[KazooClient]) -> None:
    """Holder, waiter, its watch, and the sessions are in the snapshot."""
    snapshot = snapshot_of(old, "--root", "/locks/*")

    alice, bob = (session_text(session_id(one.client_id[0])) for one in queue)
    (lock,) = snapshot["locks"]
    (holder,), (waiter,) = lock["holders"], lock["waiters"]
    (server,) = snapshot["source"]["servers"]
    assert (lock["path"], lock["layout"]) == (LOCK, "kazoo-lock")
    assert (holder["session"], waiter["session"]) == (alice, bob)
    assert waiter["blocked_by"] == [holder["node"]]
    assert waiter["watch"]["actual"] == [f"{LOCK}/{holder['node']}"]
    assert waiter["watch"]["verdict"] == "confirmed"
    assert (server["version"], server["mode"], server["channel"]) == (
        old.version,
        "standalone",
        "4lw",
    )
    assert snapshot["source"]["sees"] == {"sessions": "all", "watches": "all", "expiry": "all"}
    assert snapshot["sessions"][bob]["timeout_ms"] == 10_000
    assert snapshot["sessions"][bob]["client"].startswith("127.0.0.1:")
    assert 0 < min(snapshot["sessions"][bob]["expires_in_s"]) < 15
    assert [one for one in snapshot["blind"] if old.address in one["why"]] == []


def test_locks_are_found_in_the_whole_tree(old: Older, queue: list[KazooClient]) -> None:
    """Without a root, folders are listed one after another."""
    snapshot = snapshot_of(old)

    assert [lock["path"] for lock in snapshot["locks"]] == [LOCK]
    assert len(queue) == len(snapshot["locks"][0]["holders"] + snapshot["locks"][0]["waiters"])


def test_changes_are_followed_and_the_connection_is_never_lost(old: Older) -> None:
    """No unsupported request is sent, which would close the connection."""
    with kazoo_client(old.address) as client, observing(old.address, "/folder/*") as live:
        for number in range(3):
            client.create(f"/folder/l/m-{number:010d}", b"x", makepath=True)
            live.until(lambda world, n=number: len(names(world, "/folder/l")) == n + 1)
        client.delete("/folder/l/m-0000000001")
        live.until(lambda world: len(names(world, "/folder/l")) == 2)
        client.set("/folder/l", b"2")
        client.delete("/folder/l", recursive=True)
        live.until(lambda world: not names(world, "/folder/l"))
        client.create("/folder/l/m-0000000009", b"y", makepath=True)
        live.until(
            lambda world: (one := world.node("/folder/l/m-0000000009")) and one.data == b"y"
        )
        assert live.source.cost().watches == len(["/", "/folder", "/folder/l"])
        assert not live.source.degraded()

    states = [fact.state for fact in live.facts if isinstance(fact, Link)]
    assert states == ["connecting", "connected"]
    assert old.refused == []


def test_the_server_rejects_unsupported_requests(old: Older) -> None:
    """The tests above rely on this."""
    lost = threading.Event()
    with kazoo_client(old.address) as client:
        client.add_listener(lambda state: lost.set() if state == KazooState.SUSPENDED else None)
        answer = client.handler.async_result()
        client._call(AddWatch("/"), answer)
        with pytest.raises(UnimplementedError):
            answer.get(timeout=10)
        assert lost.wait(10)
    old.refused.clear()
