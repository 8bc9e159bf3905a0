"""A file that fails once, with a word to somebody, and swallows everything from then on.

A recording that cannot go on, because the disk is full, must not end the run that it is of.
"""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

OnError = Callable[[Path, OSError], None]


class FailsafeFile(io.RawIOBase):
    """Takes bytes for a file for as long as that goes well."""

    def __init__(self, file: BinaryIO, complain: OnError) -> None:
        """Take a file that could be opened."""
        super().__init__()
        self._file, self._complain = file, complain
        self.has_failed = False

    def writable(self) -> bool:
        """Say yes: it is there to be written."""
        return True

    def write(self, data: Any) -> int:
        """Write, or forget; both look the same to who writes."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def flush(self) -> None:
        """Bring it to the disk."""
        if not self.closed:
            self._try(self._file.flush)

    def close(self) -> None:
        """Close the file, also one that failed."""
        if not self.closed:
            super().close()  # which flushes, while there is something to flush into
            with contextlib.suppress(OSError):  # what was left to be written was told of above
                self._file.close()

    def _try(self, deed: Callable[[], object]) -> None:
        if self.has_failed:
            return
        try:
            deed()
        except OSError as error:
            self.has_failed = True
            self._complain(Path(self._file.name), error)
