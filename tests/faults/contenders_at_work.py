"""Contenders at work: some are in a deadlock, the others take turns at full speed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.recipe.lock import Lock
from kazoo.retry import KazooRetry
from waiting import eventually

PATIENCE_S = 40.0
SESSION_S = 10.0  # longer than any fault, and short enough to notice a dead server
HOLD_S = 0.002
LOCKS = 2
CHURNERS = 4
MEMBERS = ("digest", "crowd:secret")  # their identity in ACLs


class Crowd:
    """Alice and bob wait for each other, carol for alice; four others share two locks.

    While the four others do not run, a porter holds these two locks, in a session of its own. A
    session that works while it waits has several threads, so zktop could not prove its deadlock.
    """

    def __init__(self, hosts: str, root: str) -> None:
        self._hosts, self.root = hosts, root
        self._clients: list[KazooClient] = []
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._porter_locks: list[Lock] = []
        self._begin: dict[str, tuple[int, int]] = {}
        self._rounds = [0] * CHURNERS
        self.places = [f"{root}/churn-{number}" for number in range(LOCKS)]

    @property
    def rounds(self) -> int:
        """The number of locks taken and released."""
        return sum(self._rounds)

    def gather(self) -> None:
        """Make the deadlock, and the locks for the others."""
        porter, alice, bob, carol = (self.client() for _ in range(4))
        orders, stock = f"{self.root}/orders", f"{self.root}/stock"
        alice.Lock(orders, "alice").acquire()
        bob.Lock(stock, "bob").acquire()
        for client, path, name in (
            (alice, stock, "alice"),
            (bob, orders, "bob"),
            (carol, orders, "carol"),
        ):
            waiters = len(client.get_children(path))
            lock = client.Lock(path, name)
            threading.Thread(target=_wait_for, args=(lock,), daemon=True).start()
            eventually(lambda: len(client.get_children(path)) > waiters)  # noqa: B023  called at once
        self._porter_locks = [porter.Lock(path, "porter") for path in self.places]
        for lock in self._porter_locks:  # zktop would not recognise an empty folder as a lock
            lock.acquire()
        self._begin = self._counters()

    def work(self) -> None:
        """Start the other contenders."""
        for number in range(CHURNERS):
            path = self.places[number % LOCKS]
            args = (number, self.client(), path)
            self._threads.append(threading.Thread(target=self._churn, args=args, daemon=True))
            self._threads[-1].start()
        for lock in self._porter_locks:
            lock.release()

    def wait_for_progress(self) -> None:
        """Wait until each contender has had a lock again."""
        before = list(self._rounds)
        pairs = lambda: zip(self._rounds, before, strict=True)  # noqa: E731
        eventually(lambda: all(now > then for now, then in pairs()), PATIENCE_S)

    def rest(self) -> dict[str, tuple[int, int]]:
        """Stop all but the deadlock; return the creates and deletes in each lock."""
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        for path in self.places:
            self._clients[0].Lock(path, "porter").acquire()
        now = self._counters()
        return {
            path: (now[path][0] - then[0], now[path][1] - then[1])
            for path, then in self._begin.items()
        }

    def client(self) -> KazooClient:
        """A session of its own that retries."""
        retry = KazooRetry(max_tries=-1, delay=0.05, backoff=1, max_jitter=0.1)
        client = KazooClient(
            self._hosts,
            timeout=SESSION_S,
            connection_retry=retry,
            command_retry=retry.copy(),
            auth_data=[MEMBERS],
        )
        client.start(PATIENCE_S)
        self._clients.append(client)
        return client

    def leave(self) -> None:
        """Close all sessions."""
        self._over.set()
        for client in self._clients:
            client.stop()
            client.close()

    def _churn(self, number: int, client: KazooClient, path: str) -> None:
        while not self._over.is_set():
            lock = client.Lock(path, f"worker-{number}")
            try:
                with lock:
                    self._over.wait(HOLD_S)
                self._rounds[number] += 1
            except KazooException:
                with suppress(KazooException):
                    client.retry(lock.release)

    def _counters(self) -> dict[str, tuple[int, int]]:
        """Creates and deletes so far, from each lock's Stat."""
        client, found = self._clients[0], {}
        for path in self.places:
            client.sync(path)
            stat = client.retry(client.get, path)[1]
            creates = (stat.cversion + stat.numChildren) // 2
            found[path] = (creates, creates - stat.numChildren)
        return found


@contextmanager
def crowd(hosts: str, root: str) -> Iterator[Crowd]:
    """A crowd before it starts to work."""
    one = Crowd(hosts, root)
    try:
        one.gather()
        yield one
    finally:
        one.leave()


def _wait_for(lock: object) -> None:
    with suppress(KazooException):
        lock.acquire()  # type: ignore[attr-defined]  # kazoo has no types
