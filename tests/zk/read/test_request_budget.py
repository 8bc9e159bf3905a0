"""The request budget covers every request, for every way of reading."""

import random
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from each_server import EITHER, server_of
from kazoo.client import KazooClient
from servers import RunningServer, free_port
from waiting import eventually
from zk.observed import observing
from zk.older_servers import StandIn
from zk.request_proxy import REQUEST, RequestProxy

from zktop.zk.connect.address import AdminAccess
from zktop.zk.read.request_budget import RequestBudget

LOCKS = 700  # two batches of listings, and two of contenders
FEW = 25  # where each znode takes a request of its own
TOKEN = "0123456789abcdef0123456789abcdef"
SECONDS = 20
NOT_COUNTED = {11, -11}  # pings, and the end of the session


@pytest.mark.parametrize("per_second", [1, 2, 7, 19, 20, 500, 10_000])
def test_no_second_has_more_requests_than_the_budget(per_second: int) -> None:
    """No second, wherever it begins, has more requests than the budget."""
    now = 0.0
    pace = RequestBudget(per_second, lambda: now)
    chance, sent = random.Random(per_second), []
    while now < SECONDS:
        wait_s = pace.wait_s()
        if wait_s <= 0.0:
            sent.append(now)
        else:
            now += wait_s + chance.choice((0.0, 0.0, 0.01, 1.0))

    assert _busiest(sent) <= per_second
    assert sent[-1] > SECONDS / 2


@pytest.mark.parametrize("per_second", [1, 20, 500, 10_000])
def test_a_budget_can_be_used_up(per_second: int) -> None:
    """Requests without a pause use nearly all of the budget."""
    now, sent = 0.0, 0
    pace = RequestBudget(per_second, lambda: now)
    while now < SECONDS:
        wait_s = pace.wait_s()
        now, sent = now + wait_s, sent + (wait_s <= 0.0)

    assert sent >= 0.94 * SECONDS * per_second


class CountingProxy(RequestProxy):
    """A proxy that counts requests and words."""

    def __init__(self, port: int) -> None:
        self.moments: list[float] = []
        super().__init__(port)

    def word(self, word: bytes) -> bytes:
        """Count a word, except for the first one, which is the probe before connecting."""
        self.moments.append(time.monotonic())
        return super().word(word)

    def refusal(self, frame: bytes) -> bytes | None:
        """Count a request."""
        if REQUEST.unpack_from(frame)[1] not in NOT_COUNTED:
            self.moments.append(time.monotonic())
        return super().refusal(frame)


class OldCountingProxy(CountingProxy, StandIn):
    """A counting proxy for a server without batches."""

    def __init__(self, port: int) -> None:
        self.moments = []
        StandIn.__init__(self, "3.5.9", port)


@pytest.fixture(scope="module", params=EITHER)
def filled(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """A server with many locks in one folder and a few in another."""
    with server_of(request.param) as server:
        client = KazooClient(server.address, timeout=30)
        client.start()
        for root, count in (("/many", LOCKS), ("/few", FEW)):
            client.ensure_path(root)
            batch = client.transaction()
            for number in range(count):
                batch.create(f"{root}/l{number}")
                batch.create(f"{root}/l{number}/{TOKEN}__lock__0000000000")
            batch.commit()
        client.stop()
        client.close()
        yield server


@pytest.fixture
def counter(filled: RunningServer) -> Iterator[CountingProxy]:
    """A counting proxy to a current server."""
    with closing(CountingProxy(filled.port)) as one:
        yield one


@pytest.fixture
def old_counter(filled: RunningServer) -> Iterator[OldCountingProxy]:
    """A counting proxy to an old server."""
    with closing(OldCountingProxy(filled.port)) as one:
        yield one


def test_batches_are_paced(counter: CountingProxy) -> None:
    """A batch counts as one request, however many znodes it reads."""
    with observing(counter.address, "/many/*", requests_per_second=3) as live:
        assert len(live.world.families) > LOCKS

    assert _busiest(counter.moments) <= _about(3)
    assert len(counter.moments) < LOCKS


def test_a_reading_without_batches_is_paced(old_counter: OldCountingProxy) -> None:
    """Single reads stay within the budget, so the first reading takes longer."""
    with observing(old_counter.address, "/few/*", requests_per_second=20):
        pass

    assert _busiest(old_counter.moments) <= _about(20)
    assert len(old_counter.moments) > 2 * FEW


def test_the_search_for_locks_is_paced(old_counter: OldCountingProxy) -> None:
    """The first walk of an unknown tree stays within the budget."""
    with observing(old_counter.address, requests_per_second=500):
        pass

    assert len(old_counter.moments) > 3 * LOCKS
    assert _busiest(old_counter.moments, seconds=2.0) <= _about(2 * 500)


def test_polling_is_paced_together_with_what_it_finds(
    filled: RunningServer, old_counter: OldCountingProxy
) -> None:
    """Polling and the listings that follow share one budget."""
    client = KazooClient(filled.address)
    client.start()
    few = {"watch_budget": 1, "requests_per_second": 20}
    with observing(old_counter.address, "/few/*", **few) as live:
        for number in range(FEW):
            client.create(f"/few/l{number}/{TOKEN}__lock__", sequence=True, ephemeral=True)
        for number in range(FEW):
            live.until(lambda world, n=number: len(world.family(f"/few/l{n}").members) == 2)
    client.stop()
    client.close()

    assert _busiest(old_counter.moments) <= _about(20)


def test_words_are_paced_too(counter: CountingProxy) -> None:
    """Four-letter words come out of the same budget."""
    no_admin = AdminAccess(port=free_port())
    given = {"introspect": True, "admin": no_admin, "sample_every": 0.01, "requests_per_second": 5}
    with observing(counter.address, "/few/*", **given) as live:
        live.until_sampled()
        eventually(lambda: len(counter.moments) > 15)

    assert _busiest(counter.moments[1:]) <= _about(5)


def test_a_reading_that_waits_for_the_budget_says_so(
    filled: RunningServer, old_counter: OldCountingProxy
) -> None:
    """A world that is behind because of the budget is marked as such."""
    client = KazooClient(filled.address)
    client.start()
    with observing(old_counter.address, "/few/*", requests_per_second=20) as live:
        assert not live.source.degraded()
        for number in range(4 * FEW):
            client.create(f"/few/l{number % FEW}/{TOKEN}__lock__", sequence=True)
        eventually(live.source.degraded)
        (said,) = live.source.degraded()
    client.stop()
    client.close()

    assert "request budget" in said


def _about(per_second: int) -> float:
    """The budget plus a margin for requests that arrive together."""
    return 1.25 * per_second + 1


def _busiest(moments: list[float], seconds: float = 1.0) -> int:
    """The most requests within a second, or within this time."""
    most = begin = 0
    for end, moment in enumerate(moments):
        while moments[begin] <= moment - seconds:
            begin += 1
        most = max(most, end - begin + 1)
    return most
