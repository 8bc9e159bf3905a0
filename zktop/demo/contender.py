"""The body of one contender: connect, take the locks in order, work, release, come again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    SessionExpiredError,
)

from zktop.demo.bell import Bell, Patience, StoppedError
from zktop.demo.client import Client, connect
from zktop.demo.narration import Narrator, Say
from zktop.demo.order import Claim, Order, check_path
from zktop.demo.recipes import PlaceLostError, Recipe, contending, recipe_for
from zktop.demo.witness import Witness
from zktop.demo.work import Work, WorkFailedError
from zktop.errors import ExitCode, UsageError

BREATH_S = 0.1  # after a round in vain, lest a contender hammers a server that refuses
NOT_DONE = 1  # as `flock` and `timeout` say it: a lock was never had, or the work failed


class Contender:
    """One contender; `run` belongs to one thread, the other methods to any."""

    def __init__(self, order: Order, say: Say) -> None:
        """Prepare; a wrong order is refused here, before anything is connected."""
        check(order)
        self.order = order
        self.bell = Bell()
        self.narrator = Narrator(order.name, say)
        self._go = threading.Semaphore(0)
        self._client: Client | None = None
        self._waiting: Recipe | None = None
        self._work: Work | None = None
        self._done = 0
        self._breath_s = 0.0

    def run(self) -> int:
        """Do everything that was ordered; gives the exit code."""
        try:
            self._client = connect(self.order.connection, self.narrator, self.bell)
            self._rounds()
        except StoppedError:
            self.narrator.tell("ended", "stopped")
            return ExitCode.INTERRUPTED
        finally:
            if self._client is not None:
                self._client.end()
        self.narrator.tell("ended", "done" if self._done else "ended without the lock")
        return ExitCode.FINE if self._done else NOT_DONE

    def go(self) -> None:
        """Open the next gate."""
        self._go.release()
        self.bell.ring()

    def release(self) -> None:
        """End the work of this round, so that the locks are released; it may not have begun."""
        if self._work is not None:
            self._work.end()

    def cut(self, seconds: float) -> None:
        """Cut the connection and stay away for a while."""
        if self._client is not None:
            self._client.cut(seconds)

    def stop(self) -> None:
        """Release everything and end."""
        self.bell.stop()
        if self._waiting is not None:
            self._waiting.cancel()

    def hang_up(self) -> None:
        """Close the session under a contender that does not hear `stop`."""
        if self._client is not None:
            self._client.end()

    def _rounds(self) -> None:
        rounds = count() if self.order.rounds == 0 else range(self.order.rounds)
        for number in rounds:
            if number:
                self._pause()
            done = self._round()
            self._done += done
            self._breath_s = 0.0 if done else BREATH_S

    def _pause(self) -> None:
        patience = Patience(max(self.order.pause_s, self._breath_s))
        while not patience.over:
            self.bell.silence()
            self.bell.wait(patience.left)

    def _round(self) -> bool:
        """Take every lock, work, release in reverse order; False if a lock was not to be had."""
        assert self._client is not None  # noqa: S101  `run` connected it
        held: list[Recipe] = []
        self._work = Work(self.order, self._client, held)
        try:
            with self._releasing(held):
                if not all(self._took(claim, held) for claim in self.order.claims):
                    return False
                with self._witnessed(held):
                    self._work.run()
        except ConnectionClosedError:  # hung up, because it did not hear `stop`
            raise StoppedError from None
        except (PlaceLostError, SessionExpiredError, ConnectionLoss):
            self.narrator.tell("failed", "the place in the queue was lost with the session")
            return False
        except KazooException as refusal:
            name = type(refusal).__name__.removesuffix("Error")
            self.narrator.tell("failed", f"ZooKeeper refused: {name} {refusal}".rstrip())
            return False
        except WorkFailedError as failure:
            self.narrator.tell("failed", f"{failure}; the locks are released all the same")
            return False
        return True

    def _took(self, claim: Claim, held: list[Recipe]) -> bool:
        assert self._client is not None  # noqa: S101  `run` connected it
        if claim.gate:
            self._wait_at_gate(claim, held)
        recipe = contending(self._client, claim, self.order.name)
        held.append(recipe)
        self._waiting = recipe
        self.bell.check()
        try:
            return recipe.acquire(claim.timeout_s)
        finally:
            self._waiting = None

    def _wait_at_gate(self, claim: Claim, held: list[Recipe]) -> None:
        says = f"waits for the word before it asks for {claim.path}"
        self.narrator.tell("waiting", says, lock=claim.path)
        self.bell.silence()
        while not self._go.acquire(blocking=False):
            self.bell.wait()
            if any(recipe.lost for recipe in held):
                raise PlaceLostError
            self.bell.silence()

    @contextmanager
    def _releasing(self, held: list[Recipe]) -> Iterator[None]:
        try:
            yield
        finally:
            for recipe in reversed(held):
                recipe.release()

    @contextmanager
    def _witnessed(self, held: list[Recipe]) -> Iterator[None]:
        """Have the server prove that nobody else is in, when the order asks for it."""
        if self.order.witness is None or self._client is None:
            yield
            return
        shares = held[-1].mode == "read"
        witness = Witness(self._client, self.order.witness, self.order.name, shares=shares)
        try:
            others = witness.enter()
        except KazooException:
            witness.leave()
            raise
        if others:
            says = f"not alone: {', '.join(others)} is in the critical section too"
            self.narrator.tell("clash", says, lock=held[-1].path)
        try:
            yield
        finally:
            witness.leave()


def check(order: Order) -> None:
    """Refuse an order that no contender could carry out, in one sentence."""
    if not order.name.strip():
        raise UsageError("a contender needs a name")
    for claim in order.claims:
        recipe_for(claim)
        check_path(claim.path, order)
    if order.witness is not None:
        check_path(order.witness, order)
