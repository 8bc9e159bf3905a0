"""What servers do not show: locks behind an ACL that changes, and tables that nobody may read."""

import time
from collections.abc import Iterator

import pytest
from faults.crowd import crowd
from faults.witness import Place, agrees_soon, invented_nothing, witness
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer, free_port, real_zookeeper

from zktop.zk.access import Admin

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def locked_down() -> Iterator[RunningServer]:
    """A server as it comes: it tells what it is and no more, and has no AdminServer."""
    with real_zookeeper(**{"4lw.commands.whitelist": "srvr"}) as server:
        yield server


def test_a_server_that_shows_no_tables(locked_down: RunningServer) -> None:
    """Locks and deadlocks are there all the same; sessions and watches are named blind spots."""
    place = Place(locked_down.address, "/l/*", plan={"admin": Admin(free_port())})
    with crowd(locked_down.address, "/l") as workers, witness(place) as looker:
        workers.work()
        workers.goes_on()
        counts = workers.rest()
        agrees_soon(looker, place, time.monotonic())
        invented_nothing(looker, counts)
        report = looker.report

    sees = report.sight.sees
    assert (sees.sessions, sees.watches, sees.expiry) == ("none", "none", "none")
    assert [one.rule for one in report.deadlocks] == ["D1"]
    assert report.blind


def test_an_acl_that_changes_under_way(zookeeper: RunningServer, root: str) -> None:
    """A lock that is closed to us is told of as such, and is itself again when it opens."""
    place = Place(zookeeper.address, f"{root}/*", plan={"audit_every": 1.0})
    owner = KazooClient(zookeeper.address, auth_data=[("digest", "owner:secret")])
    owner.start()
    path = f"{root}/orders"
    with crowd(zookeeper.address, root), witness(place) as looker:
        everybody = owner.get_acls(path)[0]
        owner.set_acls(path, [make_digest_acl("owner", "secret", all=True)])
        looker.until(lambda report: (view := report.view(path)) and view.lock.error)
        owner.set_acls(path, everybody)
        looker.until(lambda report: (view := report.view(path)) and not view.lock.error)
        agrees_soon(looker, place, time.monotonic())
        events = [str(event.event) for event in looker.events]
    owner.stop()
    owner.close()

    assert events == []
