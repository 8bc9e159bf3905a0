"""What a contender does while it holds its locks; the styles are those of real life."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Mapping

from zktop.demo.bell import Bell, Patience
from zktop.demo.client import Client
from zktop.demo.order import Order, Style
from zktop.demo.recipes import Recipe

MICROSECONDS = 1_000_000


class WorkFailedError(Exception):
    """The work raised, as work does."""


class Work:
    """The critical section of one contender."""

    def __init__(self, order: Order, client: Client, held: list[Recipe]) -> None:
        """Be about to work, under the locks that are held."""
        self.order = order
        self.client = client
        self._held = held
        self._released = threading.Event()

    def run(self) -> None:
        """Work as ordered, until done, released, stopped, or without a lock any more."""
        STYLES[self.order.work](self)

    def end(self) -> None:
        """Tell the worker to release; called from another thread."""
        self._released.set()
        self.client.bell.ring()

    def tell(self, says: str) -> None:
        """Tell what goes on."""
        self.client.narrator.tell("working", says, lock=self._held[-1].path)

    def hold(self) -> None:
        """Hold for as long as ordered; who lost the session has lost the locks, and stops."""
        patience = Patience(self.order.hold_s)
        while not (patience.over or self._released.is_set() or self.lost):
            bell: Bell = self.client.bell
            bell.silence()
            if not (self._released.is_set() or self.lost):
                bell.wait(patience.left)
        if self.lost:
            self.tell("the session was lost during the work: the lock is no longer ours")

    @property
    def lost(self) -> bool:
        """Whether one of the locks went away with its session."""
        return any(recipe.lost for recipe in self._held)


def _hold(work: Work) -> None:
    until = "until told" if work.order.hold_s is None else f"for {work.order.hold_s:g} s"
    work.tell(f"works {until}")
    work.hold()


def _oversleep(work: Work) -> None:
    """Stand still as in a long pause of the runtime: not even heartbeats are sent meanwhile.

    A C function that is called without letting go of the interpreter's lock stops every thread.
    """
    work.tell(f"stands still for {work.order.sleep_s:g} s, heartbeats and all")
    ctypes.PyDLL(None).usleep(int(work.order.sleep_s * MICROSECONDS))
    work.tell("is awake again, and still believes that it holds the lock")
    work.hold()


def _raise(work: Work) -> None:
    _hold(work)
    raise WorkFailedError("the work raised an exception")


def _die(work: Work) -> None:
    _hold(work)
    work.tell("dies, without a word to the server")
    os.kill(os.getpid(), signal.SIGKILL)


def _never(work: Work) -> None:
    _hold(work)
    work.tell("is done, and forgets to release")
    while not work.lost:
        work.client.bell.silence()
        work.client.bell.wait()


STYLES: Mapping[Style, Callable[[Work], None]] = {
    "hold": _hold,
    "oversleep": _oversleep,
    "raise": _raise,
    "die": _die,
    "never": _never,
}
