"""Ctrl-c and SIGTERM end a command where it waits, and never in the middle of a line or a file.

SIGTERM counts as ctrl-c: both close everything and end with 130. Whoever asks twice does not want
to wait, and gets an exception wherever the program is.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """What was asked for, and whether this is a moment to obey."""

    def __init__(self) -> None:
        self._asked = self._armed = False

    @contextmanager
    def obeyed(self) -> Iterator[None]:
        """Be the one who handles the signals, for as long as the block takes."""
        before = {number: signal.signal(number, self._signalled) for number in NUMBERS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for something: here a signal is obeyed, one that came before included."""
        self._armed = True
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._armed = False

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        is_impatient, self._asked = self._asked, True
        if self._armed or is_impatient:
            self._armed = False
            raise KeyboardInterrupt
