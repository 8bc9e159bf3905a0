"""Servers that cannot do what 3.6 can are watched all the same."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from kazoo.client import KazooClient
from msgspec.structs import replace
from servers import RunningServer, real_zookeeper
from zk.eye import looking, names

from zktop.zk import Source
from zktop.zk.preflight import Probe

pytestmark = pytest.mark.zookeeper

OPTIMIZED = "org.apache.zookeeper.server.watch.WatchManagerOptimized"


@pytest.fixture(scope="module")
def optimized() -> Iterator[RunningServer]:
    """A server whose watch manager knows no persistent watches."""
    with real_zookeeper(watchManagerName=OPTIMIZED) as server:
        yield server


def test_a_watch_manager_that_refuses_is_watched_by_single_watches(
    optimized: RunningServer,
) -> None:
    """It says so to the first request, and the connection stays."""
    client = KazooClient(optimized.address)
    client.start()
    client.create("/locks/l/m-0000000000", makepath=True)
    with looking(optimized.address, "/locks/*") as eye:
        assert eye.source.cost().watches == 3
        client.create("/locks/l/m-0000000001", b"x")
        eye.until(lambda world: (one := world.node("/locks/l/m-0000000001")) and one.data == b"x")
    client.stop()
    client.close()


def test_an_old_server_is_read_one_by_one(
    zookeeper: RunningServer,
    client: KazooClient,
    root: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers before 3.6 hang up on requests that they do not know, so none is sent to them."""
    _pretend(monkeypatch, (3, 4, 14))
    client.create(f"{root}/l/m-0000000000", b"x", makepath=True)
    with looking(zookeeper.address, f"{root}/*") as eye:
        (contender,) = eye.world.family(f"{root}/l")
        assert contender.data == b"x"
        client.create(f"{root}/l/m-0000000001")
        eye.until(lambda world: len(names(world, f"{root}/l")) == 2)
        assert eye.source.cost().watches == 3
        assert not eye.source.degraded()


def test_an_old_server_is_searched_one_by_one(
    zookeeper: RunningServer,
    client: KazooClient,
    root: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The walk needs no batches either."""
    _pretend(monkeypatch, (3, 5, 9))
    client.create(f"{root}/deep/l/m-0000000000", b"x", makepath=True)
    found: Callable[[str, Sequence[str]], bool] = lambda path, _names: path == f"{root}/deep/l"  # noqa: E731  a predicate
    with looking(zookeeper.address, looks_like_a_lock=found) as eye:
        assert names(eye.world, f"{root}/deep/l") == {"m-0000000000"}


def _pretend(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]) -> None:
    """Have the source believe that it met this version."""
    expect = Source._expect

    def older(self: Source, probes: Sequence[Probe]) -> None:
        expect(self, [replace(probe, version=version) for probe in probes])

    monkeypatch.setattr(Source, "_expect", older)
