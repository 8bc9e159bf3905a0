"""One contender as a process: what signals, a parent's words and a parent's death do to it.

Signals are waited for by a thread instead of being handled, because a handler would run in the
middle of whatever the main thread does, a lock of its own included.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from zktop.demo.contender import Contender
from zktop.demo.narration import Say
from zktop.demo.order import Order
from zktop.errors import ExitCode

STOPPING = frozenset({signal.SIGINT, signal.SIGTERM})
HANG_UP_AFTER_S = 0.7  # a contender that does not hear: its session is closed under it
EXIT_AFTER_S = 1.5  # and then the process ends, whatever it is doing
PR_SET_PDEATHSIG = 1


def contend(order: Order, say: Say, commands: TextIO | None = None) -> int:
    """Contend as ordered until done or told to stop; gives the exit code. For a main thread.

    `commands` are lines (`go`, `release`, `stop`, `cut SECONDS`); their end means stop.
    """
    contender = Contender(order, say)
    with _stopped_by_signals(contender):
        if commands is not None:
            threading.Thread(target=_obey, args=(contender, commands), daemon=True).start()
        return contender.run()


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent is gone, where it can.

    SIGKILL, because a process that stands still would never see anything milder. Elsewhere the
    end of `commands` does it, and a stopped process gets the SIGHUP of an orphaned process group.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(ExitCode.INTERRUPTED)


@contextmanager
def _stopped_by_signals(contender: Contender) -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    over = threading.Event()
    listener = threading.Thread(target=_listen, args=(contender, over), daemon=True)
    listener.start()
    try:
        yield
    finally:
        over.set()
        if listener.ident is not None and listener.is_alive():
            signal.pthread_kill(listener.ident, signal.SIGTERM)
        listener.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _listen(contender: Contender, over: threading.Event) -> None:
    while not over.is_set():
        signal.sigwait(STOPPING)
        if not over.is_set():
            _stop(contender)


def _obey(contender: Contender, commands: TextIO) -> None:
    for line in commands:
        word, _, argument = line.strip().partition(" ")
        match word:
            case "go":
                contender.go()
            case "release":
                contender.release()
            case "cut":
                contender.cut(float(argument))
            case "stop":
                _stop(contender)
    _stop(contender)


def _stop(contender: Contender) -> None:
    """Ask nicely, then hang up, then leave: a server that does not answer cannot hold us."""
    contender.stop()
    for seconds, act in (
        (HANG_UP_AFTER_S, contender.hang_up),
        (EXIT_AFTER_S, lambda: os._exit(ExitCode.INTERRUPTED)),
    ):
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()
