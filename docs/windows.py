"""Records three windows with `zktop contend` in them, on a sandbox, as one text.

`python docs/windows.py [SECONDS [FILE]]`: first everybody is waited out in order; then the second
one is interrupted while it waits, and the third links up with the first.
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
WAITED_OUT: Final = "Everybody is waited out, in the order of coming"
INTERRUPTED: Final = "Again, with ctrl-c in the second: the third links up with the first"
HEAD: Final = """\
Three windows with one `zktop contend` each, on a new server started with `zktop sandbox`.
Recorded by docs/windows.py; times are UTC.
"""


class Window:
    """One terminal: a command, and what it prints."""

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
        """Wait until it has said this, so many times."""
        with self._news:
            said = self._news.wait_for(lambda: self._count(word) >= times, PATIENCE_S)
        if not said:
            raise TimeoutError(f"{self.command} has not said {word!r}: {self.lines}")

    def has_said(self, word: str) -> bool:
        """Tell whether it has said this by now."""
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
        """Wait until it is over; give the exit code."""
        code = self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code

    def close(self) -> None:
        """End it, however it is."""
        self._process.kill()
        self.ended()

    def text(self, number: int) -> Iterator[str]:
        """Give what is to be seen in it."""
        code = self.ended()
        yield f"--- window {number}"
        yield f"$ {' '.join(self.command)}"
        yield from self.lines
        yield f"$ echo $?\n{code}\n"


@contextmanager
def sandbox() -> Iterator[str]:
    """Give the address of a server of our own."""
    command = [*ZKTOP, "sandbox", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield (process.stdout.readline() if process.stdout else b"").decode().strip()
        finally:
            process.terminate()


@contextmanager
def queue(hosts: str, hold_s: int) -> Iterator[Sequence[Window]]:
    """Give three windows, whose contenders came in their order, while the first one worked."""
    with ExitStack() as stack:
        windows: list[Window] = []
        for name in NAMES:
            window = Window(name, hosts, f"{hold_s}s")
            stack.callback(window.close)
            window.until("listed")
            windows.append(window)
        if windows[0].has_said("gives"):
            raise TooSlowError
        yield windows


class TooSlowError(Exception):
    """The first had done its work before the last one came."""


def waited_out(hold_s: int) -> Sequence[str]:
    """Give what is said when everybody is waited out."""
    with sandbox() as hosts, queue(hosts, hold_s) as windows:
        return seen(windows)


def interrupted(hold_s: int) -> Sequence[str]:
    """Give what is said when the second one is interrupted."""
    with sandbox() as hosts, queue(hosts, hold_s) as windows:
        windows[2].until("watches")
        windows[1].interrupt()
        windows[2].until("watches", times=2)
        return seen(windows)


def seen(windows: Sequence[Window]) -> Sequence[str]:
    """Give what is in the windows once all is over."""
    return [line for number, one in enumerate(windows, 1) for line in one.text(number)]


def recorded(hold_s: int) -> Sequence[str]:
    """Give the whole text; a slow machine gets more time."""
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
