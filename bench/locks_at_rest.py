"""Ten thousand locks at rest: every owner is alive, and every waiter watches its predecessor.

Cheap sessions with closed sockets are enough for reading and for events, but to zktop fifty
thousand disconnected owners are an outage, not a rest. Here a thousand clients stay connected,
services of fifty threads each; a fifth of them hold locks and the rest wait. One process may not
have fifty thousand sockets.
"""

import resource
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from bench.many_sessions import Contender, connected, member
from bench.reading import create_nodes
from bench.sizes import size

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import has_real_zookeeper, real_zookeeper

CONTENDERS = 5
CLIENTS = size(1_000, 40)


@contextmanager
def quiet(
    locks: Sequence[str], number: int = CLIENTS, memory_mb: int = 1024
) -> Iterator[tuple[str, Sequence[Contender]] | None]:
    """A real server with these locks, and this number of clients in their queues."""
    if not has_real_zookeeper():
        yield None
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with real_zookeeper(
        memory_mb=memory_mb,
        maxSessionTimeout=3_600_000,
        maxClientCnxns=0,
        forceSync="no",
        snapCount=10_000_000,
    ) as server:
        _make(server.address, locks)
        clients = list(connected(server.address, number))
        try:
            for place in range(CONTENDERS):
                _stand(clients, locks, place)
            yield server.address, clients
        finally:
            for client in clients:
                client.vanish()


def _make(address: str, locks: Sequence[str]) -> None:
    client = KazooClient(address, timeout=30)
    client.start()
    client.ensure_path(locks[0].rpartition("/")[0])
    create_nodes(client, list(locks), b"")
    client.stop()
    client.close()


def _stand(clients: Sequence[Contender], locks: Sequence[str], place: int) -> None:
    """Fill this place in each queue, and wait for the answers."""
    owed: Counter[int] = Counter()
    fifth = len(clients) // CONTENDERS
    for number, lock in enumerate(locks):
        waits_as = fifth + (number * (CONTENDERS - 1) + place - 1) % (len(clients) - fifth)
        who = waits_as if place else number % fifth
        clients[who].queue(f"{lock}/{member(place)}", b"worker-%d" % who)
        owed[who] += 1
        if place:
            clients[who].watch(f"{lock}/{member(place - 1)}")
            owed[who] += 1
    for who, count in owed.items():
        clients[who].answers(count)
