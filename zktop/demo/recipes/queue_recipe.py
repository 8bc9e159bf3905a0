"""The steps of all recipes whose contenders queue up: join, list the queue, watch, and leave.

If the connection breaks while a contender joins, it looks for its own node before it tries again.
"""

import re
from collections.abc import Iterable
from typing import ClassVar

from kazoo.exceptions import ConnectionLoss

from zktop.demo.client import Watch
from zktop.demo.recipes.recipe import PlaceLostError, Recipe
from zktop.demo.stoppable_wait import Timeout

SEQUENCE_NUMBER = r"(-?\d{9,10})$"


class QueueRecipe(Recipe):
    """A recipe whose contenders queue up as ephemeral sequential nodes below the lock."""

    lists = "the queue, and again after each notification"
    pattern: ClassVar[str]  # regular expression for a node's name without the number at the end

    def acquire(self, timeout: float | None = None) -> bool:
        """Queue up, and wait until no node before ours excludes it."""
        return self._wait_in_line(Timeout(timeout))

    def _wait_in_line(self, deadline: Timeout) -> bool:
        me = self._join()
        while ahead := self._ahead(me):
            self._report_decision(f"{ahead[-1]} is ahead of {me}")
            if self._watch(ahead[-1]) and not self._wait(deadline):
                return self._give_up()
        self._report_decision(f"{me} is first")
        return self._report_acquired()

    def _ahead(self, me: str) -> list[str]:
        """List the queue, and return the nodes that exclude ours."""
        queue = self._queue()
        return queue[: self._place(me, queue)]

    def _watch(self, name: str) -> bool:
        """Watch a node with `exists`. Return False if it is already gone."""
        self.client.wakeup.clear()
        node = f"{self.path}/{name}"
        return self.client.retry(self.client.exists, node, self.client.wakeup.set) is not None

    def _prefix(self) -> str:
        return self.pattern

    def _join(self) -> str:
        """Create our node and return its name.

        The response may be lost with the connection. A blind retry could create a second node,
        so first check whether the node exists.
        """
        self._begin()
        self.node = None
        while self.node is None:
            try:
                self.node = self._create()
            except ConnectionLoss:
                self._check_session()
                self.node = self._find_unanswered()
        return self.node.rpartition("/")[2]

    def _create(self, *, ephemeral: bool = True) -> str:
        path, data = f"{self.path}/{self._prefix()}", self.owner.encode()
        return self.client.create(path, data, ephemeral=ephemeral, sequence=True)

    def _find_unanswered(self) -> str | None:
        """Find a node of our session whose create got no response."""
        for name in self._queue():
            node = f"{self.path}/{name}"
            stat = self.client.retry(self.client.exists, node)
            if (
                stat
                and stat.ephemeralOwner == self.client.session
                and node not in self.client.created
            ):
                self.client.created.add(node)
                self._report_decision(f"the response was lost, but {name} is its own node")
                return node
        return None

    def _queue(self, watch: Watch | None = None) -> list[str]:
        """Return the names in the queue, sorted by sequence number."""
        return self._sort_by_number(self.client.retry(self.client.get_children, self.path, watch))

    def _sort_by_number(self, names: Iterable[str]) -> list[str]:
        pattern = f"(?:{self.pattern}){SEQUENCE_NUMBER}"
        matches = [match for name in names if (match := re.match(pattern, name))]
        return [match.string for match in sorted(matches, key=lambda match: int(match[1]))]

    def _place(self, me: str, queue: list[str]) -> int:
        """Return our place in the queue, from 0. Raise PlaceLostError if our node is not in it."""
        self._check_session()
        if me not in queue:
            raise PlaceLostError
        return queue.index(me)

    def _check_session(self) -> None:
        if self.lost:
            raise PlaceLostError


class HerdRecipe(QueueRecipe):
    """A queue in which every contender watches all children: each change wakes all of them."""

    watches = "the children of the lock, so every change wakes every client: a herd"

    def _queue(self, watch: Watch | None = None) -> list[str]:
        self.client.wakeup.clear()
        return super()._queue(watch or self.client.wakeup.set)

    def _watch(self, name: str) -> bool:
        return True  # the listing has set the watch
