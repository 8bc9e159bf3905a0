"""End a command on ctrl-c or SIGTERM while it waits, never in the middle of a line or a file.

Either signal closes everything and ends the command with exit code 130. A second one raises
KeyboardInterrupt at once, wherever the program is.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_as_ctrl_c() -> Iterator[None]:
    """Make both signals raise KeyboardInterrupt, so that demo clients release their locks.

    SIGINT needs this in background jobs, which shells start with SIGINT ignored.
    """
    with _handled_by(signal.default_int_handler):
        yield


class Interrupts:
    """Holds back a signal until the program waits."""

    def __init__(self) -> None:
        self._is_requested = self._is_waiting = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals while the block runs."""
        with _handled_by(self._on_signal):
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Raise KeyboardInterrupt on a signal in this block, or at once after an earlier one."""
        self._is_waiting = True
        try:
            if self._is_requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._is_waiting = False

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        is_second, self._is_requested = self._is_requested, True
        if self._is_waiting or is_second:
            self._is_waiting = False
            raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
