"""Record three windows that run `zktop contend` on a sandbox, as one text.

`python docs/windows.py [SECONDS [FILE]]`: first all three acquire the lock in turn. Then the
second one is interrupted while it waits, and the third must watch the first.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

ZKTOP: Final = (sys.executable, "-m", "zktop")
LOCK: Final = "/zktop-demo/lockKey_7"
NAMES: Final = ("one", "two", "three")
PATIENCE_S: Final = 30.0
WAITED_OUT: Final = "All three acquire the lock, in the order of their arrival"
INTERRUPTED: Final = "Again, with ctrl-c in the second window: the third now watches the first"
HEAD: Final = """\
Three windows with one `zktop contend` each, on a new server started with `zktop sandbox`.
Recorded by docs/windows.py; times are UTC.
"""


class Window:
    """One terminal: a command, and its output."""

    def __init__(self, name: str, hosts: str, hold: str) -> None:
        self.command = ("zktop", "contend", "get-watch", LOCK, "--id", name, "--hold", hold)
        self.lines: list[str] = []
        self._news = threading.Condition()
        arguments = (*ZKTOP, *self.command[1:], "--hosts", hosts)
        self._process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()

    def until(self, word: str, times: int = 1) -> None:
        """Wait until this word has been printed so many times."""
        with self._news:
            said = self._news.wait_for(lambda: self._count(word) >= times, PATIENCE_S)
        if not said:
            raise TimeoutError(f"{self.command} has not printed {word!r}: {self.lines}")

    def has_said(self, word: str) -> bool:
        """Whether this word has been printed so far."""
        with self._news:
            return self._count(word) > 0

    def _count(self, word: str) -> int:
        return sum(word in line for line in self.lines)

    def interrupt(self) -> None:
        """Press ctrl-c."""
        with self._news:
            self.lines.append("^C")
        self._process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """Wait for the end of the command; return its exit code."""
        code = self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code

    def close(self) -> None:
        """Kill the command if it still runs."""
        self._process.kill()
        self.ended()

    def text(self, number: int) -> Iterator[str]:
        """Yield the lines of the window, and the exit code."""
        code = self.ended()
        yield f"--- window {number}"
        yield f"$ {' '.join(self.command)}"
        yield from self.lines
        yield f"$ echo $?\n{code}\n"


@contextmanager
def sandbox() -> Iterator[str]:
    """Start a sandbox server; yield its address."""
    command = [*ZKTOP, "sandbox", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield (process.stdout.readline() if process.stdout else b"").decode().strip()
        finally:
            process.terminate()


@contextmanager
def queue(hosts: str, hold_s: int) -> Iterator[Sequence[Window]]:
    """Yield three windows, whose contenders queued in order while the first one worked."""
    with ExitStack() as stack:
        windows: list[Window] = []
        for name in NAMES:
            window = Window(name, hosts, f"{hold_s}s")
            stack.callback(window.close)
            window.until("listed")
            windows.append(window)
        if windows[0].has_said("releasing"):
            raise TooSlowError
        yield windows


class TooSlowError(Exception):
    """The first contender released its lock before the last one came."""


def waited_out(hold_s: int) -> Sequence[str]:
    """Return what is printed when all three acquire the lock."""
    with sandbox() as hosts, queue(hosts, hold_s) as windows:
        return seen(windows)


def interrupted(hold_s: int) -> Sequence[str]:
    """Return what is printed when the second one is interrupted."""
    with sandbox() as hosts, queue(hosts, hold_s) as windows:
        windows[2].until("watches")
        windows[1].interrupt()
        windows[2].until("watches", times=2)
        return seen(windows)


def seen(windows: Sequence[Window]) -> Sequence[str]:
    """Return the text of the windows after all commands have ended."""
    return [line for number, one in enumerate(windows, 1) for line in one.text(number)]


def recorded(hold_s: int) -> Sequence[str]:
    """Return the whole text; a slow machine gets more time."""
    try:
        with ThreadPoolExecutor() as pool:
            first, second = pool.map(lambda act: act(hold_s), (waited_out, interrupted))
    except TooSlowError:
        return recorded(2 * hold_s)
    return [HEAD, f"== {WAITED_OUT}\n", *first, f"== {INTERRUPTED}\n", *second]


if __name__ == "__main__":
    given = sys.argv[1:]
    text = "\n".join(recorded(int(given[0]) if given else 13))
    file = Path(given[1]) if given[1:] else Path(__file__).parent / "contend.txt"
    file.write_text(text, encoding="utf-8")
