"""`zktop contend` and `zktop scene`: permission, errors, closed pipes, signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.live_processes import PATIENCE_S, zktop_process
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer, kazoo_client, sandbox_server
from waiting import eventually

Zktop = Callable[..., tuple[int, str, str]]
CONTEND = ("contend", "kazoo-lock", "/zktop-demo/x")


@pytest.fixture
def server() -> Iterator[RunningServer]:
    """The sandbox, empty."""
    with sandbox_server() as server:
        yield server


@pytest.fixture
def client(server: RunningServer) -> Iterator[KazooClient]:
    """A client that looks at the nodes."""
    with kazoo_client(server.address) as client:
        yield client


@pytest.mark.parametrize("command", [CONTEND, ("scene", "ab-ba")])
def test_the_config_may_forbid_demo_clients(
    zktop: Zktop, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """As --read-only does."""
    (tmp_path / "c.yaml").write_text("demo:\n  allow: never\n")
    where = ("--hosts", "127.0.0.1:1", "--connect-timeout", "100ms")

    assert zktop(*command, "--config", "c.yaml", *where) == (
        2,
        "",
        "demo.allow is never (c.yaml:2), which forbids demo clients.\n",
    )


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_closed_pipe_ends_demo_clients(server: RunningServer, count: str) -> None:
    """As in `zktop contend ... | head -1`; they would go on for ever."""
    command = [sys.executable, "-m", "zktop", *CONTEND, "--hosts", server.address]
    reader, writer = os.pipe()
    more = ["--count", count, "--hold", "10ms", "--rounds", "0"]
    with subprocess.Popen([*command, *more], stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        try:
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()

    assert (process.returncode, err) == (0, b"")


def test_several_demo_clients_say_why_they_failed(zktop: Zktop) -> None:
    """With the exit code that one of them has."""
    where = ("--hosts", "127.0.0.1:1", "--connect-timeout", "1s")
    code, out, err = zktop(*CONTEND, "--count", "2", "--id", "bob", *where)

    assert (code, out) == (3, "")
    assert sorted(err.splitlines()) == [
        "bob-1: no connection to 127.0.0.1:1 within 1 s",
        "bob-2: no connection to 127.0.0.1:1 within 1 s",
    ]


def test_a_scene_says_at_once_why_it_cannot_be_played(zktop: Zktop) -> None:
    """Without a word about cleaning up what was never made."""
    code, out, err = zktop("scene", "ab-ba", "--hosts", "127.0.0.1:1")

    assert (code, out) == (3, "")
    assert err == "127.0.0.1:1 refuses connections: is ZooKeeper running there, on this port?\n"


@pytest.fixture
def ignored_sigint() -> Iterator[None]:
    """Processes started meanwhile ignore SIGINT, like background jobs of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ignored_sigint")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_make_demo_clients_release(
    server: RunningServer, client: KazooClient, number: signal.Signals
) -> None:
    """Else their nodes would stay until the sessions expire."""
    more = ("--count", "2", "--json", "--hosts", server.address)
    with zktop_process(*CONTEND, *more) as zktop:
        zktop.until(lambda step: step["what"] == "acquired")
        eventually(lambda: len(client.get_children("/zktop-demo/x")) == 2)
        zktop.process.send_signal(number)
        code, _ = zktop.ended()

    assert code == 130
    assert client.get_children("/zktop-demo/x") == []


@pytest.mark.parametrize("words", [("scene", "ab-ba"), ("demo", "--text")])
def test_sigterm_makes_a_scene_clean_up(
    server: RunningServer, client: KazooClient, words: tuple[str, ...]
) -> None:
    """Its folder would stay for good."""
    command = [sys.executable, "-m", "zktop", *words, "--hosts", server.address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        eventually(lambda: client.exists("/zktop-demo/ab-ba/orders"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert client.exists("/zktop-demo") is None


def test_demo_clients_need_no_stdout(server: RunningServer) -> None:
    """As with `>&-` in a shell."""
    command = [sys.executable, "-m", "zktop", *CONTEND, "--hosts", server.address]
    ran = subprocess.run(
        [*command, "--hold", "10ms"],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.close(1),
    )

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_scene_that_an_acl_forbids_is_a_sentence(
    zktop: Zktop, server: RunningServer, client: KazooClient
) -> None:
    """With the exit code of a scene that fails."""
    acl = [make_digest_acl("other", "secret", all=True)]
    client.create("/zktop-demo")
    client.create("/zktop-demo/ab-ba", acl=acl)

    code, out, err = zktop("scene", "ab-ba", "--hosts", server.address)

    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == "/zktop-demo/ab-ba cannot be deleted: NoAuthError"
