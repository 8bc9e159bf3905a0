"""One contender: connect, acquire its locks in order, work, release them, and repeat."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    SessionExpiredError,
)
from msgspec.structs import replace

from zktop.demo.client import LockClient, connect
from zktop.demo.locked_work import LockedWork, WorkFailedError
from zktop.demo.parse_order import check_path
from zktop.demo.recipes import LockRefusedError, PlaceLostError, Recipe, recipe_of
from zktop.demo.step_reporter import OnStep, StepReporter
from zktop.demo.stoppable_wait import StoppableEvent, StoppedError, Timeout
from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.errors import ExitCode, UsageError

RETRY_PAUSE_S = 0.1  # after a failed round, so as not to hammer a server that rejects requests
EXIT_NOT_DONE = 1  # no round succeeded. `flock` uses the same exit code.


class DemoContender:
    """One contender. Call `run` from one thread, and the other methods from any thread."""

    def __init__(self, order: ContenderOrder, on_step: OnStep) -> None:
        """Refuse an invalid order before connecting."""
        self.order = order = checked_order(order)
        self.wakeup = StoppableEvent()
        self.reporter = StepReporter(order.name, on_step)
        self._go = threading.Semaphore(0)
        self._client: LockClient | None = None
        self._waiting: Recipe | None = None
        self._work: LockedWork | None = None
        self._done = 0
        self._has_failed_work = False
        self._retry_pause_s = 0.0

    def run(self) -> int:
        """Carry out the order and return the exit code."""
        try:
            self._client = connect(self.order.connection, self.reporter, self.wakeup)
            self._rounds()
        except StoppedError:
            self.reporter.report("ended", "stopped")
            return ExitCode.INTERRUPTED
        finally:
            if self._client is not None:
                self._client.end()
        why_not_done = (
            "ended after its work failed" if self._has_failed_work else "ended without the lock"
        )
        self.reporter.report("ended", "done" if self._done else why_not_done)
        return ExitCode.FINE if self._done else EXIT_NOT_DONE

    def go(self) -> None:
        """Open the next gate."""
        self._go.release()
        self.wakeup.set()

    def release(self) -> None:
        """End the work of this round, so that the locks are released."""
        if self._work is not None:
            self._work.end()

    def cut(self, seconds: float) -> None:
        """Cut the connection for a while."""
        if self._client is not None:
            self._client.cut(seconds)

    def stop(self) -> None:
        """Release everything and end."""
        self.wakeup.stop()
        if self._waiting is not None:
            self._waiting.cancel()

    def hang_up(self) -> None:
        """Close the session of a contender that does not react to `stop`."""
        if self._client is not None:
            self._client.end()

    def _rounds(self) -> None:
        rounds = count() if self.order.rounds == 0 else range(self.order.rounds)
        for number in rounds:
            if number:
                self._pause()
            done = self._round()
            self._done += done
            self._retry_pause_s = 0.0 if done else RETRY_PAUSE_S

    def _pause(self) -> None:
        deadline = Timeout(max(self.order.pause_s, self._retry_pause_s))
        while not deadline.over:
            self.wakeup.clear()
            self.wakeup.wait(deadline.left)

    def _round(self) -> bool:
        """Acquire every lock, work, release in reverse order. Return whether it succeeded."""
        assert self._client is not None  # noqa: S101  `run` connected it
        held: list[Recipe] = []
        self._work = LockedWork(self.order, self._client, held)
        try:
            with self._releasing(held):
                if not all(self._acquire(claim, held) for claim in self.order.claims):
                    return False
                self._work.run()
        except ConnectionClosedError:  # `hang_up` has closed it
            raise StoppedError from None
        except (PlaceLostError, SessionExpiredError, ConnectionLoss) as loss:
            sentence = f"{_why_lost(loss, held)}: the place in the queue is lost"
            self.reporter.report("failed", sentence)
            return False
        except KazooException as refusal:
            name = type(refusal).__name__.removesuffix("Error")
            self.reporter.report("failed", f"ZooKeeper refused: {name} {refusal}".rstrip())
            return False
        except LockRefusedError as refusal:
            self.reporter.report("failed", str(refusal))
            return False
        except WorkFailedError as failure:
            self._has_failed_work = True
            self.reporter.report("failed", f"{failure}; the locks are released anyway")
            return False
        return True

    def _acquire(self, claim: LockClaim, held: list[Recipe]) -> bool:
        assert self._client is not None  # noqa: S101  `run` connected it
        if claim.gate:
            self._wait_at_gate(claim, held)
        recipe = recipe_of(claim)(self._client, claim, self.order.name)
        held.append(recipe)
        self._waiting = recipe
        self.wakeup.check()
        try:
            return recipe.acquire(claim.timeout_s)
        finally:
            self._waiting = None

    def _wait_at_gate(self, claim: LockClaim, held: list[Recipe]) -> None:
        sentence = f"waits for `go` before it requests {claim.path}"
        self.reporter.report("waiting", sentence, lock=claim.path)
        self.wakeup.clear()
        while not self._go.acquire(blocking=False):
            self.wakeup.wait()
            if any(recipe.lost for recipe in held):
                raise PlaceLostError
            self.wakeup.clear()

    @contextmanager
    def _releasing(self, held: list[Recipe]) -> Iterator[None]:
        """Release all locks in reverse order, even if releasing one of them fails."""
        with ExitStack() as releases:
            try:
                yield
            finally:
                for recipe in held:
                    releases.callback(recipe.release)


def _why_lost(loss: Exception, held: list[Recipe]) -> str:
    """Return why a contender has lost its place in the queue."""
    if isinstance(loss, SessionExpiredError) or any(recipe.lost for recipe in held):
        return "the session expired"
    is_cut = isinstance(loss, ConnectionLoss)
    return "the connection was lost" if is_cut else "its node was deleted"


def checked_order(order: ContenderOrder) -> ContenderOrder:
    """Return the order with all modes filled in, or raise UsageError if it is invalid."""
    if not order.name.strip():
        raise UsageError("a contender needs a name")
    for claim in order.claims:
        check_path(claim.path, order)
    recipes = [recipe_of(claim) for claim in order.claims]
    claims = (
        replace(claim, mode=claim.mode or recipe.modes[0])
        for claim, recipe in zip(order.claims, recipes, strict=True)
    )
    return replace(order, claims=tuple(claims))
