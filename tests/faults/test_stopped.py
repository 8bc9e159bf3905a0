"""zktop is stopped by ctrl-z within a read, and other clients do not notice."""

import signal
from collections.abc import Iterator

import pytest
from cli.live_processes import zktop_process
from faults.bystander import NOTICED_S, OUTSTANDING, pace
from faults.test_large import TOKEN, create, holders
from kazoo.client import KazooClient
from servers import RunningServer, kazoo_client
from zk.cut_proxy import CutProxy

pytestmark = pytest.mark.zookeeper

SESSION_S = 4.0
LOCKS = 2_000
MIDDLE = 60_000  # bytes, of about half a million
LOCK_EVENTS = {"queued", "acquired", "released", "abandoned", "expired", "missed", "lock-appeared"}


@pytest.fixture
def cut_proxy(zookeeper: RunningServer) -> Iterator[CutProxy]:
    """A proxy that falls silent within an answer."""
    one = CutProxy(zookeeper.port)
    one.stop_after(MIDDLE)
    yield one
    one.close()


@pytest.fixture
def bystander(zookeeper: RunningServer) -> Iterator[KazooClient]:
    """Another client, which must not notice."""
    with kazoo_client(zookeeper.address) as client:
        yield client


def test_zktop_stopped_in_the_middle_of_a_read(
    zookeeper: RunningServer, cut_proxy: CutProxy, bystander: KazooClient, root: str
) -> None:
    """The server keeps its pace and expires the session; zktop goes on with a new one."""
    paths = [f"{root}/lock-of-{number:04}" for number in range(LOCKS)]
    bystander.ensure_path(root)
    create(bystander, paths, ephemeral=False)
    command = ("events", "--hosts", cut_proxy.address, "--root", f"{root}/*")
    with (
        holders(zookeeper.address, paths, sessions=20),
        zktop_process(*command, "--session-timeout", f"{SESSION_S:g}s") as zktop,
    ):
        assert cut_proxy.stopped.wait(20)
        zktop.process.send_signal(signal.SIGSTOP)
        cut_proxy.mend()
        took, outstanding = pace(bystander, [zookeeper.port], SESSION_S + 1.0)
        zktop.process.send_signal(signal.SIGCONT)
        zktop.until(lambda line: line["event"] == "connection" and line["state"] == "connected")
        for path in paths[7], paths[11]:
            bystander.delete(f"{path}/{TOKEN}__lock__0000000000")
        last = {"event": "released", "lock": paths[11]}
        lines = zktop.until(lambda line: last.items() <= line.items())

    events = [(line["event"], line["lock"]) for line in lines if line["event"] in LOCK_EVENTS]
    assert events == [("released", paths[7]), ("released", paths[11])]
    assert took <= NOTICED_S
    assert outstanding <= OUTSTANDING
