"""The folder of a flight recorder: names of its files, its lock, and room for new data.

The ring consists of pieces, of which the oldest are deleted. A finding file is a copy of the
pieces from the minutes before and after a finding, which is kept for longer.
"""

import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from zktop.app.flight_recorder.retention import RingLimits, StoredPiece, superfluous_pieces
from zktop.errors import UsageError, cannot_write
from zktop.model.facts import Millis
from zktop.recording import whole_part

LOCK: Final = "lock"  # the file that the recorder locks
FINDINGS_FOLDER: Final = "findings"  # the folder of the finding files
MENDED: Final = "mended"  # a file that becomes a piece when it is complete
_FINDING_FILE: Final = re.compile(r"(\d{8}T\d{6}\.\d{3})Z-(.+)\.zktop")
_PIECE: Final = re.compile(r"zktop-(\d{8}T\d{6}\.\d{3})Z\.zktop")
_TIME: Final = "%Y%m%dT%H%M%S.%f"


def pieces_in(folder: Path) -> list[StoredPiece]:
    """Return the pieces of a ring in order of time."""
    return _dated_files(folder.iterdir(), _PIECE)


def finding_files_in(folder: Path) -> list[StoredPiece]:
    """Return the finding files, in order of time, without links to them."""
    return [file for file in _files_and_links(folder) if not file.path.is_symlink()]


def _files_and_links(folder: Path) -> list[StoredPiece]:
    return _dated_files((folder / FINDINGS_FOLDER).glob("*.zktop"), _FINDING_FILE)


def _dated_files(paths: Iterable[Path], name: re.Pattern[str]) -> list[StoredPiece]:
    """Return the files with such a name, in order of the time in it."""
    matches = ((path, name.fullmatch(path.name)) for path in paths)
    files = (_stored(path, match[1]) for path, match in matches if match)
    return sorted(filter(None, files), key=lambda file: file.begin)


def finding_time(path: Path) -> Millis | None:
    """Return the time in the name of a finding file, or of a link to it.

    >>> finding_time(Path("20260131T120000.123Z-D1-3f2a.zktop")), finding_time(Path("a.zktop"))
    (1769860800123, None)
    """
    match = _FINDING_FILE.fullmatch(path.name)
    return _millis(match[1]) if match else None


def piece_name(begin: Millis) -> str:
    """Return the name of a piece. Sorting by name sorts by time.

    >>> piece_name(1_769_860_800_123)
    'zktop-20260131T120000.123Z.zktop'
    """
    return f"zktop-{_time(begin)}Z.zktop"


