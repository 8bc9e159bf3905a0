"""Run one contender: `python -m zktop.demo [--json] [--until-stdin-closes] ORDER`.

ORDER is JSON, or `-` for the first line of stdin, which is no command line that others can read.

One contender as a process: what signals, a parent's words and a parent's death do to it.

Signals are waited for by a thread instead of being handled, because a handler would run in the
middle of whatever the main thread does, a lock of its own included.
"""

import argparse
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from zktop.demo.contender import DemoContender
from zktop.demo.messages import OnStep, read_order
from zktop.demo_types import ContenderOrder, ContenderStep
from zktop.errors import ExitCode, ZktopError

STOPPING = frozenset({signal.SIGINT, signal.SIGTERM})
HANG_UP_AFTER_S = 0.7  # a contender that does not hear: its session is closed under it
EXIT_AFTER_S = 1.5  # and then the process ends, whatever it is doing
PR_SET_PDEATHSIG = 1


def run_contender(order: ContenderOrder, say: OnStep, commands: TextIO | None = None) -> int:
    """Contend as ordered until done or told to stop; gives the exit code. For a main thread.

    `commands` are lines (`go`, `release`, `stop`, `cut SECONDS`); their end means stop.
    """
    contender = DemoContender(order, say)
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
def _stopped_by_signals(contender: DemoContender) -> Iterator[None]:
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


def _listen(contender: DemoContender, over: threading.Event) -> None:
    while not over.is_set():
        signal.sigwait(STOPPING)
        if not over.is_set():
            _stop(contender)


def _obey(contender: DemoContender, commands: TextIO) -> None:
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


def _stop(contender: DemoContender) -> None:
    """Ask nicely, then hang up, then leave: a server that does not answer cannot hold us."""
    contender.stop()
    for seconds, act in (
        (HANG_UP_AFTER_S, contender.hang_up),
        (EXIT_AFTER_S, lambda: os._exit(ExitCode.INTERRUPTED)),
    ):
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()


def main(order: str, *, json: bool = False, until_stdin_closes: bool = False) -> int:
    """Contend, and tell it on stdout."""
    try:
        text = sys.stdin.readline() if order == "-" else order
        commands = sys.stdin if until_stdin_closes else None
        return run_contender(read_order(text), _tell_json if json else _tell, commands)
    except ZktopError as problem:
        sys.stderr.write(f"{problem}\n")
        return int(problem.exit_code)


def _tell(step: ContenderStep) -> None:
    _write(step.line())


def _tell_json(step: ContenderStep) -> None:
    _write(step.json())


def _write(line: str) -> None:
    """Write for as long as anybody reads; a broken pipe is no reason to keep a lock."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m zktop.demo", description="One contender.")
    parser.add_argument("order", help="the order as JSON, or - for the first line of stdin")
    parser.add_argument("--json", action="store_true", help="tell in JSON lines")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the parent")
    parser.add_argument("--parent", type=int, help="die with this process")
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.parent is not None:
        die_with_parent(given.parent)
    code = main(given.order, json=given.json, until_stdin_closes=given.until_stdin_closes)
    os._exit(code)  # kazoo's threads may still be trying to reach a server
