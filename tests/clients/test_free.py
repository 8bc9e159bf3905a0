"""`zktop free` with real clients: what it frees, and what it refuses."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from clients.client_processes import QUIET, Stage
from clients.commands import Ran, zktop
from clients.snapshots import snapshot_when
from kazoo.client import KazooClient
from servers import DEBIAN_JARS
from waiting import eventually

pytestmark = pytest.mark.zookeeper

Free = Callable[..., Ran]
TTL_MS = 60_000


@pytest.fixture
def free(stage: Stage, tmp_path: Path) -> Free:
    """`zktop free` on this test's server, with a short age of orphans."""
    file = tmp_path / "config.yaml"
    config = {
        "hosts": stage.server.address,
        "admin": {"port": stage.server.admin_port},
        "roots": [f"{stage.root}/*"],
        "thresholds": {"orphan": "300ms"},
    }
    file.write_text(json.dumps(config))
    return lambda *args: zktop("free", *args, "--config", str(file))


def test_a_revocable_holder_lets_go(stage: Stage, free: Free) -> None:
    """Asked only with --yes; the command waits until the lock is released."""
    path = f"{stage.root}/orders"
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("RevocableMutex", path)
    bob.ask("InterProcessMutex", path)

    dry = free(path, "--revoke")
    is_still_held = ann.now("RevocableMutex", path).nodes
    done = free(path, "--revoke", "--yes")

    assert is_still_held
    assert (dry.code, dry.lines[0][:19]) == (0, "Dry run: would ask ")
    assert (done.code, done.err) == (0, "")
    assert "is gone; now bob holds the lock." in " ".join(done.lines)
    assert bob.now("InterProcessMutex", path).holds


def test_a_holder_that_does_not_listen_is_not_asked(
    stage: Stage, free: Free, zookeeper: KazooClient
) -> None:
    """Its node keeps the data that labels it."""
    path = f"{stage.root}/orders"
    (ann,) = stage.curator("ann")
    node = ann.acquire("InterProcessMutex", path).node

    refused = free(path, "--revoke", "--yes")

    assert refused.code == 1
    assert "ann: it is not revocable" in refused.err
    assert zookeeper.get(f"{path}/{node}")[0] == b"ann"


def test_an_orphan_is_deleted_and_its_waiter_goes_on(stage: Stage, free: Free) -> None:
    """The client that made it is dead; its node is persistent."""
    path = f"{stage.root}/import"
    (ann,) = stage.kazoo("ann", timeout_s=1.0)
    (bob,) = stage.kazoo("bob")
    node = ann.acquire("PersistentLock", path).node
    bob.ask("Lock", path)
    ann.kill()
    snapshot_when(lambda seen: seen.found("B1"), stage, path)

    done = free(path, "--node", node, "--yes")

    assert (done.code, done.err) == (0, "")
    assert "is gone; now bob holds the lock." in " ".join(done.lines)
    eventually(lambda: bob.now("Lock", path).holds)


def test_a_node_with_a_time_to_live_is_deleted(
    stage: Stage, free: Free, zookeeper: KazooClient
) -> None:
    """No session owns it."""
    path = f"{stage.root}/orders"
    cem, bob = stage.curator("cem", "bob")
    zookeeper.ensure_path(path)
    cem.acquire("Ttl", f"{path}/lock-0000000000", TTL_MS)
    bob.ask("InterProcessMutex", path)

    eventually(lambda: free(path, "--node", "lock-0000000000", "--yes").code == 0)

    eventually(lambda: bob.now("InterProcessMutex", path).holds)


def test_the_bean_that_is_printed_ends_the_session(stage: Stage, free: Free) -> None:
    """The server has one bean with such a name, and it has the operation."""
    path = f"{stage.root}/stock"
    ann, bob = stage.kazoo("ann", "bob")
    ann.acquire("Lock", path)
    bob.ask("Lock", path)
    printed = "\n".join(free(path).lines)
    found = re.search(r"grep '(=0x\w+)\$'\) (\w+)", printed)
    assert found, printed

    program = str(Path(__file__).parent / "EndSession.java")
    command = ["java", program, str(stage.server.process.pid), *found.groups()]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert ended.stdout.count(ann.session) == 1, ended
    eventually(lambda: bob.now("Lock", path).holds)


def test_the_delete_that_is_printed_works_in_zkcli(
    stage: Stage, free: Free, zookeeper: KazooClient
) -> None:
    """It takes the command word by word."""
    path = f"{stage.root}/stock"
    (ann,) = stage.kazoo("ann")
    node = ann.acquire("PersistentLock", path).node
    (line,) = (one for one in free(path).lines if "zkCli.sh" in one)

    jars = ":".join(str(one) for one in DEBIAN_JARS.glob("*.jar"))
    program = ["java", QUIET, "-cp", jars, "org.apache.zookeeper.ZooKeeperMain"]
    subprocess.run([*program, *shlex.split(line)[1:]], check=True, timeout=60)

    assert zookeeper.exists(f"{path}/{node}") is None
