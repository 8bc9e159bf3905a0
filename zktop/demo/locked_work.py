"""What a contender does while it holds its locks: work, freeze, fail, die or never release."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Mapping

from zktop.demo.client import LockClient
from zktop.demo.recipes import Recipe
from zktop.demo.stoppable_wait import StoppableEvent, Timeout
from zktop.demo_types.contender_order import ContenderOrder, WorkStyle

MICROSECONDS = 1_000_000


class WorkFailedError(Exception):
    """Raised by the work style `raise`."""


class LockedWork:
    """The work of a contender while it holds its locks, in one of the `WORK_STYLES`."""

    def __init__(self, order: ContenderOrder, client: LockClient, held: list[Recipe]) -> None:
        self.order = order
        self.client = client
        self._held = held
        self._released = threading.Event()

    def run(self) -> None:
        """Work until it is done, released or stopped, or a lock is lost."""
        WORK_STYLES[self.order.work](self)

    def end(self) -> None:
        """End the work, so that the locks are released. Called from another thread."""
        self._released.set()
        self.client.wakeup.set()

    def report(self, sentence: str) -> None:
        self.client.reporter.report("working", sentence, lock=self._held[-1].path)

    def hold(self) -> None:
        """Hold for the ordered time, or until the session is lost."""
        deadline = Timeout(self.order.hold_s)
        while not (deadline.over or self._released.is_set() or self.lost):
            wakeup: StoppableEvent = self.client.wakeup
            wakeup.clear()
            if not (self._released.is_set() or self.lost):
                wakeup.wait(deadline.left)
        if self.lost:
            self.report("the session expired during the work: the lock is lost")

    @property
    def lost(self) -> bool:
        """True if a lock was lost with its session."""
        return any(recipe.lost for recipe in self._held)


def _hold(work: LockedWork) -> None:
    until = "until it is released" if work.order.hold_s is None else f"for {work.order.hold_s:g} s"
    work.report(f"works {until}")
    work.hold()


def _oversleep(work: LockedWork) -> None:
    """Block the process like a long garbage collection: not even heartbeats are sent.

    A C function that keeps the interpreter lock stops every thread.
    """
    work.report(f"freezes for {work.order.sleep_s:g} s and sends no heartbeats")
    ctypes.PyDLL(None).usleep(int(work.order.sleep_s * MICROSECONDS))
    work.report("wakes up, and still believes that it holds the lock")
    work.hold()


def _raise(work: LockedWork) -> None:
    _hold(work)
    raise WorkFailedError("the work raised an exception")


def _die(work: LockedWork) -> None:
    _hold(work)
    work.report("dies without closing its session")
    os.kill(os.getpid(), signal.SIGKILL)


def _never(work: LockedWork) -> None:
    _hold(work)
    work.report("is done but forgets to release")
    while not work.lost:
        work.client.wakeup.clear()
        work.client.wakeup.wait()


WORK_STYLES: Mapping[WorkStyle, Callable[[LockedWork], None]] = {
    "hold": _hold,
    "oversleep": _oversleep,
    "raise": _raise,
    "die": _die,
    "never": _never,
}
