"""SASL with Kerberos: a real realm, and a real server that lets nobody else in."""

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
def kingdom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    """A realm."""
    with realm(tmp_path_factory.mktemp("realm")) as made:
        yield made


@pytest.fixture(scope="module")
def server(kingdom: Realm) -> Iterator[RunningServer]:
    """A server that knows nobody but by Kerberos, and has a lock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", kingdom.java)
        with real_zookeeper(**SASL_ONLY) as running, _holder(running, kingdom):
            yield running


def _holder(server: RunningServer, kingdom: Realm) -> "subprocess.Popen[str]":
    """Have somebody hold a lock there, until its input is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, f"{HOST}:{server.port}"],
        env=kingdom.client(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def told(server: RunningServer, client: dict[str, str], host: str = HOST) -> tuple[int, str]:
    """Give the exit code of a snapshot, and all that it says."""
    what = ("--hosts", f"{host}:{server.port}", "--root", "/locks/*", "--sasl", "GSSAPI")
    command = [sys.executable, "-m", "zktop", "snapshot", *what, "--format", "text"]
    asked = subprocess.run(command, env=client, capture_output=True, text=True, check=False)
    return asked.returncode, asked.stdout + asked.stderr


def test_a_ticket_opens_the_door(server: RunningServer, kingdom: Realm) -> None:
    """And everything is read."""
    code, said = told(server, kingdom.client())

    assert (code, "alice" in said) == (0, True), said


def test_who_has_no_ticket_is_told_so(server: RunningServer, kingdom: Realm) -> None:
    """In the words of Kerberos; the server was not even asked."""
    code, said = told(server, kingdom.client("none"))

    assert code == 3
    assert "Kerberos gave no ticket: No Kerberos credentials available" in said
    assert "klist" in said


def test_a_server_by_another_name_is_another_server(server: RunningServer, kingdom: Realm) -> None:
    """Its address is none that Kerberos knows."""
    code, said = told(server, kingdom.client(), "127.0.0.1")

    assert code == 3
    assert "not found in Kerberos database" in said
    assert "use the server name that Kerberos knows" in said
