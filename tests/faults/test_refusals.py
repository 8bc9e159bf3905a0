"""Servers that refuse to list locks (a changing ACL) or to show their tables."""

import time
from collections.abc import Iterator

import pytest
from faults.conftest import Ensemble
from faults.contenders_at_work import MEMBERS, Crowd, crowd
from faults.zktop_under_test import Place, agrees_soon, counts_all_soon, observer
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer, free_port, real_zookeeper

from zktop.model.report import Report
from zktop.zk.connect.address import AdminAccess

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def locked_down() -> Iterator[RunningServer]:
    """A server with default settings: no tables and no AdminServer."""
    with real_zookeeper(**{"4lw.commands.whitelist": "srvr"}) as server:
        yield server


def test_a_server_that_shows_no_tables(locked_down: RunningServer) -> None:
    """Locks and deadlocks are reported; sessions and watches are named blind spots."""
    place = Place(locked_down.address, "/l/*", plan={"admin": AdminAccess(free_port())})
    with crowd(locked_down.address, "/l") as workers, observer(place) as looker:
        workers.work()
        workers.wait_for_progress()
        counts = workers.rest()
        agrees_soon(looker, place, time.monotonic())
        counts_all_soon(looker, counts)
        report = looker.report

    sees = report.ensemble.visibility
    assert (sees.sessions, sees.watches, sees.expiry) == ("none", "none", "none")
    assert [deadlock.rule for deadlock in report.deadlocks] == ["D1"]
    assert report.blind


def test_an_acl_changes_while_zktop_watches(
    place: Place, crowd_at_work: Crowd, ensemble: Ensemble
) -> None:
    """A lock that becomes unreadable is reported so, and completely once it is readable again.

    One of the two locks is idle, the other one busy.
    """
    closed = f"{crowd_at_work.root}/orders", crowd_at_work.places[0]
    owner = KazooClient(ensemble.hosts, auth_data=[MEMBERS])
    owner.start()
    everybody = owner.get_acls(closed[0])[0]
    with observer(place._replace(plan={"audit_every": 1.0})) as looker:
        crowd_at_work.work()
        crowd_at_work.wait_for_progress()
        for path in closed:
            owner.set_acls(path, [make_digest_acl(*MEMBERS[1].split(":"), all=True)])
        looker.until(lambda report: all(_error(report, path) for path in closed))
        crowd_at_work.wait_for_progress()
        for path in closed:
            owner.set_acls(path, everybody)
        looker.until(lambda report: not any(_error(report, path) for path in closed))
        crowd_at_work.wait_for_progress()
        counts = crowd_at_work.rest()
        agrees_soon(looker, place, time.monotonic())
        counts_all_soon(looker, counts)
    owner.stop()
    owner.close()

    assert not [event for event in looker.events if event.lock == closed[0]]


def _error(report: Report, path: str) -> str | None:
    """The reason why a lock cannot be listed."""
    view = report.view(path)
    return view.lock.error if view else None
