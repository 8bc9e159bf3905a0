"""The folder of a flight recorder: names of its files, its lock, and room for new data."""

import errno
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from zktop.app.ring.retention import RingLimits, StoredPiece, superfluous
from zktop.errors import UsageError
from zktop.model.facts import Millis

LOCK: Final = "lock"
_PIECE: Final = re.compile(r"zktop-(\d{8}T\d{6}\.\d{3})Z\.zktop")
_TIME: Final = "%Y%m%dT%H%M%S.%f"


def pieces_in(folder: Path) -> list[StoredPiece]:
    """The pieces of a ring in order of time."""
    found = ((path, _PIECE.fullmatch(path.name)) for path in folder.iterdir())
    pieces = (_stored(path, _millis(name[1])) for path, name in found if name)
    return sorted(filter(None, pieces), key=lambda piece: piece.begin)


def piece_name(begin: Millis) -> str:
    """The name of a piece; names are in order of time.

    >>> piece_name(1_769_860_800_123)
    'zktop-20260131T120000.123Z.zktop'
    """
    return f"zktop-{_time(begin)}Z.zktop"


def _time(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime(_TIME)[:-3]


def _millis(text: str) -> Millis:
    return round(datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp() * 1000)


def _stored(path: Path, begin: Millis) -> StoredPiece | None:
    try:
        return StoredPiece(path, begin, path.stat().st_size)
    except FileNotFoundError:
        return None  # deleted meanwhile


class RingFolder:
    """The files of one recorder; `room_for` deletes the oldest."""

    def __init__(self, path: Path, limits: RingLimits) -> None:
        """Read what earlier runs left in the folder."""
        self.path, self.limits = path, limits
        self._pieces = pieces_in(path)
        self._last = self._pieces[-1].begin if self._pieces else 0

    def next_piece(self, at: Millis) -> StoredPiece:
        """Return a new piece; its file is not there yet."""
        self._last = max(at, self._last + 1)  # the clock may have been set back
        return StoredPiece(self.path / piece_name(self._last), self._last, 0)

    def add(self, piece: StoredPiece) -> None:
        """Count a piece that was written to its end."""
        self._pieces.append(piece)

    def room_for(self, size: int, at: Millis) -> None:
        """Delete the oldest pieces until a file of this size fits; raise OSError if it cannot."""
        if size > self.limits.max_bytes:
            raise OSError(errno.EFBIG, "the state of all locks does not fit into --max-size")
        since = at - self.limits.keep
        for piece in superfluous(self._pieces, since, self.limits.max_bytes - size):
            piece.path.unlink(missing_ok=True)
            self._pieces.remove(piece)


@contextmanager
def open_ring(path: Path, limits: RingLimits) -> Iterator[RingFolder]:
    """Make and lock the folder of a recorder; raise UsageError if another one has it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{path} is in use by another `zktop record`.") from None
        yield RingFolder(path, limits)
    finally:
        os.close(lock)
