"""kazoo's own recipes, unchanged. zktop only reports their steps and can cancel them."""

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from kazoo.exceptions import (
    CancelledError,
    ConnectionClosedError,
    LockTimeout,
    NoNodeError,
    SessionExpiredError,
)

from zktop.demo.client import LockClient
from zktop.demo.recipes.recipe import LockRefusedError, PlaceLostError, Recipe
from zktop.demo.recipes.sequential import PERSISTENT
from zktop.demo.stoppable_wait import StoppedError, Timeout
from zktop.demo_types.contender_order import Flaw, LockClaim


class KazooLock(Recipe):
    """`client.Lock(path, identifier)`."""

    name = "kazoo-lock"
    source = "kazoo.recipe.lock.Lock"
    brief = "kazoo's Lock: watches the nearest lock node ahead"
    creates = "an ephemeral <uuid>__lock__<number> node with its name in it"
    lists = "the queue, and again after each notification"
    decides = "the smallest number has the lock"
    watches = "the nearest lock node ahead of its own, by reading it (get)"
    flaws: ClassVar[tuple[Flaw, ...]] = (PERSISTENT,)
    joins: ClassVar[tuple[str, ...]] = ("kazoo-lock",)

    def __init__(self, client: LockClient, claim: LockClaim, owner: str) -> None:
        super().__init__(client, claim, owner)
        self._kazoo = self._make_kazoo_recipe()

    def acquire(self, timeout: float | None = None) -> bool:
        options = {"ephemeral": False} if self._has_flaw(PERSISTENT) else {}
        if not _translate_errors(lambda: self._kazoo.acquire(timeout=timeout, **options)):
            return self._give_up()
        self._note_node(f"{self.path}/{self._kazoo.node}")
        return self._report_acquired()

    def release(self) -> None:
        if self.holds:
            self._report_releasing()
            self._kazoo.release()
            self._report_released()

    def cancel(self) -> None:
        super().cancel()
        self._kazoo.cancel()

    def _make_kazoo_recipe(self) -> Any:  # kazoo has no types
        return self.client.Lock(self.path, self.owner)

    def _note_node(self, node: str) -> None:
        """Note the node and the current session: kazoo may have gone through several sessions."""
        self._losses = self.client.losses
        if self.client.retry(self.client.exists, node) is None:
            raise PlaceLostError
        self.node = node


class KazooReadWrite(KazooLock):
    """`client.ReadLock(path, identifier)` and `client.WriteLock(path, identifier)`."""

    name = "kazoo-rw"
    source = "kazoo.recipe.lock.ReadLock and WriteLock"
    brief = "kazoo's ReadLock and WriteLock: readers share"
    creates = "an ephemeral <uuid>__rlock__<number> node to read, or __lock__ to write"
    decides = "a reader enters when no writer is ahead of it, a writer when no node is"
    watches = "the nearest node ahead of its own that excludes it, by reading it (get)"
    modes = ("read", "write")
    flaws: ClassVar[tuple[Flaw, ...]] = ()
    joins: ClassVar[tuple[str, ...]] = ("kazoo-lock",)

    def _make_kazoo_recipe(self) -> Any:  # kazoo has no types
        kind = self.client.ReadLock if self.mode == "read" else self.client.WriteLock
        return kind(self.path, self.owner)


class KazooSemaphore(KazooLock):
    """`client.Semaphore(path, identifier, max_leases)`."""

    name = "kazoo-semaphore"
    source = "kazoo.recipe.lock.Semaphore"
    brief = "kazoo's Semaphore: several clients may hold at once"
    creates = (
        "a node in a queue next to the pool and, once it is first there, an ephemeral <uuid> node "
        "in the pool: its lease"
    )
    lists = "the leases in the pool, while it is first in the queue"
    decides = "the first in the queue gets a lease while the pool has fewer than its maximum"
    watches = "the node ahead of it in the queue; once it is first, the children of the pool"
    modes = ("lease",)
    flaws: ClassVar[tuple[Flaw, ...]] = ()
    joins: ClassVar[tuple[str, ...]] = ("kazoo-semaphore",)

    def acquire(self, timeout: float | None = None) -> bool:
        try:
            is_acquired = _translate_errors(lambda: self._kazoo.acquire(timeout=timeout))
        except ValueError as refusal:  # the pool has a different number of leases
            raise LockRefusedError(f"kazoo refuses: {refusal}") from None
        if not is_acquired:
            return self._give_up()
        self._note_node(self._kazoo.create_path)
        return self._report_acquired()

    def _make_kazoo_recipe(self) -> Any:  # kazoo has no types
        return self.client.Semaphore(self.path, self.owner, max_leases=self.claim.leases)


class KazooElection(KazooLock):
    """`client.Election(path, identifier)`: kazoo calls a function while this contender leads."""

    name = "kazoo-election"
    source = "kazoo.recipe.election.Election"
    brief = "kazoo's Election: the holder leads, the others stand by"
    creates = "an ephemeral <uuid>__lock__<number> node: an election is a lock held forever"
    decides = "the smallest number leads until it ends or dies"
    watches = "the nearest node ahead of its own, by reading it (get)"
    modes = ("candidate",)
    flaws: ClassVar[tuple[Flaw, ...]] = ()
    joins: ClassVar[tuple[str, ...]] = ()

    def __init__(self, client: LockClient, claim: LockClaim, owner: str) -> None:
        super().__init__(client, claim, owner)
        self._done = threading.Event()
        self._campaign = threading.Thread(target=self._run, daemon=True)
        self._failure: Exception | None = None

    def acquire(self, timeout: float | None = None) -> bool:
        deadline = Timeout(timeout)
        self._campaign.start()
        self.client.wakeup.clear()  # before each check, so that a later election sets it
        while self.node is None:
            if deadline.over or not self._campaign.is_alive():
                self._kazoo.cancel()
                self._done.set()  # it may have been elected at this moment
                self._campaign.join()
                if self._failure:
                    raise self._failure
                return self._give_up()
            self.client.wakeup.wait(deadline.left)
            self.client.wakeup.clear()
        return self._report_acquired()

    def release(self) -> None:
        """End the function that runs while this contender leads."""
        if self.holds:
            self._report_releasing()
            self._done.set()
            self._campaign.join()
            self._report_released()
        self._done.set()

    def _make_kazoo_recipe(self) -> Any:  # kazoo has no types
        return self.client.Election(self.path, self.owner)

    def _run(self) -> None:
        try:
            _translate_errors(lambda: self._kazoo.run(self._lead))
        except (PlaceLostError, StoppedError) as failure:
            self._failure = failure
        self.client.wakeup.set()

    def _lead(self) -> None:
        self._note_node(f"{self.path}/{self._kazoo.lock.node}")
        self.client.wakeup.set()
        self._done.wait()


def _translate_errors(acquire: Callable[[], Any]) -> bool:
    """Call kazoo's `acquire`, and translate its exceptions to those of the other recipes."""
    try:
        return bool(acquire())
    except LockTimeout:
        return False
    except (CancelledError, ConnectionClosedError):
        raise StoppedError from None
    except (SessionExpiredError, NoNodeError):
        raise PlaceLostError from None
