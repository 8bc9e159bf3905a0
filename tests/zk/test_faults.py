"""After every fault the world equals a fresh one, and no event was invented."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from servers import RunningServer, ask, real_zookeeper, started_again
from waiting import eventually
from zk.cut_proxy import CutProxy
from zk.observed import Observation, names, observing, picture

from zktop.model.facts import Link
from zktop.model.session_ids import session_id

NEVER_S = 3600.0  # no audit repairs anything
Way = dict[str, object]  # the part of a plan that selects the kind of watches

pytestmark = [
    pytest.mark.zookeeper,
    pytest.mark.parametrize(
        "way", [{"persistent": True}, {"persistent": False}], ids=["persistent", "one-shot"]
    ),
]


def test_a_lost_connection_is_suspended_then_restored(
    zookeeper: RunningServer, cut_proxy: CutProxy, client: KazooClient, root: str, way: Way
) -> None:
    """Changes during the loss are found afterwards, and later ones are followed."""
    client.create(f"{root}/l/m-0000000000", makepath=True)
    with _looking(cut_proxy.address, root, way) as live:
        cut_proxy.cut()
        live.until_fact(lambda fact: isinstance(fact, Link) and fact.state == "suspended")
        client.create(f"{root}/l/m-0000000001", b"x")
        client.delete(f"{root}/l/m-0000000000")
        cut_proxy.mend()
        live.until(lambda world: names(world, f"{root}/l") == {"m-0000000001"})
        client.create(f"{root}/l/m-0000000002", b"x")
        live.until(lambda world: names(world, f"{root}/l") == {"m-0000000001", "m-0000000002"})
        _equals_a_fresh_look(live, zookeeper.address, root)

    links = [fact.state for fact in live.facts if isinstance(fact, Link)]
    assert links == ["connecting", "connected", "suspended", "connected"]
    assert (
        len({fact.session for fact in live.facts if isinstance(fact, Link) and fact.server}) == 1
    )


def test_an_expired_session_is_replaced(
    zookeeper: RunningServer, cut_proxy: CutProxy, client: KazooClient, root: str, way: Way
) -> None:
    """After a loss longer than the session timeout there is a new session."""
    client.create(f"{root}/l/m-0000000000", makepath=True)
    with _looking(cut_proxy.address, root, way) as live:
        first = live.source.link
        assert first is not None
        assert first.session is not None
        cut_proxy.cut()
        client.delete(f"{root}/l/m-0000000000")
        eventually(lambda: hex(first.session or 0) not in ask(zookeeper.port, "dump"))
        client.create(f"{root}/l/m-0000000001", b"x")
        cut_proxy.mend()
        live.until(lambda world: names(world, f"{root}/l") == {"m-0000000001"})
        _equals_a_fresh_look(live, zookeeper.address, root)

    assert [f.why for f in live.facts if isinstance(f, Link) and f.state == "lost"] == [
        "the session expired"
    ]
    last = next(f for f in reversed(live.facts) if isinstance(f, Link) and f.session)
    assert last.session not in (None, first.session)


def test_a_server_that_is_killed_and_started_again(way: Way) -> None:
    """Ephemerals of clients that did not come back are gone afterwards."""
    with real_zookeeper() as server, ExitStack() as stack:
        client = KazooClient(server.address, timeout=4)
        client.start()
        client.create("/locks/l/m-0000000000", makepath=True)
        client.create("/locks/l/m-0000000001", ephemeral=True)
        with _looking(server.address, "/locks", way) as live:
            assert len(names(live.world, "/locks/l")) == 2
            client.stop()
            client.close()
            server.process.kill()
            server.process.wait()
            live.until_fact(lambda fact: isinstance(fact, Link) and fact.state == "suspended")
            again = started_again(server)
            stack.callback(again.process.wait)
            stack.callback(again.process.kill)
            live.until(lambda world: names(world, "/locks/l") == {"m-0000000000"})
            writer = KazooClient(server.address)
            writer.start()
            writer.create("/locks/l/m-0000000002")
            live.until(lambda world: len(names(world, "/locks/l")) == 2)
            writer.stop()
            writer.close()


def test_a_holder_that_dies_is_gone_when_its_session_is(
    zookeeper: RunningServer,
    clients: Callable[[], KazooClient],
    root: str,
    way: Way,
) -> None:
    """A dead holder's node stays until its session expires."""
    holder = clients()
    lock = holder.Lock(f"{root}/l", "holder")
    lock.acquire()
    lost = threading.Event()
    holder.add_listener(lambda state: lost.set() if state == KazooState.LOST else None)
    with _looking(zookeeper.address, root, way) as live:
        (contender,) = live.world.family(f"{root}/l")
        assert contender.stat
        assert contender.stat.owner == session_id(holder.client_id[0])
        holder.stop()
        live.until(lambda world: not names(world, f"{root}/l"))
    assert lost.is_set()


@contextmanager
def _looking(address: str, root: str, way: Way) -> Iterator[Observation]:
    access: dict[str, object] = {"session_timeout": 4.0}
    with observing(address, f"{root}/*", access=access, audit_every=NEVER_S, **way) as live:
        yield live


def _equals_a_fresh_look(live: Observation, address: str, root: str) -> None:
    with observing(address, f"{root}/*") as fresh:
        eventually(lambda: picture(live.world, root) == picture(fresh.world, root))


@pytest.fixture
def cut_proxy(zookeeper: RunningServer) -> Iterator[CutProxy]:
    """A way to the server that can be cut."""
    cut_proxy = CutProxy(zookeeper.port)
    yield cut_proxy
    cut_proxy.close()
