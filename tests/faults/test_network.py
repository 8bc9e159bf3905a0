"""Reports stay complete when the network is cut or a session expires."""

import threading
import time
from collections.abc import Iterator

import pytest
from faults.contenders_at_work import Crowd, crowd
from faults.zktop_under_test import Observer, Place, agrees_soon, counts_all_soon, observer
from kazoo.client import KazooClient
from servers import RunningServer, ask
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.model.facts import Children
from zktop.model.report import Report
from zktop.zk import Access, Plan, Source, parse_hosts

pytestmark = pytest.mark.zookeeper

SESSION_S = 2.0


@pytest.fixture
def cut_proxy(zookeeper: RunningServer) -> Iterator[CutProxy]:
    """A proxy for zktop; the contenders connect directly."""
    one = CutProxy(zookeeper.port)
    yield one
    one.close()


@pytest.fixture
def workers(zookeeper: RunningServer, root: str) -> Iterator[Crowd]:
    """Contenders that are connected directly to the server."""
    with crowd(zookeeper.address, root) as one:
        yield one


@pytest.mark.parametrize(
    ("how", "persistent"),
    [("silence", True), ("cut", False)],
    ids=["silence, persistent", "cut, one-shot"],
)
def test_the_network_is_cut_for_longer_than_the_session_lasts(
    zookeeper: RunningServer,
    cut_proxy: CutProxy,
    workers: Crowd,
    root: str,
    how: str,
    *,
    persistent: bool,
) -> None:
    """Events during the cut are counted as missed, and none is reported twice."""
    plan = {"persistent": persistent}
    place = Place(cut_proxy.address, f"{root}/*", session_timeout=SESSION_S, plan=plan)
    with observer(place) as looker:
        workers.work()
        workers.wait_for_progress()
        mine = _session(looker)
        getattr(cut_proxy, how)()
        eventually(lambda: hex(mine) not in ask(zookeeper.port, "dump"))
        workers.wait_for_progress()
        cut_proxy.mend()
        looker.until(lambda _report: _session(looker) not in (0, mine))
        _recovers(looker, place, workers)

    assert "the session expired" in [link.why for link in looker.links]


def test_zktops_session_expires_while_it_is_connected(
    zookeeper: RunningServer, workers: Crowd, root: str
) -> None:
    """Kazoo opens another session, and everything is read again."""
    place = Place(zookeeper.address, f"{root}/*", session_timeout=SESSION_S)
    with observer(place) as looker:
        workers.work()
        workers.wait_for_progress()
        mine = _session(looker)
        _end(looker, zookeeper)
        looker.until(lambda _report: _session(looker) not in (0, mine))
        _recovers(looker, place, workers)


def test_the_session_of_a_contender_expires(
    zookeeper: RunningServer, workers: Crowd, root: str
) -> None:
    """Its node is deleted, and the next waiter gets the lock."""
    far = CutProxy(zookeeper.port)
    place = Place(zookeeper.address, f"{root}/*")
    with observer(place) as looker:
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

    events = [str(event.event) for event in looker.events if event.lock == path and event.node]
    assert events == ["queued", "acquired", "queued", "expired", "acquired"]


def _recovers(looker: Observer, place: Place, workers: Crowd) -> None:
    workers.wait_for_progress()
    counts = workers.rest()
    agrees_soon(looker, place, time.monotonic())
    counts_all_soon(looker, counts)


def _owners(report: Report, path: str) -> list[str]:
    """Holder and waiters of a lock."""
    view = report.view(path)
    return [str(one.owner) for one in (*view.holders, *view.waiters)] if view else []


def _session(looker: Observer) -> int:
    link = looker.report.world.link
    return link.session or 0 if link and link.state == "connected" else 0


def _end(looker: Observer, server: RunningServer) -> None:
    """Close the session of zktop through another connection."""
    client = looker._watch._source._connection._client
    again = KazooClient(server.address, client_id=client.client_id)
    again.start()
    again.stop()
    again.close()


@pytest.mark.usefixtures("zookeeper")
@pytest.mark.parametrize("after", [600, 1_500], ids="{} bytes".format)
def test_an_interrupted_reading_is_not_taken_for_complete(
    cut_proxy: CutProxy, workers: Crowd, root: str, after: int
) -> None:
    """The missing answers are requested on the next connection."""
    source = Source(Access(parse_hosts(cut_proxy.address)), Plan((f"{root}/*",), introspect=False))
    cut_proxy.stop_after(after)
    threading.Thread(target=_cut_off, args=(cut_proxy,), daemon=True).start()
    source.start()
    assert source.run_until_read(20)
    listed = {fact.path for fact in source.take() if isinstance(fact, Children)}
    source.close()

    assert cut_proxy.stopped.is_set()
    assert {root, *workers.places} <= listed


def _cut_off(cut_proxy: CutProxy) -> None:
    """Cut the connection once the proxy has stopped forwarding."""
    cut_proxy.stopped.wait(20)
    cut_proxy.cut()
    cut_proxy.mend()
