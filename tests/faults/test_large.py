"""Very large locks and roots are read whole and then followed."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from faults.zktop_under_test import Observer, Place, observer
from kazoo.client import KazooClient
from servers import RunningServer, real_zookeeper
from zk.observed import names as names_in
from zk.observed import observing, picture

from zktop.model.examiner import Examiner

pytestmark = pytest.mark.zookeeper

AT_ONCE = 1_000
NEVER_S = 3600.0  # no audit repairs anything
TOKEN = "0123456789abcdef0123456789abcdef"
JAVA_TAKES = 1_048_575  # bytes, the default of jute.maxbuffer


@pytest.fixture
def client(zookeeper: RunningServer) -> Iterable[KazooClient]:
    """A client that writes."""
    one = KazooClient(zookeeper.address, timeout=20)
    one.start()
    yield one
    one.stop()
    one.close()


def test_a_lock_of_twenty_thousand_is_read_and_followed(
    zookeeper: RunningServer, client: KazooClient, root: str
) -> None:
    """Its list of names is larger than a Java client accepts in one answer."""
    path = f"{root}/large"
    names = [f"{TOKEN}__lock__{number:010}" for number in range(20_000)]
    client.ensure_path(path)
    create(client, [f"{path}/{name}" for name in names], ephemeral=True)
    assert sum(len(name) + 4 for name in names) > JAVA_TAKES

    with observing(zookeeper.address, f"{root}/*", audit_every=NEVER_S) as eye:
        client.delete(f"{path}/{names[0]}")
        client.create(f"{path}/{TOKEN}__lock__0000020000")
        expected = {*names[1:], f"{TOKEN}__lock__0000020000"}
        eye.until(lambda world: names_in(world, path) == expected)
        with observing(zookeeper.address, f"{root}/*") as fresh:
            eye.until(lambda world: picture(world, path) == picture(fresh.world, path))
        lock = Examiner().look(eye.world, time.time_ns() // 1_000_000).view(path)
    assert lock is not None
    assert [holder.node for holder in lock.holders] == [names[1]]
    assert len(list(lock.waiters)) == 19_999


def test_ten_thousand_locks_are_read_and_followed(
    zookeeper: RunningServer, client: KazooClient, root: str
) -> None:
    """All locks have their holders, and one release among them is an event."""
    paths = [f"{root}/lock-of-{number:05}" for number in range(10_000)]
    client.ensure_path(root)
    create(client, paths, ephemeral=False)
    with holders(zookeeper.address, paths, sessions=100), ExitStack() as stack:
        looker = stack.enter_context(observer(Place(zookeeper.address, f"{root}/*")))
        assert len(looker.report.paths) == 10_000
        client.delete(f"{paths[7]}/{TOKEN}__lock__0000000000")
        looker.until(lambda _report: _holder(looker, paths[7]) is None)
        released = [(event.lock, str(event.event)) for event in looker.events]
        fresh = Place(zookeeper.address, f"{root}/lock-of-0000*")
        with fresh.watch() as watch:
            assert watch.read()
            assert len(watch.look().paths) == 9  # an empty folder is no lock
    assert released == [(paths[7], "released")]


def test_a_small_jute_maxbuffer_makes_batches_smaller(
    jvm: Callable[[str], None],
) -> None:
    """A batch that is too large costs the connection once, and the next ones are smaller."""
    jvm("-Djute.maxbuffer=16384")
    with real_zookeeper() as server:
        client = KazooClient(server.address)
        client.start()
        client.ensure_path("/small")
        paths = [f"/small/{number:0>100}" for number in range(1_000)]
        create(client, paths, ephemeral=False, at_once=50)
        with holders(server.address, paths, sessions=20), ExitStack() as stack:
            looker = stack.enter_context(observer(Place(server.address, "/small/*")))
            assert len(looker.report.paths) == 1_000
        client.stop()
        client.close()


@contextmanager
def holders(hosts: str, paths: list[str], sessions: int) -> Iterator[None]:
    """Sessions that hold these locks, in equal shares."""
    with ExitStack() as stack:
        for number in range(sessions):
            client = KazooClient(hosts, timeout=20)
            client.start()
            stack.callback(client.close)
            stack.callback(client.stop)
            share = [f"{path}/{TOKEN}__lock__0000000000" for path in paths[number::sessions]]
            create(client, share, ephemeral=True, at_once=50)
        yield


def create(
    client: KazooClient, paths: list[str], *, ephemeral: bool, at_once: int = AT_ONCE
) -> None:
    """Create many znodes."""
    for start in range(0, len(paths), at_once):
        batch = client.transaction()
        for path in paths[start : start + at_once]:
            batch.create(path, b"x", ephemeral=ephemeral)
        assert not [one for one in batch.commit() if isinstance(one, Exception)]


def _holder(looker: Observer, path: str) -> str | None:
    view = looker.report.view(path)
    holders = list(view.holders) if view else []
    return str(holders[0].node) if holders else None
