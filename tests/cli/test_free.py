"""`zktop free`: what it prints, what it does with --yes, and what it never does."""

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import jsonschema
import pytest
from cli.live_processes import new_root
from each_server import EITHER, server_of
from kazoo.client import KazooClient
from kazoo.exceptions import ThrottledOpError
from kazoo.security import make_acl
from servers import RunningServer, kazoo_client
from waiting import eventually

from zktop.app.live_run import LiveRun
from zktop.app.node_writer import NodeWriter
from zktop.cli.common.options import typed_words
from zktop.cli.schema import _schema
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin
from zktop.demo_types.contender_order import ClientSettings
from zktop.errors import NotFreedError
from zktop.model.facts import Stat
from zktop.model.session_ids import session_id

Zktop = Callable[..., tuple[int, str, str]]
LEFT = "lock-0000000000"


@pytest.fixture(scope="module", params=EITHER)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """The sandbox, and a real server."""
    with server_of(request.param) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[KazooClient]:
    """A client that makes nodes, and looks at them."""
    with kazoo_client(server.address) as client:
        yield client


@pytest.fixture
def lock(client: KazooClient) -> str:
    """A lock with a node that no session owns, and a waiter behind it."""
    path = f"{new_root()}/import"
    client.create(f"{path}/lock-", b"", sequence=True, makepath=True)
    client.create(f"{path}/lock-", b"bob", sequence=True, ephemeral=True)
    return path


@pytest.fixture
def free(zktop: Zktop, server: RunningServer, tmp_path: Path) -> Zktop:
    """The command on this server; a node is an orphan at once."""
    config = {"hosts": server.address, "thresholds": {"orphan": "1ms"}, "introspect": "off"}
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    return lambda path, *args: zktop(
        "free", path, "--config", "c.yaml", "--root", path.rpartition("/")[0] + "/*", *args
    )


def test_it_prints_the_ways_and_changes_nothing(
    free: Zktop, client: KazooClient, lock: str
) -> None:
    """A dry run with --node, too."""
    printed = free(lock)
    dry = free(lock, "--node", LEFT)

    assert (printed[0], dry[0]) == (0, 0)
    assert f"delete -v 0 {lock}/{LEFT}" in printed[1]
    assert f"zktop free {lock} --node {LEFT} --yes --config c.yaml --root" in printed[1]
    assert dry[1].startswith(f"Dry run: would delete {lock}/{LEFT}")
    assert client.exists(f"{lock}/{LEFT}")


def test_commands_have_the_options_but_no_secret(
    free: Zktop, server: RunningServer, lock: str
) -> None:
    """A sentence names those to add."""
    typed = ["--hosts", server.address, "--read-only-servers", "--layout", f"{lock}=plain-lock"]

    code, out, _ = free(lock, *typed, "--auth", "digest:ann:s3cret")

    (own,) = (line for line in out.splitlines() if line.strip().startswith("zktop free"))
    words = shlex.split(own)[2:]
    assert code == 0
    assert words[:4] == [lock, "--node", LEFT, "--yes"]
    typed += ["--config", "c.yaml", "--root", lock.rpartition("/")[0] + "/*"]
    assert sorted(words[4:]) == sorted(typed)
    assert "s3cret" not in out
    assert "type `addauth digest ...`" in " ".join(out.split())
    assert out.endswith("Add --auth to zktop's commands: secrets are left out.\n")


def test_commands_have_the_whole_login() -> None:
    """Its mechanism and its user, if the config has the password."""
    typed = [
        Override("sasl.mechanism", ("DIGEST-MD5",), ValueOrigin(COMMAND_LINE, option="--sasl")),
        Override("sasl.username", ("ann",), ValueOrigin(COMMAND_LINE, option="--sasl")),
    ]

    assert typed_words(Overrides(settings=tuple(typed))).words == ("--sasl", "DIGEST-MD5:ann")


def test_json_fits_its_schema(free: Zktop, lock: str) -> None:
    """Without and with something done."""
    snapshot = json.loads(free(lock, "--format", "json")[1])
    done = json.loads(free(lock, "--node", LEFT, "--yes", "--format", "json")[1])

    for one in (snapshot, done):
        jsonschema.validate(one, _schema("free"))
    assert [one["node"] for one in snapshot["blockers"]] == [LEFT]
    assert snapshot["done"] is None
    assert done["done"]["outcome"] == "freed"


