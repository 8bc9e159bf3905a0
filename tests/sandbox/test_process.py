"""The sandbox as a process: how it says that it is ready, and how it ends."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox.raw_client import RawClient
from servers import ask, free_port, sandbox_server

COMMAND = [sys.executable, "-m", "zktop.sandbox"]
PIPES = {
    "stdin": subprocess.PIPE,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "text": True,
}


def test_the_first_line_is_the_address():
    """Clients can connect once the address is printed; nothing else is printed."""
    port = free_port()
    with subprocess.Popen([*COMMAND, "--port", str(port)], **PIPES) as process:
        address = process.stdout.readline()
        answer = ask(port, "ruok")
        process.terminate()
        rest, done = process.communicate(timeout=30)

    assert (address, answer, rest) == (f"127.0.0.1:{port}\n", "imok", "")
    assert "it stores nothing" in done


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly(number):
    """A signal ends it at once with code 0 and no traceback, clients or not."""
    with subprocess.Popen([*COMMAND, "--port", "0"], **PIPES) as process:
        port = int(process.stdout.readline().rpartition(":")[2])
        with RawClient(port) as client:
            process.send_signal(number)
            _, done = process.communicate(timeout=30)

            assert client.read_frame() is None
    assert process.returncode == 0
    assert "Traceback" not in done


def test_it_ends_with_its_parent():
    """When the pipe on stdin closes, as it does when a parent dies, the sandbox ends."""
    with sandbox_server() as server:
        server.process.stdin.close()

        assert server.process.wait(30) == 0


def test_a_taken_port():
    """A port in use gives one plain sentence and code 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr == f"cannot listen on 127.0.0.1:{port}: address already in use\n"


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no.such.host.invalid", r"no\.such\.host\.invalid:0: (name or|temporary|no address).*"),
        ("a..b", r"a\.\.b:0: no such host name"),
        (64 * "a", 64 * "a" + ":0: no such host name"),
        ("2001:db8::9", r"\[2001:db8::9\]:0: .*"),
    ],
    ids=["unknown", "empty label", "long label", "IPv6"],
)
def test_a_host_that_is_not_here(host, said):
    """The sentence has the reason, and the host as one writes it before a port."""
    done = subprocess.run(
        [*COMMAND, "--host", host, "--port", "0"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 2
    assert re.fullmatch(f"cannot listen on {said}\n", done.stderr)


def test_an_address_that_cannot_be_printed():
    """The disk is full: that is the reason, and not the port."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "zktop", "sandbox", "--port", "0"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr == "Reading or writing failed: No space left on device.\n"


def test_loopback_by_default():
    """Other machines cannot reach it by default."""
    with sandbox_server() as server, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), 2)


def test_another_host():
    """With --host it listens elsewhere."""
    with sandbox_server("--host", "127.0.0.2") as server:
        assert server.address == f"127.0.0.2:{server.port}"
        socket.create_connection(("127.0.0.2", server.port), 2).close()
