"""The way to the terminal: it outlasts the terminal, and does not take a wake-up for a return.

Textual writes on a thread of its own, through a queue of thirty places. A terminal that was
closed would end that thread, and leave whoever writes next waiting for ever. Terminals that are
closed also tell every process in them to go on, for which Textual would begin anew, beside the
old thread.
"""

from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver


class Outlet:
    """A file that can be written to also when nobody is at the other end any more."""

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, while somebody can read it."""
        if self._file is not None:
            try:
                return self._file.write(text)
            except OSError:
                self._file = None
        return len(text)

    def flush(self) -> None:
        """Have it written out."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError:
                self._file = None


class LastingDriver(LinuxDriver):
    """Textual's driver, for terminals that come and go."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast("Any", Outlet(self._file))

    def _sigcont_application(self, *said: object) -> None:
        """Take the terminal again if it was given back; otherwise draw what may be gone."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())
        else:
            super()._sigcont_application(*said)
