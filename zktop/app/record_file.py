"""Write recordings: the header, and a file that survives write errors."""

import contextlib
import io
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from zktop.app.live_run import LiveRun
from zktop.model.settings import Settings
from zktop.recording import Header, Recorder

TOOL = f"zktop {version('zktop')}"

OnError = Callable[[Path, OSError], None]


def recorder_of(file: "FailsafeFile", run: LiveRun, *, redact: bool = True) -> Recorder:
    """Return a recorder that writes the facts of a live run."""
    header = header_of(str(run.access.hosts), run.settings, redact=redact)
    return Recorder(cast("IO[bytes]", file), header)


def header_of(hosts: str, settings: Settings, *, redact: bool = True) -> Header:
    """Return the first line of a recording."""
    return Header(
        tool=TOOL,
        hosts=hosts,
        roots=[root.path for root in settings.roots],
        redacted=redact,
        settings=settings,
    )


class FailsafeFile(io.RawIOBase):
    """Reports the first write error, then discards further writes.

    A full disk ends the recording; `on_error` decides whether the run ends, too.
    """

    def __init__(self, file: BinaryIO, on_error: OnError) -> None:
        super().__init__()
        self._file, self._on_error = file, on_error
        self.has_failed = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Write the data, or discard it after an error; always returns its length."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def flush(self) -> None:
        if not self.closed:
            self._try(self._file.flush)

    def close(self) -> None:
        if not self.closed:
            super().close()  # flushes first
            with contextlib.suppress(OSError):  # already reported by the flush
                self._file.close()

    def _try(self, write: Callable[[], object]) -> None:
        if self.has_failed:
            return
        try:
            write()
        except OSError as error:
            self.has_failed = True
            self._on_error(Path(self._file.name), error)
