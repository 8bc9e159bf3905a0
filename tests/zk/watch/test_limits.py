"""The budgets of watches and requests, and what is reported when they do not suffice."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from cli.live_processes import zktop_process
from kazoo.client import KazooClient
from servers import RunningServer
from waiting import eventually
from zk.observed import names, observing
from zk.older_servers import Older, older

pytestmark = pytest.mark.zookeeper

LOCKS = 30
TOKEN = "0123456789abcdef0123456789abcdef"
A_SECOND = 20
POLLED_A_SECOND = 15  # the rest is for reads that follow


FEW = ("--watch-budget", "1", "--request-budget", f"{A_SECOND}")


@pytest.fixture(scope="module")
def single() -> Iterator[Older]:
    """A server without batches, so that requests are easily counted."""
    with older("3.5.9") as server:
        yield server


@pytest.fixture
def locks(single: Older) -> str:
    """More locks than the watch budget; their root."""
    client = KazooClient(single.address)
    client.start()
    for number in range(LOCKS):
        client.ensure_path(f"/polled/l{number}/{TOKEN}__lock__0000000000")
    client.stop()
    client.close()
    return "/polled/*"


def test_check_says_that_it_polls(single: Older, locks: str) -> None:
    """Among its notes on stdout: no client is there, which is fine."""
    command = [sys.executable, "-m", "zktop", "check", "--hosts", single.address]
    ran = subprocess.run(
        [*command, "--root", locks, *FEW], check=True, capture_output=True, text=True
    )

    assert f"note: {LOCKS} znodes are polled every 2 s" in ran.stdout


@pytest.mark.parametrize("command", ["snapshot", "events"])
def test_a_command_says_that_it_polls(single: Older, locks: str, command: str) -> None:
    """Commands report it once on stderr; `events`, which has no end, at once."""
    with zktop_process(command, "--hosts", single.address, "--root", locks, *FEW) as zktop:
        if command == "events":
            zktop.until(lambda line: line["event"] == "connection")
            assert zktop.process.stderr
            said = zktop.process.stderr.readline()
            zktop.process.send_signal(signal.SIGINT)
        else:
            said = zktop.ended()[1]

    assert said.startswith(f"note: {LOCKS} znodes are polled every 2 s")
    assert said.count("\n") == 1


def test_polling_stays_within_the_request_budget(single: Older, locks: str) -> None:
    """All locks are polled, more slowly; each round continues the one before."""
    client = KazooClient(single.address)
    client.start()
    few = {"watch_budget": 1, "requests_per_second": A_SECOND, "audit_every": 3600.0}
    with observing(single.address, locks, **few) as live:
        begin, before = time.monotonic(), live.source.cost().requests
        for number in (LOCKS - 1, 0):
            client.create(f"/polled/l{number}/m-0000000001")
            live.until(lambda world, n=number: len(names(world, f"/polled/l{n}")) == 2)
        took, asked = time.monotonic() - begin, live.source.cost().requests - before
        degraded = live.source.degraded()
    client.stop()
    client.close()

    listed_and_read = 4  # the cost of the two new contenders
    assert asked <= A_SECOND * (took + 1) + listed_and_read
    assert took < 2 * (LOCKS / POLLED_A_SECOND + 1) + 1
    assert f"{LOCKS} znodes are polled every 2 s" in degraded[0]


@pytest.mark.parametrize("persistent", [True, False], ids=["persistent", "one-shot"])
def test_roots_beyond_the_watch_budget_are_polled(
    zookeeper: RunningServer, client: KazooClient, root: str, *, persistent: bool
) -> None:
    """The first roots are watched, the rest polled; roots may appear later."""
    paths = [f"{root}/l{number}" for number in range(LOCKS)]
    for path in paths[1:]:
        client.create(f"{path}/m-0000000000", makepath=True)
    few = {"watch_budget": 5, "persistent": persistent, "requests_per_second": 2 * LOCKS}
    with observing(zookeeper.address, *paths, **few) as live:
        found, watches = live.source.degraded(), live.source.cost().watches
        client.create(f"{paths[0]}/m-0000000001", makepath=True)
        client.create(f"{paths[-1]}/m-0000000001")
        live.until(lambda world: names(world, paths[0]) == {"m-0000000001"})
        live.until(lambda world: len(names(world, paths[-1])) == 2)

    assert watches <= (5 if persistent else 10)  # one-shot: each root and listing
    assert "the watch budget is used up" in found[0]


def test_many_absent_roots_stay_within_the_request_budget(
    zookeeper: RunningServer, root: str
) -> None:
    """Any number of absent roots is polled within the budget."""
    paths = [f"{root}/l{number}" for number in range(150)]
    few = {"watch_budget": 1, "requests_per_second": 2 * A_SECOND, "audit_every": 3600.0}
    with observing(zookeeper.address, *paths, **few) as live:
        before, begin = live.source.cost().requests, time.monotonic()
        eventually(lambda: time.monotonic() > begin + 3)
        asked = live.source.cost().requests - before

    assert asked <= 5 * 2 * A_SECOND
