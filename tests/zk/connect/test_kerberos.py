"""SASL with Kerberos: a real realm, and a real server that requires a ticket."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from servers import SASL_ONLY, RunningServer, real_zookeeper
from zk.kerberos_realm import HOST, Realm, realm

pytestmark = [pytest.mark.zookeeper, pytest.mark.kerberos]

HOLDER = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1], sasl_options={"mechanism": "GSSAPI", "service": "zookeeper"})
client.start()
client.Lock("/locks/orders", "alice").acquire()
print("held", flush=True)
sys.stdin.read()
client.stop()
"""


@pytest.fixture(scope="module")
def kerberos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    """A Kerberos realm."""
    with realm(tmp_path_factory.mktemp("realm")) as made:
        yield made


@pytest.fixture(scope="module")
def server(kerberos: Realm) -> Iterator[RunningServer]:
    """A server that accepts only Kerberos logins, and has a lock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", kerberos.java)
        with real_zookeeper(**SASL_ONLY) as running, _holder(running, kerberos):
            yield running


def _holder(server: RunningServer, kerberos: Realm) -> "subprocess.Popen[str]":
    """Start a process that holds a lock until its stdin is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, f"{HOST}:{server.port}"],
        env=kerberos.client(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def run_snapshot(
    server: RunningServer, client: dict[str, str], host: str = HOST
) -> tuple[int, str]:
    """Run a snapshot; return its exit code and its output."""
    what = ("--hosts", f"{host}:{server.port}", "--root", "/locks/*", "--sasl", "GSSAPI")
    command = [sys.executable, "-m", "zktop", "snapshot", *what, "--format", "text"]
    asked = subprocess.run(command, env=client, capture_output=True, text=True, check=False)
    return asked.returncode, asked.stdout + asked.stderr


def test_a_ticket_gives_access(server: RunningServer, kerberos: Realm) -> None:
    """A client with a ticket reads the lock."""
    code, said = run_snapshot(server, kerberos.client())

    assert (code, "alice" in said) == (0, True), said


def test_a_missing_ticket_is_reported(server: RunningServer, kerberos: Realm) -> None:
    """Without a ticket the message quotes Kerberos, and the server receives no login."""
    code, said = run_snapshot(server, kerberos.client("none"))

    assert code == 3
    assert "Kerberos gave no ticket: No Kerberos credentials available" in said
    assert "klist" in said


def test_an_address_without_principal_is_reported(server: RunningServer, kerberos: Realm) -> None:
    """Kerberos knows no principal for this address of the server."""
    code, said = run_snapshot(server, kerberos.client(), "127.0.0.1")

    assert code == 3
    assert "not found in Kerberos database" in said
    assert "use the server name that Kerberos knows" in said
