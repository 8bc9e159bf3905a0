"""Base classes of the recipes: the description of a recipe, and the steps that recipes share."""

import contextlib
import re
from collections.abc import Iterable
from typing import ClassVar

from kazoo.exceptions import ConnectionLoss, NoNodeError, SessionExpiredError

from zktop.demo.client import LockClient, Timeout, Watch
from zktop.demo_types.contender_order import Flaw, LockClaim, Mode, RecipeInfo
from zktop.errors import UsageError

SEQUENCE_NUMBER = r"(-?\d{9,10})$"


class PlaceLostError(Exception):
    """The contender's own node is gone: its session expired, or the node was deleted."""


class LockRefusedError(Exception):
    """The client library refuses to use this lock; the message says why."""


class Recipe:
    """One way to contend for a lock, as a client would write it.

    The class attributes describe it for the user; `info` collects them. A subclass implements
    `acquire`, and `RECIPES` lists it.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    brief: ClassVar[str]  # one short line, for a list of recipes
    creates: ClassVar[str]
    lists: ClassVar[str]
    decides: ClassVar[str]
    watches: ClassVar[str]
    modes: ClassVar[tuple[Mode, ...]] = ("exclusive",)
    flaws: ClassVar[tuple[Flaw, ...]] = ()
    broken: ClassVar[str | None] = None  # what is wrong with it even without a flaw
    joins: ClassVar[tuple[str, ...]] = ()  # layouts of locks that it can queue in

    @classmethod
    def info(cls) -> RecipeInfo:
        """Describe this recipe for lists and dialogs."""
        story = (
            f"Creates {cls.creates}. Lists {cls.lists}. "
            f"Decides: {cls.decides}. Watches {cls.watches}."
        )
        return RecipeInfo(cls.name, cls.source, cls.brief, story, cls.modes, cls.flaws, cls.broken)

    def __init__(self, client: LockClient, claim: LockClaim, owner: str) -> None:
        self.client = client
        self.claim = claim
        self.path = claim.path
        self.owner = owner
        self.mode: Mode = claim.mode or self.modes[0]
        self.node: str | None = None  # the path of the contender's own node
        self.holds = False
        self._losses = client.losses

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock; after a timeout, delete the node and return False."""
        raise NotImplementedError

    def release(self) -> None:
        """Release the lock, or leave the queue."""
        if self.node:
            self._report_releasing()
            self._delete(self.node)
            self._report_released()

    def cancel(self) -> None:
        """End a waiting `acquire`; called from another thread."""
        self.client.wakeup.stop()

    @property
    def lost(self) -> bool:
        """True if the session that the node belongs to is gone."""
        return self.client.losses != self._losses

    def _has_flaw(self, flaw: Flaw) -> bool:
        return self.claim.flaw == flaw.name

    def _begin(self) -> None:
        """Note the current session, and create the lock node."""
        self._losses = self.client.losses
        self.client.retry(self.client.ensure_path, self.path)

    def _report_decision(self, says: str) -> None:
        self.client.reporter.report("decided", says, lock=self.path)

    def _report_acquired(self) -> bool:
        self.holds = True
        says = f"acquired {self.path}" + ("" if self.mode == "exclusive" else f" ({self.mode})")
        self.client.reporter.report("acquired", says, lock=self.path, node=self.node)
        return True

    def _give_up(self) -> bool:
        """Delete the node, so that it blocks no other contender."""
        node = self.node
        if node:
            self._delete(node)
        self.node = None
        says = f"gave up on {self.path}"
        self.client.reporter.report("gave-up", says, lock=self.path, node=node)
        return False

    def _wait(self, deadline: Timeout) -> bool:
        """Wait for a watch or a command; False after the timeout."""
        return self.client.wakeup.wait(deadline.left)

    def _delete(self, node: str) -> None:
        with contextlib.suppress(NoNodeError, SessionExpiredError):  # gone with its session
            self.client.retry(self.client.delete, node)
        self.client.created.discard(node)

    def _report_releasing(self) -> None:
        """Report before the delete, after which another contender can acquire the lock."""
        if self.holds:
            self.client.reporter.report("releasing", f"releasing {self.path}", lock=self.path)

    def _report_released(self) -> None:
        what = f"released {self.path}" if self.holds else f"left the queue of {self.path}"
        says = f"lost {self.path} with the session" if self.lost else what
        self.client.reporter.report("released", says, lock=self.path, node=self.node)
        self.node, self.holds = None, False


class QueueRecipe(Recipe):
    """A recipe whose contenders queue up as ephemeral sequential nodes below the lock."""

    lists = "the queue, and again after each notification"
    pattern: ClassVar[str]  # regular expression for the part of a node's name before the number

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
        """Watch a node with `exists`; False if it is already gone."""
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
        numbers = {name: int(found[1]) for name in names if (found := re.match(pattern, name))}
        return sorted(numbers, key=numbers.__getitem__)

    def _place(self, me: str, queue: list[str]) -> int:
        """Our place in the queue, from 0; PlaceLostError if our node is not in it."""
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


def flaw_of(recipe: type[Recipe], name: str) -> Flaw:
    """Find a flaw by name; raise UsageError with the list of flaws if there is none."""
    for flaw in recipe.flaws:
        if flaw.name == name:
            return flaw
    known = ", ".join(flaw.name for flaw in recipe.flaws) or "none"
    raise UsageError(f"recipe {recipe.name} has no flaw {name!r}; it has: {known}")
