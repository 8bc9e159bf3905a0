"""Locks that only somebody with credentials may read."""

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
    """A lock of somebody who lets in who knows a word."""
    path = f"{root}/orders"
    acl = [make_digest_acl("monitor", "secret", all=True)]
    client.add_auth("digest", "monitor:secret")
    client.create(path, acl=acl)
    client.create(f"{path}/{TOKEN}__lock__", b"ann", acl, ephemeral=True, sequence=True)
    return path


def taken(server: RunningServer, root: str, *login: str) -> dict[str, Any]:
    """The only lock of a snapshot."""
    command = [sys.executable, "-m", "zktop", "snapshot", "--hosts", server.address, *login]
    ran = subprocess.run(
        [*command, "--root", f"{root}/*"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (lock,) = json.loads(ran.stdout)["locks"]
    return dict(lock)


def test_who_has_them_reads_the_lock(zookeeper: RunningServer, root: str, closed: str) -> None:
    """With its holder, and what it calls itself."""
    lock = taken(zookeeper, root, "--auth", "digest:monitor:secret")

    assert (lock["path"], lock["error"]) == (closed, None)
    assert [holder["owner"] for holder in lock["holders"]] == ["ann"]


@pytest.mark.parametrize("login", [(), ("--auth", "digest:monitor:wrong")], ids=["none", "wrong"])
def test_who_has_none_or_wrong_ones_is_told_so(
    zookeeper: RunningServer, root: str, closed: str, login: tuple[str, ...]
) -> None:
    """A server takes a wrong password for somebody else's; what it hides is no empty lock."""
    lock = taken(zookeeper, root, *login)

    assert (lock["path"], lock["holders"]) == (closed, [])
    assert "ACL forbids" in lock["error"]
