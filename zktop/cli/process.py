"""Ctrl-c and SIGTERM end a command where it waits, and never in the middle of a line or a file.

SIGTERM counts as ctrl-c: both close everything and end with 130. Whoever asks twice does not want
to wait, and gets an exception wherever the program is.

When to look for garbage: not while much is made that stays.

What was imported or read first lives until the end. Python's collector would look through all of
it again and again while it grows, and find nothing. Afterwards it needs to look less often than it
does by itself: what we drop holds no circles, and is gone without it.

The program begins with this, so it imports nothing that would be collected already.

A sandbox server as a child process, for as long as a command needs one.
"""

import gc
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from zktop.errors import NoConnectionError

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


SELDOM = 5_000  # more objects made than dropped; Python's own figure is 700


class uncollected:  # noqa: N801  called as those of `contextlib` are
    """Leave what the block makes alone, now and later."""

    def __enter__(self) -> None:
        """Stop looking."""
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        """Never look at what is there now; at the rest, seldom."""
        gc.freeze()
        gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
        if self._was_enabled:
            gc.enable()


@contextmanager
def sandbox() -> Iterator[str]:
    """Start one on a free port and give its address; it ends with us, whatever we die of."""
    command = [sys.executable, "-m", "zktop.sandbox", "--port", "0", "--until-stdin-closes"]
    server = subprocess.Popen(  # noqa: S603  our own program, our own arguments
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # ctrl-c is for us: contenders still have to say good-bye to it
    )
    with server:
        address = server.stdout.readline().strip() if server.stdout else ""
        if not address:
            raise NoConnectionError("The sandbox server did not start; its reason is above.")
        try:
            yield address
        finally:
            server.terminate()
