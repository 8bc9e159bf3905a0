"""A driver that survives a closed terminal.

Textual writes in a thread with a queue of 30 entries. When the terminal is closed, the thread ends
and the next write blocks forever. A closed terminal also sends SIGCONT to its processes, and
Textual would then start a second thread.

A busy terminal, for example behind a slow ssh link, makes writers wait, unless a process that
shares it has made it non-blocking.

A process that does not belong to the terminal, as in a container or under nohup, gets no SIGHUP
when the terminal closes. Textual's thread for keys would then read end-of-file in a loop.
"""

import os
import select
import signal
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver


class TerminalFile:
    """The terminal as a file. The first write error closes it; later writes are discarded.

    A busy terminal is not closed: each write waits for it.
    """

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, or discard the text."""
        if self._file is not None:
            self._do(self._file, partial(self._file.write, text))
        return len(text)

    def flush(self) -> None:
        if self._file is not None:
            self._do(self._file, self._file.flush)

    def _do(self, file: IO[str], write: Callable[[], object]) -> None:
        try:
            os.set_blocking(file.fileno(), True)
            write()
        except BlockingIOError:
            pass  # changed by another process just now: this text is lost
        except OSError:
            self._file = None


class TerminalDriver(LinuxDriver):
    """Textual's driver for Linux, for terminals that are closed or suspended."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast("Any", TerminalFile(self._file))
        Thread(target=self._report_hangup, name="terminal-hangup", daemon=True).start()

    def _report_hangup(self) -> None:
        """Wait until the terminal is closed; then send SIGHUP to this process."""
        terminal = select.poll()
        terminal.register(self.fileno, 0)  # only hangups
        if any(event & select.POLLHUP for _, event in terminal.poll()):
            os.kill(os.getpid(), signal.SIGHUP)

    def _sigcont_application(self, *arguments: object) -> None:
        """Resume after a suspend; without one, only redraw."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())
        else:
            super()._sigcont_application(*arguments)
