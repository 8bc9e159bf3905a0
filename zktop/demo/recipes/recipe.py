"""The base class of all recipes: the description of a recipe, and the steps that all share."""

import contextlib
from typing import ClassVar

from kazoo.exceptions import NoNodeError, SessionExpiredError

from zktop.demo.client import LockClient
from zktop.demo.step_reporter import time_stamp
from zktop.demo.stoppable_wait import Timeout
from zktop.demo_types.contender_order import Flaw, LockClaim, Mode, RecipeInfo
from zktop.errors import UsageError


class PlaceLostError(Exception):
    """The contender's own node is gone: its session expired, or the node was deleted."""


class LockRefusedError(Exception):
    """The client library refuses to use this lock. The message says why."""


class Recipe:
    """One way to contend for a lock, as a client would write it.

    The class attributes describe it for the user, and `info` collects them. A subclass implements
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
    broken: ClassVar[str | None] = None  # what is wrong with it, even without a flaw
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
        """Wait for the lock. After a timeout, delete the node and return False."""
        raise NotImplementedError

    def release(self) -> None:
        """Release the lock, or leave the queue."""
        if self.node:
            left_at = None if self.holds else time_stamp()
            self._report_releasing()
            self._delete(self.node)
            self._report_released(left_at)

    def cancel(self) -> None:
        """End a waiting `acquire`. Called from another thread."""
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
        node, left_at = self.node, time_stamp()
        if node:
            self._delete(node)
        self.node = None
        says = f"gave up on {self.path}"
        self.client.reporter.report("gave-up", says, lock=self.path, node=node, at=left_at)
        return False

    def _wait(self, deadline: Timeout) -> bool:
        """Wait for a watch or a command. Return False after the timeout."""
        return self.client.wakeup.wait(deadline.left)

    def _delete(self, node: str) -> None:
        with contextlib.suppress(NoNodeError, SessionExpiredError):  # gone with its session
            self.client.retry(self.client.delete, node)
        self.client.created.discard(node)

    def _report_releasing(self) -> None:
        """Report before the delete, after which another contender can acquire the lock."""
        if self.holds:
            self.client.reporter.report("releasing", f"releasing {self.path}", lock=self.path)

    def _report_released(self, left_at: str | None = None) -> None:
        """Report after the delete. `left_at` is from before it, for one that did not hold.

        Other contenders may be notified before the delete is answered.
        """
        what = f"released {self.path}" if self.holds else f"left the queue of {self.path}"
        says = f"lost {self.path} with the session" if self.lost else what
        self.client.reporter.report("released", says, lock=self.path, node=self.node, at=left_at)
        self.node, self.holds = None, False


def flaw_of(recipe: type[Recipe], name: str) -> Flaw:
    """Find a flaw by name, or raise UsageError with the list of flaws if there is none."""
    for flaw in recipe.flaws:
        if flaw.name == name:
            return flaw
    known = ", ".join(flaw.name for flaw in recipe.flaws) or "none"
    raise UsageError(f"recipe {recipe.name} has no flaw {name!r}; it has: {known}")