def test_a_node_without_a_session_is_deleted(free: Zktop, client: KazooClient, lock: str) -> None:
    """With --yes; then the lock is read again."""
    code, out, err = free(lock, "--node", LEFT, "--yes")

    assert (code, err) == (0, "")
    assert "is gone; now bob holds the lock." in " ".join(out.split())
    assert client.get_children(lock) == ["lock-0000000001"]


def test_a_new_node_of_the_same_name_is_another_one(
    free: Zktop, client: KazooClient, lock: str
) -> None:
    """A client may wait for the deletion, to create its own node at once."""
    path = f"{lock}/{LEFT}"
    client.exists(path, lambda _event: client.create_async(path, b"ann", ephemeral=True))

    code, out, err = free(lock, "--node", LEFT, "--yes")

    assert (code, err) == (0, "")
    assert "is gone; now " in " ".join(out.split())
    eventually(lambda: client.exists(path))


def test_a_deletion_that_is_not_seen_yet_waits_for_no_client(
    free: Zktop, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has already done it; zktop reads from one that lags."""
    monkeypatch.setattr("zktop.cli.free.PATIENCE_S", 0.0)
    monkeypatch.setattr(LiveRun, "reports", lambda _run, _seconds: iter(()))

    code, out, err = free(lock, "--node", LEFT, "--yes")

    assert (code, err) == (1, "")
    assert " ".join(out.split()).endswith(
        f"Deleted {lock}/{LEFT}, but zktop has not seen the effect yet; look again later."
    )


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--node", "lock-0000000001", "--yes"), "it belongs to bob, session 0x"),
        (("--node", "lock-0000000005", "--yes"), "There is no node"),
        (("--revoke", "--yes"), "was asked. No client holds it."),
    ],
    ids=["a live session", "none", "nobody to ask"],
)
def test_it_refuses(
    free: Zktop, client: KazooClient, lock: str, args: tuple[str, ...], why: str
) -> None:
    """With the exit code 1, and one sentence."""
    before = client.get_children(lock)

    code, out, err = free(lock, *args)

    assert (code, out) == (1, "")
    assert why in err
    assert client.get_children(lock) == before


def seen(client: KazooClient, path: str) -> Stat:
    """A node as the first look sees it."""
    stat = client.exists(path)
    return Stat(
        stat.czxid, stat.mzxid, stat.ctime, stat.version, owner=session_id(stat.ephemeralOwner)
    )


@pytest.fixture
def writer(server: RunningServer) -> Iterator[NodeWriter]:
    """The client that writes."""
    with NodeWriter(ClientSettings(hosts=server.address)) as writer:
        yield writer


def test_a_node_that_is_created_again_before_the_second_look_stays(
    client: KazooClient, writer: NodeWriter, lock: str
) -> None:
    """It has the same name, and the same version 0."""
    path = f"{lock}/{LEFT}"
    first = seen(client, path)
    client.delete(path)
    client.create(path)

    with pytest.raises(NotFreedError, match="just been created again"):
        writer.delete(path, first)

    assert client.exists(path)


@pytest.mark.parametrize("is_owned", [True, False], ids=["by a session", "persistent"])
def test_a_node_that_is_created_again_after_the_second_look_stays(
    client: KazooClient, writer: NodeWriter, lock: str, *, is_owned: bool
) -> None:
    """The transaction fails, because its parent has got a child; the next look sees the node."""
    path = f"{lock}/{LEFT}"
    first = seen(client, path)
    begin = writer._client.transaction

    def begin_late() -> object:
        writer._client.transaction = begin
        client.delete(path)
        client.create(path, ephemeral=is_owned)
        return begin()

    writer._client.transaction = begin_late
    with pytest.raises(NotFreedError, match="just been created again"):
        writer.delete(path, first)

    assert client.exists(path)


def test_a_busy_queue_delays_the_deletion_only(
    client: KazooClient, writer: NodeWriter, lock: str
) -> None:
    """A client that joins makes it look again; the queue is as if zktop had never been there."""
    path = f"{lock}/{LEFT}"
    begin = writer._client.transaction

    def begin_late() -> object:
        writer._client.transaction = begin
        client.create(f"{lock}/lock-", sequence=True)
        return begin()

    writer._client.transaction = begin_late
    writer.delete(path, seen(client, path))

    assert sorted(client.get_children(lock)) == ["lock-0000000001", "lock-0000000002"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda client, path: client.set(path, b"x"), "has just changed"),
        (lambda client, path: client.create(f"{path}/below"), "has children"),
        (lambda client, path: client.delete(path), "is gone"),
    ],
    ids=["data", "children", "gone"],
)
def test_a_node_that_changed_stays(
    client: KazooClient,
    writer: NodeWriter,
    lock: str,
    change: Callable[[KazooClient, str], object],
    why: str,
) -> None:
    """The second look sees it."""
    path = f"{lock}/{LEFT}"
    first = seen(client, path)
    change(client, path)

    with pytest.raises(NotFreedError, match=why):
        writer.delete(path, first)


def test_the_client_itself_refuses_the_node_of_a_session(
    client: KazooClient, writer: NodeWriter, lock: str
) -> None:
    """Whatever the first look said."""
    path = f"{lock}/lock-0000000001"

    with pytest.raises(NotFreedError, match="belongs to session 0x"):
        writer.delete(path, seen(client, path))

    assert client.exists(path)


def test_an_acl_may_forbid_it(client: KazooClient, writer: NodeWriter, lock: str) -> None:
    """The deletion of a child needs rights on its parent."""
    path = f"{lock}/{LEFT}"
    client.set_acls(lock, [make_acl("world", "anyone", read=True)])

    with pytest.raises(NotFreedError, match=f"The ACLs of {path} and its parent forbid it"):
        writer.delete(path, seen(client, path))


def test_a_busy_server_may_refuse_even_the_second_look(
    client: KazooClient, writer: NodeWriter, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is a sentence, too."""
    path = f"{lock}/{LEFT}"
    first = seen(client, path)
    refused = Mock(side_effect=ThrottledOpError())
    monkeypatch.setattr(writer._client, "sync", refused)

    with pytest.raises(NotFreedError, match=r"refused it \(ThrottledOpError\); nothing was"):
        writer.delete(path, first)


def test_a_lock_that_zktop_cannot_read_is_not_called_free(
    free: Zktop, client: KazooClient, lock: str
) -> None:
    """Its nodes, holders and waiters are unknown."""
    client.set_acls(lock, [make_acl("world", "anyone", create=True)])

    code, out, _ = free(lock)
    refused = [free(lock, *way, "--yes") for way in (("--node", LEFT), ("--revoke",))]

    assert code == 0
    assert "nothing is in the way" not in out
    why = f"zktop cannot read {lock}: its children cannot be listed: the ACL forbids it.\n"
    assert " ".join(out.split()).count(why.strip()) == 1
    assert [(code, err.endswith(why)) for code, _, err in refused] == [(1, True)] * 2


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("locks",), 2, "path of one lock"),
        (("/locks/*",), 2, "path of one lock"),
        (("/locks/a", "--yes"), 2, "--yes needs --node or --revoke"),
        (("/locks/a", "--node", "x", "--revoke"), 2, "exclude each other"),
    ],
)
def test_usage(zktop: Zktop, args: tuple[str, ...], code: int, why: str) -> None:
    """Wrong usage is refused before it connects."""
    ran = zktop("free", *args)

    assert ran[0] == code
    assert why in ran[2]


def test_read_only_forbids_yes(zktop: Zktop) -> None:
    """The ways are still printed with it."""
    code, _, err = zktop("--read-only", "free", "/locks/a", "--node", "x", "--yes")

    assert (code, "forbids --yes" in err) == (2, True)


def test_a_lock_that_is_not_there(free: Zktop) -> None:
    """Exit code 4."""
    assert free(f"{new_root()}/none")[0] == 4


def test_a_folder_of_locks_is_no_lock_to_free(free: Zktop, client: KazooClient, lock: str) -> None:
    """Nothing about it is unknown: the path is wrong, and would be with any --root."""
    for name in "ab":
        client.create(f"{lock}-all/{name}/lock-", ephemeral=True, sequence=True, makepath=True)

    code, out, err = free(f"{lock}-all", "--root", f"{lock}-all")

    assert (code, out) == (4, "")
    says = "it is a folder of locks, so name one of them."
    assert f"There is no lock at {lock}-all: {says}" in " ".join(err.split())
