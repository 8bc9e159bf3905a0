"""Keep the minutes before and after a critical finding in a separate file.

The file is a copy of whole pieces. Those before the finding are copied at once, so that a crash
loses none of them. Later ones are copied when they end, until AFTER_MS after the last finding,
even after a restart. A file ends at most MAX_AFTER_MS after its first finding: a later finding
that needs more than that begins the next file. Findings that share a file have links to it, each
with its own time and id in the name.
"""

import io
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from zktop.app.flight_recorder.retention import StoredPiece
from zktop.app.flight_recorder.ring_folder import RingFolder
from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.recording import Header, packed_header, whole_part

BEFORE_MS: Millis = 300_000
AFTER_MS: Millis = 300_000
MAX_AFTER_MS: Millis = 1_200_000  # later findings extend a file up to here at most
HEADER_ROOM_BYTES = 16_384  # reserved for the packed header of a file
AGAIN_MS: Millis = 3_600_000  # a finding that comes back sooner gets no second file


class FindingFiles:
    """Decides which findings need a file, and writes one file at a time."""

    def __init__(self, folder: RingFolder, header: Header) -> None:
        self._folder, self._header = folder, header
        self._present: frozenset[str] = frozenset()  # critical findings of the last report
        self._file: StoredPiece | None = None
        self._from: Millis = 0  # time of the first finding of the open file
        self._until: Millis = 0  # when the open file ends

    @property
    def path(self) -> Path | None:
        """The file that is being written."""
        return self._file.path if self._file else None

    def arrived(self, findings: Iterable[Finding], now: Millis) -> list[Finding]:
        """Return critical findings that are new and have no recent file or link."""
        critical = {finding.id: finding for finding in findings if finding.severity == "critical"}
        previously_present, self._present = self._present, frozenset(critical)
        new = [finding for finding in critical.values() if finding.id not in previously_present]
        return [finding for finding in new if now - self._folder.newest_at(finding.id) >= AGAIN_MS]

    def resume(self, now: Millis) -> None:
        """Add the pieces that a crash kept out of the newest file. End it if its time is over."""
        newest = self._folder.newest_finding_file()
        if newest is None:
            return
        until = self._folder.newest_finding_at + AFTER_MS
        pieces = self._folder.pieces_since(newest.begin - BEFORE_MS)
        pieces = [piece for piece in pieces if piece.begin < until]
        missing: list[StoredPiece] = []
        while pieces and not _ends_with(newest.path, pieces[-1]):
            missing.append(pieces.pop())
        if not pieces:
            return
        self._file, self._from, self._until = newest, newest.begin, until
        for piece in reversed(missing):
            self.add(piece)
        if now >= until:
            self.end()

    def has_room(self, now: Millis) -> bool:
        """Return whether a file is open that may include all minutes after another finding."""
        return self._file is not None and now + AFTER_MS <= self._from + MAX_AFTER_MS

    def extend(self, now: Millis) -> None:
        """Extend the open file for another finding."""
        self._until = now + AFTER_MS

    def named_after(self, finding: Finding, now: Millis) -> Path | None:
        """Return the open file under the name of this finding: the file itself or a link to it."""
        if self._file is None:
            return None
        path = self._folder.finding_file(finding.id, now).path
        if path == self._file.path:
            return path
        return self._folder.add_link(finding.id, self._file, now)

    def is_over(self, now: Millis) -> bool:
        """Return whether the piece that is being written is the last one of the file."""
        return self._file is not None and now >= self._until

    def begin(self, finding: Finding, now: Millis) -> Path:
        """Begin a file with the pieces before a finding, or raise OSError and leave none."""
        self._file = self._folder.finding_file(finding.id, now)
        self._from, self._until = now, now + AFTER_MS
        pieces = self._folder.pieces_since(now - BEFORE_MS)
        room = self._folder.limits.finding_files_bytes - HEADER_ROOM_BYTES
        while len(pieces) > 1 and sum(piece.size for piece in pieces) > room:
            del pieces[0]
        begin = pieces[0].begin if pieces else now
        header = packed_header(replace(self._header, opens_at=now), begin)
        path = self._file.path
        try:
            self._folder.make_room_for_file(self._file, len(header))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(header)
            self._file = replace(self._file, size=len(header))
            for piece in pieces:
                self.add(piece)
        except OSError:
            self._folder.delete_finding_file(self._file)
            raise
        return path

    def add(self, piece: StoredPiece) -> None:
        """Append a piece to the open file. Raise OSError if it cannot be written."""
        if self._file is None:
            return
        with _opened(piece) as source:  # opened first: `make_room_for_file` may delete it
            size = self._file.size + source.seek(0, os.SEEK_END)
            source.seek(0)
            self._folder.make_room_for_file(self._file, size)
            with self._file.path.open("ab") as file:
                shutil.copyfileobj(source, file)
        self._file = replace(self._file, size=size)

    def end(self) -> None:
        """Finish the open file."""
        self._file = None


def _opened(piece: StoredPiece) -> BinaryIO:
    """Open a piece without an incomplete end, so that other pieces can be appended to it."""
    whole = whole_part(piece.path) if piece.is_torn else None
    return piece.path.open("rb") if whole is None else io.BytesIO(whole)


def _ends_with(path: Path, piece: StoredPiece) -> bool:
    """Return whether a piece was the last one that was appended to a file."""
    if not piece.size:
        return False
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - piece.size))
        return file.read() == piece.path.read_bytes()
