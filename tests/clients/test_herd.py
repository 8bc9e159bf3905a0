"""A herd: all waiters watch the children of the lock, which no server table shows."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from faults.zktop_under_test import Place, observer
from kazoo.client import KazooClient
from kazoo.recipe.watchers import ChildrenWatch
from servers import RunningServer, ask
from waiting import eventually

from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.zk.connect.address import Address

pytestmark = pytest.mark.zookeeper

TOKEN = "{:032x}__lock__"
WAITERS = 7
EVERY_S = 0.5


@contextmanager
def member(server: RunningServer, path: str, number: int) -> Iterator[KazooClient]:
    """A client with a node in the queue of a lock."""
    client = KazooClient(server.address, timeout=10)
    client.start()
    client.create(f"{path}/{TOKEN.format(number)}", ephemeral=True, sequence=True, makepath=True)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@contextmanager
def churn(client: KazooClient, path: str) -> Iterator[None]:
    """A client joins the end of the queue and leaves, repeatedly."""
    over = threading.Event()

    def join_and_leave() -> None:
        while not over.wait(EVERY_S / 5):
            client.delete(client.create(f"{path}/{TOKEN.format(99)}", sequence=True))

    thread = threading.Thread(target=join_and_leave)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("herd", [True, False], ids=["herd", "chain"])
def test_child_watches_are_inferred_from_wakeups(
    server: RunningServer, request: pytest.FixtureRequest, *, herd: bool
) -> None:
    """Unrequested packets of the server show a herd; the finding says that it is inferred."""
    path = f"/herd-{request.node.callspec.id}/orders"
    admin = {Address("127.0.0.1", server.port): server.admin_port or 0}
    place = Place(server.address, f"{path.rpartition('/')[0]}/*", admin)
    with ExitStack() as stack:
        members = [stack.enter_context(member(server, path, n)) for n in range(WAITERS + 1)]
        names = sorted(members[0].get_children(path), key=lambda name: name[-10:])
        before = _watched(server)
        for number, client in enumerate(members[1:]):
            if herd:
                ChildrenWatch(client, path, lambda _names: None)
            else:
                client.get(f"{path}/{names[number]}", watch=lambda _event: None)
        eventually(lambda: _watched(server) - before == (0 if herd else WAITERS))
        with observer(place) as looker, churn(members[0], path):
            sampled = len(looker.reports)
            report = looker.until(
                lambda report: _herds(report) or (not herd and len(looker.reports) > sampled + 100)
            )

    assert bool(_herds(report)) == herd
    for finding in _herds(report):
        assert (finding.confidence, finding.lock) == ("C2", path)
        assert f"waiters of {path} wake at every change" in finding.sentence
        assert any("inferred" in reason.text for reason in finding.evidence)


def _herds(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == "L8"]


def _watched(server: RunningServer) -> int:
    """The number of watches in the server's table."""
    return int(ask(server.port, "wchs").rpartition(":")[2])
