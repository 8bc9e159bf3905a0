"""The C article: `mylock`, which asks once a second, and its idea of watching the parent."""

from kazoo.exceptions import ConnectionLoss

from zktop.demo.bell import Patience
from zktop.demo.recipes.recipe import Flaw, QueueRecipe

FAILED_POLL_HOLDS = Flaw(
    "failed-poll-holds",
    "takes a poll that failed for an empty list, and so for the lock: two holders after a "
    "restart of the server",
)


class Poll(QueueRecipe):
    """Create a `lock-` node; the smallest name has the lock, the others ask again and again."""

    name = "poll"
    source = "article 1, C: the program mylock, which polls"
    brief = "the smallest lock- node wins; all others ask once a second"
    creates = "an ephemeral lock-<number> node below the lock"
    lists = "the queue, once a second until it has the lock"
    decides = "the smallest number has the lock"
    watches = "nothing: it only asks again"
    pattern = "lock-"
    flaws = (FAILED_POLL_HOLDS,)

    def acquire(self, timeout: float | None = None) -> bool:
        """Ask until our name is the smallest."""
        patience = Patience(timeout)
        me = self._join("lock-")
        while not patience.over:
            if self._is_smallest(me):
                return self._got()
            self.client.bell.silence()
            left = patience.left
            self.client.bell.wait(
                self.claim.poll_s if left is None else min(left, self.claim.poll_s)
            )
        return self._gave_up()

    def _is_smallest(self, me: str) -> bool:
        """Ask once. Without an answer nothing is known, which is not the same as being first."""
        try:
            queue = self._asked()
        except ConnectionLoss:
            if not self._has_flaw(FAILED_POLL_HOLDS):
                self._decide("no answer, so nothing is known: ask again")
                return False
            queue = []
        if smaller := [name for name in queue if name < me]:
            self._decide(f"{smaller[0]} is smaller: ask again in {self.claim.poll_s:g} s")
            return False
        if queue:
            self._place(me, queue)
        self._decide("nobody is smaller")
        return True

    def _asked(self) -> list[str]:
        """List as the C client does: a request fails at once while there is no connection."""
        if not self.client.connected:
            raise ConnectionLoss
        return self._queue(self.client.get_children(self.path))


class WatchParent(QueueRecipe):
    """Create a `lock-` node and watch the parent's children: every change wakes everybody."""

    name = "parent-watch"
    source = "article 1, C: the better idea, to watch the parent node"
    brief = "lock- nodes; all watch the children: a herd"
    creates = "an ephemeral lock-<number> node below the lock"
    lists = "the queue, and again whenever it is woken"
    decides = "the smallest number has the lock"
    watches = "the children of the lock, so every change wakes everybody: a herd"
    pattern = "lock-"

    def acquire(self, timeout: float | None = None) -> bool:
        """Look again whenever anything under the lock changes."""
        patience = Patience(timeout)
        me = self._join("lock-")
        while True:
            if self._place(me, queue := self._queue_watched()) == 0:
                self._decide(f"{me} is the smallest")
                return self._got()
            self._decide(f"{queue[0]} is the smallest: wait for any change")
            if not self._wait(patience):
                return self._gave_up()

    def _queue_watched(self) -> list[str]:
        self.client.bell.silence()
        listed = self.client.retry(self.client.get_children, self.path, self.client.bell.ring)
        return self._queue(listed)
