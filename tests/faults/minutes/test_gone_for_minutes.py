"""All servers are down for minutes, so that every timeout passes."""

import threading
import time
from collections.abc import Iterator

import pytest
from faults.conftest import Ensemble
from faults.contenders_at_work import Crowd
from faults.zktop_under_test import (
    Observer,
    Place,
    agrees_soon,
    counts_all_soon,
    essence,
    observer,
)
from kazoo.client import KazooClient
from servers import ask
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.model.facts import Session
from zktop.model.session_ids import session_id, session_text
from zktop.zk.servers.table_formats import watched

pytestmark = [pytest.mark.zookeeper, pytest.mark.timeout(400)]

GONE_S = 130.0  # the CPU is idle meanwhile
SESSION_S = 24.0  # a busy machine, too, reads the tables before these sessions expire


@pytest.fixture
def near(place: Place) -> Iterator[Observer]:
    """An observer that reconnects as soon as the servers are back."""
    with observer(place) as one:
        yield one


@pytest.fixture
def detoured(place: Place, detour: CutProxy) -> Place:
    """The same through a proxy, without the tables that name another way."""
    return Place(detour.address, place.root, session_timeout=SESSION_S, plan=NO_TABLES)


NO_TABLES = {"introspect": False}


@pytest.fixture
def late(detoured: Place) -> Iterator[Observer]:
    """An observer that reconnects after its session has expired."""
    with observer(detoured) as one:
        yield one


@pytest.fixture
def holder(detour: CutProxy, crowd_at_work: Crowd) -> Iterator[Session]:
    """The session of a lock holder that also reconnects late; another client waits."""
    client, path = KazooClient(detour.address, timeout=SESSION_S), f"{crowd_at_work.root}/lost"
    client.start()
    client.Lock(path, "lost").acquire()
    heir = crowd_at_work.client()
    threading.Thread(target=heir.Lock(path, "heir").acquire, daemon=True).start()
    eventually(lambda: len(heir.get_children(path)) == 2)
    yield session_id(client.client_id[0])
    client.stop()
    client.close()


@pytest.fixture
def after(
    ensemble: Ensemble,
    detour: CutProxy,
    crowd_at_work: Crowd,
    holder: Session,
    near: Observer,
    late: Observer,
) -> Crowd:
    """The crowd after the servers were down for minutes, and working again."""
    crowd_at_work.work()
    crowd_at_work.wait_for_progress()
    all_of_them, lost = ensemble.hosts.split(","), (holder, _session(late))
    ensemble.kill(*all_of_them)
    detour.cut()
    _look_in_vain(near, late)
    ensemble.start(*all_of_them)
    crowd_at_work.wait_for_progress()
    eventually(ensemble.serves)
    eventually(lambda: not any(_is_known(ensemble, one) for one in lost), 3 * SESSION_S)
    detour.mend()
    late.until(lambda _report: _session(late) not in (0, lost[1]))
    near.until_state("connected")
    crowd_at_work.wait_for_progress()
    return crowd_at_work


def test_all_servers_are_gone_for_minutes(
    after: Crowd, near: Observer, late: Observer, place: Place, detoured: Place, ensemble: Ensemble
) -> None:
    """Three seconds after the recovery the report equals a fresh one, in either session."""
    counts, recovered = after.rest(), time.monotonic()
    for one, where in ((near, place), (late, detoured)):
        agrees_soon(one, where, recovered)
        counts_all_soon(one, counts)

    ends = [_events_of(one, f"{after.root}/lost") for one in (near, late)]
    assert ends == [["expired", "acquired"], ["released", "acquired"]], (  # only with tables
        f"the tables after the end: {_tables_after(near, f'{after.root}/lost')}"
    )
    assert [_watches(ensemble, one) for one in (near, late)] == [2, 2]  # of the root, and the mark
    assert len({link.session for link in near.links if link.state == "connected"}) == 1
    assert "the session expired" in [link.why for link in late.links]


def _look_in_vain(*lookers: Observer) -> None:
    """Check that they retry all the time, and report nothing that they cannot know."""
    for one in lookers:
        one.until_state("suspended")
    before = [(len(one.reports), len(one.events), _places(one)) for one in lookers]
    threading.Event().wait(GONE_S)
    for one, (looks, events, places) in zip(lookers, before, strict=True):
        assert len(one.reports) > looks + GONE_S / 2
        assert (len(one.events), _places(one)) == (events, places)
        assert one.links[-1].state == "suspended"


def _events_of(one: Observer, path: str) -> list[str]:
    """The events of a lock."""
    return [str(event.event) for event in one.events if event.lock == path]


def _tables_after(one: Observer, path: str) -> list[str]:
    """What was known of each server at the first event of a lock, and the event itself."""
    found = ((at.report, event) for at in one.reports for event in at.report.events)
    report, event = next((report, event) for report, event in found if event.lock == path)
    tables = [
        f"{of.server} of {report.now - of.facts.connections.at} ms ago, {of.facts.connections.why}"
        for of in report.ensemble.tables
        if of.facts.connections is not None
    ]
    return [*tables, str(event), str(report.ensemble.presence(event.session or 0))]


def _places(one: Observer) -> list[tuple[str, list[str]]]:
    """The contenders and their states."""
    return [
        (lock["path"], [who["node"] for who in (*lock["holders"], *lock["waiters"])])
        for lock in essence(one.report)["locks"]
    ]


def _session(one: Observer) -> Session:
    link = one.report.world.link
    return link.session or 0 if link and link.state == "connected" else 0


def _is_known(ensemble: Ensemble, session: Session) -> bool:
    """True if a server still has this session."""
    return any(session_text(session) in ask(port, "dump") for port in ensemble.ports)


def _watches(ensemble: Ensemble, one: Observer) -> int:
    """The number of watches that the servers hold for it."""
    tables = [watched(ask(port, "wchc").split("\n")) for port in ensemble.ports]
    return sum(len(table.get(_session(one), ())) for table in tables)
