"""How a contender waits: until something rings, its time is over, or it is told to stop."""

import threading
import time


class StoppedError(Exception):
    """The contender was told to stop: release what it holds and go."""


class Patience:
    """How long somebody is ready to wait; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        """Start counting now."""
        self._until = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The seconds that are left, at least 0."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left == 0.0


class Bell:
    """Rung by watches, by changes of the connection and by commands; one thread waits for it."""

    def __init__(self) -> None:
        """Be silent."""
        self._rung = threading.Event()
        self._stopped = False

    def ring(self, *_event: object) -> None:
        """Wake whoever waits. Takes what kazoo passes to watches, and ignores it."""
        self._rung.set()

    def silence(self) -> None:
        """Forget earlier rings; do this before setting the watch that shall ring."""
        self._rung.clear()
        self.check()

    def stop(self) -> None:
        """Make this wait and every later one end at once."""
        self._stopped = True
        self._rung.set()

    def check(self) -> None:
        """Raise if the contender was told to stop."""
        if self._stopped:
            raise StoppedError

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for a ring; False when there was none in time."""
        rung = self._rung.wait(seconds)
        self.check()
        return rung
