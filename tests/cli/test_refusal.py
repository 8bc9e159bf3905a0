"""Commands that run on when servers refuse zktop's session, because they lost their data."""

import shutil
import urllib.request
from collections.abc import Iterator

import pytest
from cli.live_processes import zktop_process
from servers import RunningServer, free_port, kazoo_client, real_zookeeper, serving_again
from waiting import eventually

pytestmark = pytest.mark.zookeeper
PATIENCE_S = 60.0


@pytest.fixture
def server() -> Iterator[RunningServer]:
    """A server with more transactions than after its restart."""
    with real_zookeeper() as server:
        with kazoo_client(server.address) as client:
            for number in range(20):
                client.create(f"/old/{number}", makepath=True)
        yield server


def without_data(server: RunningServer) -> RunningServer:
    """Kill the server, delete its data, and start it again."""
    server.process.kill()
    server.process.wait()
    shutil.rmtree(server.log.parent / "data")
    return serving_again(server)


def test_events_go_on_after_servers_lost_their_data(server: RunningServer) -> None:
    """A client that has seen later transactions is refused, so zktop connects anew."""
    with zktop_process("events", "--hosts", server.address) as zktop:
        zktop.until(lambda line: line["event"] == "connection")
        again = without_data(server)
        try:
            zktop.until(lambda line: line.get("state") == "suspended")
            zktop.until(lambda line: line.get("state") == "connected")
            with kazoo_client(server.address) as client:
                assert client.Lock("/new/lock", "alice").acquire()
                lines = zktop.until(lambda line: line["event"] == "acquired")
        finally:
            again.process.kill()
            again.process.wait()

    states = [line["state"] for line in lines if line["event"] == "connection"]
    assert states == ["connected", "suspended", "connected"]


def test_metrics_go_on_after_servers_lost_their_data(server: RunningServer) -> None:
    """Else `zktop_up` would be 0 for ever."""
    address = f"127.0.0.1:{free_port()}"

    def is_up() -> bool:
        with urllib.request.urlopen(f"http://{address}/metrics") as answer:
            return "\nzktop_up 1.0" in answer.read().decode()

    arguments = ("metrics", "--hosts", server.address, "--listen", address)
    with zktop_process(*arguments) as zktop:
        assert zktop.process.stderr
        zktop.process.stderr.readline()  # it serves
        eventually(is_up, PATIENCE_S)
        again = without_data(server)
        try:
            eventually(lambda: not is_up(), PATIENCE_S)
            eventually(is_up, PATIENCE_S)
        finally:
            again.process.kill()
            again.process.wait()
