"""Locks that are readable only with credentials."""

import json
import subprocess
import sys
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer

pytestmark = pytest.mark.zookeeper

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def closed(client: KazooClient, root: str) -> str:
    """A lock whose ACL requires digest credentials."""
    path = f"{root}/orders"
    acl = [make_digest_acl("monitor", "secret", all=True)]
    client.add_auth("digest", "monitor:secret")
    client.create(path, acl=acl)
    client.create(f"{path}/{TOKEN}__lock__", b"ann", acl, ephemeral=True, sequence=True)
    return path


def the_lock(server: RunningServer, root: str, *login: str) -> dict[str, Any]:
    """The only lock of a snapshot."""
    command = [sys.executable, "-m", "zktop", "snapshot", "--hosts", server.address, *login]
    ran = subprocess.run(
        [*command, "--root", f"{root}/*"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (lock,) = json.loads(ran.stdout)["locks"]
    return dict(lock)


def test_right_credentials_read_the_lock(zookeeper: RunningServer, root: str, closed: str) -> None:
    """The right credentials show the holder and its label."""
    lock = the_lock(zookeeper, root, "--auth", "digest:monitor:secret")

    assert (lock["path"], lock["error"]) == (closed, None)
    assert [holder["owner"] for holder in lock["holders"]] == ["ann"]


@pytest.mark.parametrize("login", [(), ("--auth", "digest:monitor:wrong")], ids=["none", "wrong"])
def test_missing_or_wrong_credentials_are_reported(
    zookeeper: RunningServer, root: str, closed: str, login: tuple[str, ...]
) -> None:
    """Without the right credentials the lock is shown as unreadable, not as empty."""
    lock = the_lock(zookeeper, root, *login)

    assert (lock["path"], lock["holders"]) == (closed, [])
    assert "ACL forbids" in lock["error"]
