"""All servers are gone for minutes: long enough for everything that runs out."""

import threading
import time
from collections.abc import Iterator

import pytest
from faults.conftest import Ensemble
from faults.contenders_at_work import Crowd
from faults.zktop_under_test import Place, Witness, agrees_soon, counts_all_soon, essence, witness
from kazoo.client import KazooClient
from servers import ask
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.model.facts import Session, session_id, session_text
from zktop.zk.servers.table_formats import watched

pytestmark = [pytest.mark.zookeeper, pytest.mark.timeout(400)]

GONE_S = 130.0  # nothing is computed meanwhile
SESSION_S = 4.0


@pytest.fixture
def near(place: Place) -> Iterator[Witness]:
    """Somebody who is back as soon as the servers are."""
    with witness(place) as one:
        yield one


@pytest.fixture
def detoured(place: Place, detour: CutProxy) -> Place:
    """The same, by the other way: nobody tells there of a shorter one."""
    return Place(detour.address, place.root, session_timeout=SESSION_S, plan=NO_TABLES)


NO_TABLES = {"introspect": False}


@pytest.fixture
def late(detoured: Place) -> Iterator[Witness]:
    """Somebody who comes later than its session lasts."""
    with witness(detoured) as one:
        yield one


@pytest.fixture
def holder(detour: CutProxy, crowd_at_work: Crowd) -> Iterator[Session]:
    """The session of somebody who has a lock, and comes late too; an heir waits."""
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
    near: Witness,
    late: Witness,
) -> Crowd:
    """The crowd, when the servers were gone for minutes, and all are at work again."""
    crowd_at_work.work()
    crowd_at_work.goes_on()
    all_of_them, lost = ensemble.hosts.split(","), (holder, _session(late))
    ensemble.kill(*all_of_them)
    detour.cut()
    _look_in_vain(near, late)
    ensemble.start(*all_of_them)
    crowd_at_work.goes_on()
    eventually(ensemble.serves)
    eventually(lambda: not any(_is_known(ensemble, one) for one in lost))
    detour.mend()
    late.until(lambda _report: _session(late) not in (0, lost[1]))
    near.until_state("connected")
    crowd_at_work.goes_on()
    return crowd_at_work


def test_all_servers_are_gone_for_minutes(
    after: Crowd, near: Witness, late: Witness, place: Place, detoured: Place, ensemble: Ensemble
) -> None:
    """Whether or not the session outlived it: two seconds later all is as if nothing had been."""
    counts, recovered = after.rest(), time.monotonic()
    for one, where in ((near, place), (late, detoured)):
        agrees_soon(one, where, recovered)
        counts_all_soon(one, counts)

    ends = [_told(one, f"{after.root}/lost") for one in (near, late)]
    assert ends == [["expired", "acquired"], ["released", "acquired"]]  # who has tables can tell
    assert [_watches(ensemble, one) for one in (near, late)] == [1, 1]
    assert len({link.session for link in near.links if link.state == "connected"}) == 1
    assert "the session expired" in [link.why for link in late.links]


def _look_in_vain(*lookers: Witness) -> None:
    """They go on observing, all the time, and tell nothing that they cannot know."""
    for one in lookers:
        one.until_state("suspended")
    before = [(len(one.told), len(one.events), _places(one)) for one in lookers]
    threading.Event().wait(GONE_S)
    for one, (looks, events, places) in zip(lookers, before, strict=True):
        assert len(one.told) > looks + GONE_S / 2
        assert (len(one.events), _places(one)) == (events, places)
        assert one.links[-1].state == "suspended"


def _told(one: Witness, path: str) -> list[str]:
    """What happened to a lock."""
    return [str(event.event) for event in one.events if event.lock == path]


def _places(one: Witness) -> list[tuple[str, list[str]]]:
    """Who stands where."""
    return [
        (lock["path"], [who["node"] for who in (*lock["holders"], *lock["waiters"])])
        for lock in essence(one.report)["locks"]
    ]


def _session(one: Witness) -> Session:
    link = one.report.world.link
    return link.session or 0 if link and link.state == "connected" else 0


def _is_known(ensemble: Ensemble, session: Session) -> bool:
    """Whether a server keeps this session."""
    return any(session_text(session) in ask(port, "dump") for port in ensemble.ports)


def _watches(ensemble: Ensemble, one: Witness) -> int:
    """How many the servers keep for us."""
    tables = [watched(ask(port, "wchc").split("\n")) for port in ensemble.ports]
    return sum(len(table.get(_session(one), ())) for table in tables)
