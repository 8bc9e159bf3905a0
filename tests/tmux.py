"""Runs a program in tmux, sends keys to it, and reads its screen."""

import contextlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from waiting import source_of

from zktop.ui.screens import PAGES

ZKTOP = (sys.executable, "-m", "zktop")
PATIENCE_S = 40.0
CLEARED = ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM", "TEXTUAL_THEME")


class Terminal:
    """One tmux window with one program, which has its own home folder."""

    def __init__(self, name: str, home: Path) -> None:
        self._name, self._home = name, home

    def text(self) -> str:
        """The text on the screen."""
        return self._tmux("capture-pane", "-p", "-t", "0")

    def press(self, *keys: str) -> None:
        """Press keys, named as in tmux."""
        self._tmux("send-keys", "-t", "0", *keys)

    def resize(self, columns: int, lines: int) -> None:
        """Resize the window."""
        self._tmux("resize-window", "-t", "0", "-x", str(columns), "-y", str(lines))

    def until(self, is_there: str | Callable[[str], bool], within_s: float = PATIENCE_S) -> float:
        """Wait until the screen shows this; return the seconds that it took."""
        begin = time.monotonic()
        wanted = source_of(is_there) if callable(is_there) else repr(is_there)
        test = is_there if callable(is_there) else lambda text: is_there in text
        while not test(text := self.text()):
            assert time.monotonic() - begin < within_s, (
                f"after {within_s:g} s the screen does not show {wanted}:\n{text}"
            )
            time.sleep(0.02)  # between two readings of the screen
        return time.monotonic() - begin

    def type(self, text: str) -> None:
        """Type a text, letter by letter."""
        self._tmux("send-keys", "-t", "0", "-l", text)

    def family(self) -> list[int]:
        """All processes that descend from this program, also detached ones."""
        mark = f"XDG_STATE_HOME={self._home}".encode()
        return [pid for pid in _processes() if mark in _environment(pid)]

    def contenders(self) -> list[int]:
        """The demo contenders among them."""
        return [pid for pid in self.family() if b"zktop.demo" in _command(pid)]

    def logged(self) -> str:
        """The errors in the UI's log."""
        return "".join(one.read_text() for one in self._home.rglob("*.log"))

    @property
    def pid(self) -> int:
        """The process in the window."""
        return int(self._tmux("display-message", "-p", "-t", "0", "#{pane_pid}"))

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program once it has ended; None while it runs."""
        said = self._tmux("display-message", "-p", "-t", "0", "#{pane_dead} #{pane_dead_status}")
        is_dead, _, code = said.strip().partition(" ")
        if is_dead == "1" and not code:
            self._tmux("run-shell", "true")  # tmux may miss the end of a child until then
        return int(code) if is_dead == "1" and code else None

    def _tmux(self, *words: str) -> str:
        return _tmux(self._name, *words)


@contextlib.contextmanager
def terminal(
    *command: str,
    columns: int = 120,
    lines: int = 36,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """Run a program in a terminal, which stays readable after its end."""
    name = f"zktop-test-{uuid.uuid4().hex[:8]}"
    home = Path(tempfile.mkdtemp(prefix=name))
    own = {"XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    variables = {"TERM": "xterm-256color", "LANG": "C.UTF-8"} | own | dict(environment or {})
    settings = [f"{key}={value}" for key, value in variables.items()]
    words = shlex.join(["env", *(f"-u{name}" for name in CLEARED), *settings, *command])
    size = ["-x", str(columns), "-y", str(lines)]
    _tmux(name, "new-session", "-d", *size, words, ";", "set", "remain-on-exit", "on")
    try:
        yield Terminal(name, home)
    finally:
        _tmux(name, "kill-server")
        shutil.rmtree(home)


def _processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def _environment(pid: int) -> bytes:
    return _read(pid, "environ")


def _command(pid: int) -> bytes:
    return _read(pid, "cmdline")


def _read(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:  # it has ended, or belongs to another user
        return b""


def _tmux(name: str, *words: str) -> str:
    command = ["tmux", "-L", name, "-f", "/dev/null", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout


def shows_page(number: str) -> Callable[[str], bool]:
    """True if this screen is shown: the first line names it."""
    title = PAGES[int(number) - 1].title
    crumb = f"\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} {title} "
    return lambda text: crumb in text.splitlines()[0]
