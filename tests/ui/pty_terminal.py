"""zktop in a real terminal: a pty, which is the controlling terminal of the process."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

PATIENCE_S = 20.0
NO_SERVER = "127.0.0.1:1"  # nothing listens there
ALTERNATE, BACK = b"\x1b[?1049h", b"\x1b[?1049l"
ZKTOP = (sys.executable, "-m", "zktop")


class Terminal:
    """Runs zktop, and stores its output."""

    def __init__(
        self,
        folder: Path,
        *args: str,
        program: tuple[str, ...] = ZKTOP,
        gets_signals: bool = True,
        **more: str | None,
    ) -> None:
        self.master, slave = pty.openpty()
        self.slave = slave
        self.resize(100, 30)
        self.before = termios.tcgetattr(slave)
        self.written = b""
        self.process = subprocess.Popen(
            [*program, *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=_environment(folder, more),
            start_new_session=True,
            preexec_fn=_own_this_terminal if gets_signals else None,  # noqa: PLW1509  no other thread runs yet
        )

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave no process behind, whether the test passes or fails."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGCONT)
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.close()

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        """Close the terminal, as if the user closed its window."""
        for number in (self.master, self.slave):
            if number >= 0:
                os.close(number)
        self.master = self.slave = -1

    def read(self) -> bytes:
        """Read the new output."""
        ready, _, _ = select.select([self.master], [], [], 0.05)
        try:
            more = os.read(self.master, 65_536) if ready else b""
        except OSError:  # no process has it open any more
            more = b""
        self.written += more
        return more

    def until(self, text: bytes, after: bytes | None = None) -> None:
        """Read until this text comes after the last occurrence of the other one."""
        end = time.monotonic() + PATIENCE_S
        while text not in (self.written.rpartition(after)[2] if after else self.written):
            assert time.monotonic() < end, self.written[-2_000:]
            self.read()

    def shown(self) -> None:
        """Wait for the first picture."""
        self.until(b"Quit")

    def press(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.master, keys)

    def ended(self) -> int:
        """Read until the process has ended; return its exit code."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, "it has not ended"
            if self.master >= 0:
                self.read()
            else:
                time.sleep(0.02)
        while self.master >= 0 and self.read():
            pass
        return self.process.returncode

    def is_as_before(self) -> bool:
        """True if the terminal is as it was before anything ran in it."""
        return self.is_left() and self._modes() == self._modes(self.before)

    def is_left(self) -> bool:
        """True if it shows its own screen again, with a cursor, and reports no mouse."""
        is_back = self.written.rfind(BACK) > self.written.rfind(ALTERNATE)
        has_cursor = self.written.rfind(b"\x1b[?25h") > self.written.rfind(b"\x1b[?25l")
        mouse_off = self.written.rfind(b"\x1b[?1003l") > self.written.rfind(b"\x1b[?1003h")
        return is_back and has_cursor and mouse_off

    def _modes(self, state: list[object] | None = None) -> list[object]:
        return (state or termios.tcgetattr(self.slave))[:4]


def _own_this_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def family(session: int) -> list[int]:
    """Find all processes of a session that are alive."""
    return [pid for pid in _processes() if _session(pid) == session]


def _processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", "0", "0", "0"]


def _session(pid: int) -> int:
    fields = _fields(pid)
    return 0 if fields[0] in "XZ" else int(fields[3])


def _environment(folder: Path, more: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of a user without a config, on a terminal with all colours."""
    variables = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONUTF8": "1",
        **more,
    }
    for name in ("ZKTOP_HOSTS", "ZKTOP_CONFIG", "TEXTUAL_THEME"):
        variables.pop(name, None)
    return {name: value for name, value in variables.items() if value is not None}
