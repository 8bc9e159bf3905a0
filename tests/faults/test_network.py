"""The way to the server is lost, and with it a session of ours or of a contender."""

import threading
import time
from collections.abc import Iterator

import pytest
from faults.contenders_at_work import Crowd, crowd
from faults.zktop_under_test import Place, Witness, agrees_soon, counts_all_soon, witness
from kazoo.client import KazooClient
from servers import RunningServer, ask
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.model.facts import AnyFact, Children
from zktop.model.report import Report
from zktop.zk import Access, Plan, Source, parse_hosts

pytestmark = pytest.mark.zookeeper

SESSION_S = 2.0


@pytest.fixture
def cable(zookeeper: RunningServer) -> Iterator[CutProxy]:
    """Our way to the server; the contenders have another one."""
    one = CutProxy(zookeeper.port)
    yield one
    one.close()


@pytest.fixture
def workers(zookeeper: RunningServer, root: str) -> Iterator[Crowd]:
    """Contenders at the server itself."""
    with crowd(zookeeper.address, root) as one:
        yield one


@pytest.mark.parametrize(
    ("how", "persistent"),
    [("silence", True), ("cut", False)],
    ids=["silence, persistent", "cut, one-shot"],
)
def test_the_network_is_cut_for_longer_than_the_session_lasts(
    zookeeper: RunningServer,
    cable: CutProxy,
    workers: Crowd,
    root: str,
    how: str,
    *,
    persistent: bool,
) -> None:
    """What went on meanwhile is counted as missed, and nothing is doubled afterwards."""
    plan = {"persistent": persistent}
    place = Place(cable.address, f"{root}/*", session_timeout=SESSION_S, plan=plan)
    with witness(place) as looker:
        workers.work()
        workers.goes_on()
        mine = _session(looker)
        getattr(cable, how)()
        eventually(lambda: hex(mine) not in ask(zookeeper.port, "dump"))
        workers.goes_on()
        cable.mend()
        looker.until(lambda _report: _session(looker) not in (0, mine))
        _recovers(looker, place, workers)

    assert "the session expired" in [link.why for link in looker.links]


def test_our_session_expires_while_we_are_connected(
    zookeeper: RunningServer, workers: Crowd, root: str
) -> None:
    """A server may end a session at any time; kazoo makes another one, and all is read again."""
    place = Place(zookeeper.address, f"{root}/*", session_timeout=SESSION_S)
    with witness(place) as looker:
        workers.work()
        workers.goes_on()
        mine = _session(looker)
        _end(looker, zookeeper)
        looker.until(lambda _report: _session(looker) not in (0, mine))
        _recovers(looker, place, workers)


def test_a_contender_s_session_expires(
    zookeeper: RunningServer, workers: Crowd, root: str
) -> None:
    """Its place is gone with it, and who waited behind it is served."""
    far = CutProxy(zookeeper.port)
    place = Place(zookeeper.address, f"{root}/*")
    with witness(place) as looker:
        lost = KazooClient(far.address, timeout=SESSION_S)
        lost.start()
        path = f"{root}/lost"
        lost.Lock(path, "lost").acquire()
        looker.until(lambda report: _owners(report, path) == ["lost"])
        heir = workers.client().Lock(path, "heir")
        waiting = threading.Thread(target=heir.acquire)
        waiting.start()
        looker.until(lambda report: _owners(report, path) == ["lost", "heir"])
        far.silence()
        looker.until(lambda report: _owners(report, path) == ["heir"])
        waiting.join()
        far.close()
        lost.stop()
        lost.close()
        workers.work()
        _recovers(looker, place, workers)

    told = [str(event.event) for event in looker.events if event.lock == path and event.node]
    assert told == ["queued", "acquired", "queued", "expired", "acquired"]


def _recovers(looker: Witness, place: Place, workers: Crowd) -> None:
    workers.goes_on()
    counts = workers.rest()
    agrees_soon(looker, place, time.monotonic())
    counts_all_soon(looker, counts)


def _owners(report: Report, path: str) -> list[str]:
    """Who holds a lock, and who waits for it."""
    view = report.view(path)
    return [str(one.owner) for one in (*view.holders, *view.waiters)] if view else []


def _session(looker: Witness) -> int:
    link = looker.report.world.link
    return link.session or 0 if link and link.state == "connected" else 0


def _end(looker: Witness, server: RunningServer) -> None:
    """Close the session behind its owner's back, as its owner could."""
    client = looker._watch._source._connection._client
    again = KazooClient(server.address, client_id=client.client_id)
    again.start()
    again.stop()
    again.close()


@pytest.mark.usefixtures("zookeeper")
@pytest.mark.parametrize("after", [600, 1_500], ids="{} bytes".format)
def test_a_reading_that_is_cut_off_is_not_taken_for_a_whole_one(
    cable: CutProxy, workers: Crowd, root: str, after: int
) -> None:
    """The answers that never came are waited for on the next connection."""
    facts: list[AnyFact] = []
    source = Source(Access(parse_hosts(cable.address)), Plan((f"{root}/*",), introspect=False))
    cable.stop_after(after)
    threading.Thread(target=_cut_off, args=(cable,), daemon=True).start()
    source.start(facts.extend)
    assert source.wait_until_read(20)
    listed = {fact.path for fact in facts if isinstance(fact, Children)}
    source.close()

    assert cable.stopped.is_set()
    assert {root, *workers.places} <= listed


def _cut_off(cable: CutProxy) -> None:
    """Lose the connection when it falls silent."""
    cable.stopped.wait(20)
    cable.cut()
    cable.mend()
