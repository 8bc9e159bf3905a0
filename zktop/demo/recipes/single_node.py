"""The lock is one ephemeral node, which the other contenders watch."""

from kazoo.exceptions import ConnectionLoss, NodeExistsError, SessionExpiredError

from zktop.demo.recipes.recipe import PlaceLostError, Recipe
from zktop.demo.stoppable_wait import Timeout


class SingleNode(Recipe):
    """The contender that creates the node has the lock. The others watch it and try again."""

    name = "single-node"
    source = "article 3, the exclusive lock; article 5, PHP, method 1"
    brief = "one ephemeral node is the lock; waiters watch it: a herd"
    creates = "the lock itself, as one ephemeral node"
    lists = "nothing: there is no queue"
    decides = "the client that creates the node has the lock"
    watches = "the lock node (exists); when it is deleted, all wake up and any of them may win"
    joins = ("single-node",)

    def acquire(self, timeout: float | None = None) -> bool:
        """Try to create the node whenever it is gone."""
        deadline = Timeout(timeout)
        self._begin()
        while not self._create():
            self._report_decision(f"{self.path} exists: wait until it is deleted")
            if self._watch_if_there() and not self._wait(deadline):
                return self._give_up()
        return self._report_acquired()

    def _begin(self) -> None:
        self._losses = self.client.losses
        self.client.retry(self.client.ensure_path, self.path.rpartition("/")[0] or "/")

    def _create(self) -> bool:
        if self.lost:
            raise PlaceLostError
        try:
            self.client.create(self.path, self.owner.encode(), ephemeral=True)
        except (ConnectionLoss, NodeExistsError):
            if not self._is_ours():
                return False
        self.node = self.path
        self._session = self.client.session
        return True

    def _delete(self, node: str) -> None:
        """Delete our node, and never the node of another contender.

        When a session ends, kazoo drops its unsent requests. So a delete after an `exists` of the
        same session cannot delete a node of a later session.
        """
        while not self.lost:
            try:
                stat = self.client.exists(node)
                if stat is not None and stat.ephemeralOwner == self._session:
                    self.client.delete(node)
            except ConnectionLoss:
                continue
            except SessionExpiredError:  # or the session was closed
                pass
            return

    def _is_ours(self) -> bool:
        """Check the owner: the response to our create may have been lost with the connection."""
        stat = self.client.retry(self.client.exists, self.path)
        return stat is not None and stat.ephemeralOwner == self.client.session

    def _watch_if_there(self) -> bool:
        self.client.wakeup.clear()
        watch = self.client.wakeup.set
        return self.client.retry(self.client.exists, self.path, watch) is not None
