"""How a contender waits: for an event, until a timeout, or until it is stopped."""

import threading
import time


class StoppedError(Exception):
    """The contender must release its locks and end."""


class Timeout:
    """A timeout that starts when it is created. With None it never expires."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The remaining seconds, at least 0, or None without a timeout."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    @property
    def over(self) -> bool:
        return self.left == 0.0


class StoppableEvent:
    """An event set by watches, connection changes and commands. One thread waits for it.

    After `stop`, every wait raises `StoppedError`.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._stopped = False

    def set(self, *_event: object) -> None:
        """Wake the waiting thread. It takes an event so that kazoo can call it as a watch."""
        self._event.set()

    def clear(self) -> None:
        """Forget earlier events. Call it before setting a watch."""
        self._event.clear()
        self.check()

    def stop(self) -> None:
        """End the current wait and every later one."""
        self._stopped = True
        self._event.set()

    def check(self) -> None:
        """Raise if `stop` was called."""
        if self._stopped:
            raise StoppedError

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until set. Return False after a timeout."""
        is_set = self._event.wait(seconds)
        self.check()
        return is_set