def _time(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime(_TIME)[:-3]


def _millis(text: str) -> Millis:
    return round(datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp() * 1000)


def _stored(path: Path, begin: str) -> StoredPiece | None:
    try:
        return StoredPiece(path, _millis(begin), path.stat().st_size)
    except (FileNotFoundError, ValueError):
        return None  # it was just deleted, or the recorder did not name it


class RingFolder:
    """The files of one recorder. `room_for` deletes the oldest."""

    def __init__(self, path: Path, limits: RingLimits) -> None:
        """Read what earlier runs left in the folder."""
        self.path, self.limits = path, limits
        _mend_newest(path)
        self._pieces = pieces_in(path)
        self._finding_files = finding_files_in(path)
        self._newest_times = _newest_by_finding(path)
        self._last = self._pieces[-1].begin if self._pieces else 0

    def next_piece(self, at: Millis) -> StoredPiece:
        """Return a new piece, whose file does not exist yet."""
        self._last = max(at, self._last + 1)  # the clock may have been set back
        return StoredPiece(self.path / piece_name(self._last), self._last, 0)

    def add(self, piece: StoredPiece) -> None:
        self._pieces.append(piece)

    def pieces_since(self, since: Millis) -> list[StoredPiece]:
        """Return the pieces with data after a time."""
        ends = [piece.begin for piece in self._pieces[1:]]
        first = sum(end <= since for end in ends)
        return self._pieces[first:]

    def room_for(self, size: int, at: Millis) -> None:
        """Delete pieces older than `keep`, and more until this size fits.

        Raise OSError if it cannot fit.
        """
        room = self.limits.max_bytes - sum(file.size for file in self._finding_files) - size
        if room < 0:
            raise OSError(
                errno.EFBIG, "it does not fit within --max-size alongside the files for findings"
            )
        _delete_first(self._pieces, superfluous_pieces(self._pieces, at - self.limits.keep, room))

    # Finding files

    def finding_file(self, finding: str, at: Millis) -> StoredPiece:
        """Return the file for a finding, without creating it."""
        name = f"{_time(at)}Z-{_file_name_id(finding)}.zktop"
        return StoredPiece(self.path / FINDINGS_FOLDER / name, at, 0)

    def newest_at(self, finding: str) -> Millis:
        """Return the time in the name of this finding's newest file or link, or 0 without one."""
        return self._newest_times.get(_file_name_id(finding), 0)

    def add_link(self, finding: str, file: StoredPiece, at: Millis) -> Path:
        """Add a link to the file of an earlier finding, with the name of a file for this one."""
        link = self.finding_file(finding, at).path
        try:
            link.symlink_to(file.path.name)
        except OSError:
            return file.path  # not every file system has links
        self._newest_times[_file_name_id(finding)] = at
        return link

    @property
    def newest_finding_at(self) -> Millis:
        """The time of the newest finding that has a file or link, or 0 if none has."""
        return max(self._newest_times.values(), default=0)

    def newest_finding_file(self) -> StoredPiece | None:
        """Return the newest finding file."""
        return max(self._finding_files, key=lambda file: file.begin, default=None)

    def make_room_for_file(self, file: StoredPiece, size: int) -> None:
        """Delete old finding files so that this one can grow, and record its new size."""
        others = [other for other in self._finding_files if other.path != file.path]
        room = self.limits.finding_files_bytes - size
        if room < 0:
            raise OSError(errno.EFBIG, "it would take more than half of --max-size")
        superfluous = tuple(superfluous_pieces(others, 0, room))
        _delete_first(others, superfluous)
        if superfluous:
            self._delete_broken_links()
            self._newest_times = _newest_by_finding(self.path)
        self._finding_files = [*others, replace(file, size=size)]
        self._newest_times[_id_in(file.path)] = file.begin
        self.room_for(0, 0)  # at the time 0 no piece is too old, so only the sizes count

    def delete_finding_file(self, file: StoredPiece) -> None:
        """Delete a finding file that could not be written in full."""
        with suppress(OSError):
            file.path.unlink(missing_ok=True)
        self._finding_files = [other for other in self._finding_files if other.path != file.path]
        self._newest_times = _newest_by_finding(self.path)

    def _delete_broken_links(self) -> None:
        for path in (self.path / FINDINGS_FOLDER).glob("*.zktop"):
            if path.is_symlink() and not path.exists():
                path.unlink(missing_ok=True)


def _delete_first(files: list[StoredPiece], first: Sequence[StoredPiece]) -> None:
    """Delete the first of these files, and remove them from the list."""
    for file in first:
        file.path.unlink(missing_ok=True)
    del files[: len(first)]


def _newest_by_finding(folder: Path) -> dict[str, Millis]:
    return {_id_in(file.path): file.begin for file in _files_and_links(folder)}


def _file_name_id(finding: str) -> str:
    """Return the id of a finding as it is written in file names."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", finding)


def _id_in(path: Path) -> str:
    """Return the id of the finding in the name of a finding file."""
    return path.stem.partition("-")[2]


def _mend_newest(folder: Path) -> None:
    """Remove the incomplete end that a crash has left, so that other pieces can be appended."""
    mended = folder / MENDED
    with suppress(OSError, UsageError):
        mended.unlink(missing_ok=True)
        pieces = pieces_in(folder)
        whole = whole_part(pieces[-1].path) if pieces else None
        if whole is not None:
            mended.write_bytes(whole)
            mended.replace(pieces[-1].path)


@contextmanager
def open_ring(path: Path, limits: RingLimits) -> Iterator[RingFolder]:
    """Create and lock the folder of a recorder. Raise UsageError if another one uses it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{path} is in use by another `zktop record`.") from None
        yield RingFolder(path, limits)
    finally:
        os.close(lock)
