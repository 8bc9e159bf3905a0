"""Exclusive locks with sequential nodes: by polling, parent watches and predecessor watches.

Each follows the sample code of an article, in C, Java or PHP. `source` names the article.
"""

from kazoo.exceptions import ConnectionLoss, NoNodeError

from zktop.demo.recipes.queue_recipe import HerdRecipe, QueueRecipe
from zktop.demo.recipes.recipe import PlaceLostError
from zktop.demo.stoppable_wait import Timeout
from zktop.demo_types.contender_order import Flaw

FAILED_POLL_HOLDS = Flaw(
    "failed-poll-holds",
    "takes a failed poll for an empty queue, and so believes that it holds the lock: two holders "
    "after a server restart",
)


class Poll(QueueRecipe):
    """Create a `lock-` node. The smallest name has the lock, and the others poll the queue."""

    name = "poll"
    source = "article 1, C: the program mylock, which polls"
    brief = "the smallest lock- node wins; all others poll once a second"
    creates = "an ephemeral lock-<number> node below the lock"
    lists = "the queue, once a second until it has the lock"
    decides = "the smallest number has the lock"
    watches = "nothing: it only polls"
    pattern = "lock-"
    flaws = (FAILED_POLL_HOLDS,)

    def acquire(self, timeout: float | None = None) -> bool:
        """List the queue until our name is the smallest."""
        deadline = Timeout(timeout)
        me = self._join()
        while not deadline.over:
            if self._is_smallest(me):
                return self._report_acquired()
            self.client.wakeup.clear()
            left = deadline.left
            self.client.wakeup.wait(
                self.claim.poll_s if left is None else min(left, self.claim.poll_s)
            )
        return self._give_up()

    def _is_smallest(self, me: str) -> bool:
        """List the queue once. Return True if our name is first, or if the flaw says so."""
        try:
            queue = self._list_or_fail()
        except ConnectionLoss:
            if not self._has_flaw(FAILED_POLL_HOLDS):
                self._report_decision("no response: poll again")
                return False
        else:
            self._place(me, queue)  # only to check it: raises PlaceLostError
            if smaller := [name for name in queue if name < me]:
                sentence = f"{smaller[0]} is smaller: next poll in {self.claim.poll_s:g} s"
                self._report_decision(sentence)
                return False
        self._report_decision("no number is smaller")
        return True

    def _list_or_fail(self) -> list[str]:
        """List the queue as the C client does: while disconnected, a request fails at once."""
        if not self.client.connected:
            raise ConnectionLoss
        return self._sort_by_number(self.client.get_children(self.path))


class WatchParent(HerdRecipe):
    """Create a `lock-` node and watch the children of the lock: every change wakes all."""

    name = "parent-watch"
    source = "article 1, C: the improved version, which watches the parent node"
    brief = "lock- nodes; all watch the children: a herd"
    creates = "an ephemeral lock-<number> node below the lock"
    decides = "the smallest number has the lock"
    pattern = "lock-"


ATTEMPTS = 10
MICROSECONDS = Flaw(
    "microseconds",
    "takes the milliseconds of its timeout for microseconds: it watches again and again, with "
    "hundreds of requests per second where two would do",
)
NO_RECHECK = Flaw(
    "no-recheck",
    "checks the queue only once, when it is notified: if it is not first then, it never lists or "
    "watches again, so killing the second of three clients hangs the third forever",
)
VOID_WATCH = Flaw(
    "void-watch",
    "sets its watch without checking that the node ahead still exists, and then waits for a node "
    "that never comes back (it is slow, so that the race always happens)",
)
BLIND_RETRY = Flaw(
    "blind-retry",
    "loses its connection before the response to its create, and creates a second node without "
    "checking: it queues behind its own first node",
)
PERSISTENT = Flaw(
    "persistent",
    "its node is not ephemeral, so it stays when the client dies, and blocks all other clients",
)


class WatchPredecessor(QueueRecipe):
    """Watch the next smaller node. If our own node is lost, start over, up to nine times."""

    name = "predecessor"
    source = "article 2, Java on ZkClient: /Mutex, with timeout and retries"
    brief = "lock- nodes; each client watches only the node ahead"
    creates = (
        "an ephemeral lock-<number> node below the lock, and a new one, up to nine times, if it "
        "is lost"
    )
    decides = "the smallest number has the lock; a client that times out deletes its node"
    watches = "the node just ahead of its own (exists), so a release wakes one client"
    pattern = "lock-"
    flaws = (MICROSECONDS, NO_RECHECK, VOID_WATCH, BLIND_RETRY, PERSISTENT)
    joins = ("plain-lock",)

    def acquire(self, timeout: float | None = None) -> bool:
        """Queue up, and again each time our node is lost."""
        deadline = Timeout(timeout)
        for attempt in range(2, ATTEMPTS + 1):
            try:
                return self._wait_in_line(deadline)
            except PlaceLostError:
                self._report_decision(f"its node is gone: attempt {attempt}")
        return self._wait_in_line(deadline)

    def _watch(self, name: str) -> bool:
        if not self._has_flaw(VOID_WATCH):
            return super()._watch(name)
        while self.client.exists(f"{self.path}/{name}"):
            self.client.wakeup.wait(0.02)
        super()._watch(name)
        return True

    def _wait(self, deadline: Timeout) -> bool:
        if self._has_flaw(MICROSECONDS) and deadline.left is not None:
            self.client.wakeup.wait(deadline.left / 1000)
            return not deadline.over
        if not super()._wait(deadline):
            return False
        if self._has_flaw(NO_RECHECK):
            return self._look_once(deadline)
        return True

    def _look_once(self, deadline: Timeout) -> bool:
        """List the queue once. If our node is not first, wait without a watch."""
        assert self.node  # noqa: S101  it is in the queue
        if self._place(self.node.rpartition("/")[2], self._queue()) > 0:
            self._report_decision("not first yet: keeps waiting, without a watch")
            self.client.wakeup.clear()
            return super()._wait(deadline)
        return True

    def _join(self) -> str:
        if self._has_flaw(BLIND_RETRY):
            self._begin()
            self._create()
            self.client.drop()
            self._report_decision("the connection broke before the response: creates again")
        return super()._join()

    def _create(self, *, ephemeral: bool = True) -> str:
        return super()._create(ephemeral=ephemeral and not self._has_flaw(PERSISTENT))


class WatchPredecessorByGet(QueueRecipe):
    """Watch the node ahead of ours by reading it. If it is already gone, list the queue again."""

    name = "get-watch"
    source = "article 5, PHP, method 2: /lockKey_<id>/lock_ nodes"
    brief = "lock_ nodes; each client reads and watches the node ahead"
    creates = "an ephemeral lock_<number> node below the lock"
    lists = (
        "the queue, and again after each notification, or if the node ahead is gone before the "
        "watch is set"
    )
    decides = "the smallest number has the lock"
    watches = "the node just ahead of its own, by reading it (get)"
    pattern = "lock_"

    def _watch(self, name: str) -> bool:
        self.client.wakeup.clear()
        try:
            self.client.get(f"{self.path}/{name}", self.client.wakeup.set)
        except ConnectionLoss:
            self._report_decision("no response: list again")
            return False
        except NoNodeError:
            self._report_decision(f"{name} was deleted before the watch was set: list again")
            return False
        return True
