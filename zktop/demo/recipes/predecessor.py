"""The Java and the PHP article: everybody watches the one before, and only one wakes."""

from kazoo.exceptions import ConnectionLoss, NoNodeError

from zktop.demo.bell import Patience
from zktop.demo.recipes.recipe import Flaw, PlaceLostError, QueueRecipe

RETRIES = 10
MICROSECONDS = Flaw(
    "microseconds",
    "counts the milliseconds of its time-out as microseconds: it watches again and again, "
    "hundreds of requests a second where two would do",
)
NO_RECHECK = Flaw(
    "no-recheck",
    "looks only once, when it was notified: if the lock was not its own then, it neither lists "
    "nor watches again, so killing the middle one of three hangs the last for good",
)
VOID_WATCH = Flaw(
    "void-watch",
    "ignores that the node before it went between listing and watching, and waits for a node "
    "that never comes back (it dawdles there, to make the race certain)",
)
BLIND_RETRY = Flaw(
    "blind-retry",
    "loses the answer to its create with the connection and creates again without a look: "
    "it queues behind its own ghost",
)
PERSISTENT = Flaw("persistent", "its node is not ephemeral: it outlives a client that dies")


class WatchPredecessor(QueueRecipe):
    """Watch the next smaller node; start again, up to ten times, when our own node was lost."""

    name = "predecessor"
    source = "article 2, Java on ZkClient: /Mutex with lock- nodes"
    story = "a lock- node each; watch the next smaller one, with time-out, retries and clean-up"
    pattern = "lock-"
    flaws = (MICROSECONDS, NO_RECHECK, VOID_WATCH, BLIND_RETRY, PERSISTENT)

    def acquire(self, timeout: float | None = None) -> bool:
        """Queue up, and once more if the session was lost meanwhile."""
        patience = Patience(timeout)
        for attempt in range(RETRIES):
            try:
                return self._wait_in_line(patience)
            except PlaceLostError:
                self._decide(f"our node is gone: attempt {attempt + 2}")
        raise PlaceLostError

    def _wait_in_line(self, patience: Patience) -> bool:
        me = self._join("lock-")
        while (place := self._place(me, queue := self._queue())) > 0:
            previous = queue[place - 1]
            self._decide(f"{previous} is before {me}")
            if self._watch(previous) and not self._notified(patience):
                return self._gave_up()
        self._decide(f"{me} is first")
        return self._got()

    def _watch(self, previous: str) -> bool:
        if not self._has_flaw(VOID_WATCH):
            return self._watch_if_there(previous)
        while self.client.exists(f"{self.path}/{previous}"):
            self.client.bell.wait(0.02)
        self._watch_if_there(previous)
        return True

    def _notified(self, patience: Patience) -> bool:
        """Wait for the watch; False when the time is over."""
        if self._has_flaw(MICROSECONDS) and patience.left is not None:
            self.client.bell.wait(patience.left / 1000)
            return not patience.over
        if not self._wait(patience):
            return False
        if self._has_flaw(NO_RECHECK):
            return self._look_once(patience)
        return True

    def _look_once(self, patience: Patience) -> bool:
        assert self.node  # noqa: S101  we stand in the queue
        if self._place(self.node.rpartition("/")[2], self._queue()) > 0:
            self._decide("not ours yet: goes on waiting, without a watch")
            self.client.bell.silence()
            return self._wait(patience)
        return True

    def _join(self, prefix: str) -> str:
        if self._has_flaw(BLIND_RETRY):
            self._create_and_lose_the_answer(prefix)
        if not self._has_flaw(PERSISTENT):
            return super()._join(prefix)
        self._begin()
        self.node = self.client.create(f"{self.path}/{prefix}", self.owner.encode(), sequence=True)
        return self.node.rpartition("/")[2]

    def _create_and_lose_the_answer(self, prefix: str) -> None:
        self._begin()
        path, data = f"{self.path}/{prefix}", self.owner.encode()
        self.client.create(path, data, ephemeral=True, sequence=True)
        self.client.drop()
        self._decide("the connection broke before the answer came: creates once more")


class WatchPredecessorByGet(QueueRecipe):
    """Set the watch by reading the one before; read the list again when it has just gone."""

    name = "get-watch"
    source = "article 5, PHP, method 2: /lockKey_<id>/lock_ nodes"
    story = "a lock_ node each; a get watch on the one before, retried when that has just gone"
    pattern = "lock_"

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the one before us, whoever that is at the time."""
        patience = Patience(timeout)
        me = self._join("lock_")
        while place := self._place(me, queue := self._queue()):
            previous = queue[place - 1]
            self._decide(f"{previous} is before {me}")
            self.client.bell.silence()
            try:
                self.client.get(f"{self.path}/{previous}", self.client.bell.ring)
            except (NoNodeError, ConnectionLoss):
                self._decide(f"{previous} went while the watch was set: look again")
                continue
            if not self._wait(patience):
                return self._gave_up()
        self._decide(f"{me} is first")
        return self._got()
