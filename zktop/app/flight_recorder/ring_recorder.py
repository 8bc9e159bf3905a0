"""Write a ring: facts go to one piece until it is long or large enough, then to the next.

Each piece begins with the whole state, so that it can be opened alone. After a write error the
piece ends where it is, and the recorder tries a new one every RETRY_MS.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from msgspec.structs import replace

from zktop.app.flight_recorder.finding_files import FindingFiles
from zktop.app.flight_recorder.retention import StoredPiece
from zktop.app.flight_recorder.ring_folder import FINDINGS_FOLDER, RingFolder
from zktop.app.record_file import FailsafeFile
from zktop.model.facts import Millis, SourceFact
from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.model.world.world import World
from zktop.recording import Header, Recorder

RETRY_MS: Millis = 10_000
_NEVER: Millis = 1 << 60  # the state is only written at the beginning of a piece

OnNote = Callable[[str], object]


class RingRecorder:
    """Receives the facts and looks of one run."""

    def __init__(self, folder: RingFolder, header: Header, at: Millis, on_note: OnNote) -> None:
        """Start the first piece, which gets the first reading."""
        self._folder, self._header, self._on_note = folder, header, on_note
        self._is_failing = False
        self._unsaved: dict[str, tuple[Finding, Millis]] = {}  # to keep when there is room again
        self._findings = FindingFiles(folder, header)
        self._keep(lambda: self._findings.resume(at))
        self._writer = self._new_writer(at)

    def facts(self, facts: Iterable[SourceFact]) -> None:
        self._writer.recorder.facts(facts)

    def look(self, at: Millis, *, thorough: bool = True) -> None:
        """Mark a time at which the world was examined, and begin a new piece if it is due."""
        self._writer.look(at, thorough=thorough)
        if not self._writer.has_failed and self._is_failing:
            self._is_failing = False
            self._on_note(f"{self._folder.path} can be written again; recording continues.")
            self._save_later()
        if self._is_due(at):
            self._next(at)

    def judge(self, report: Report) -> None:
        """Keep the minutes around critical findings that are new in this report."""
        new = self._findings.arrived(report.findings, report.now)
        if new and not self._findings.has_room(report.now):
            self._next(report.now, new[0])
        elif new:
            self._findings.extend(report.now)
        elif self._findings.is_over(report.now):
            self._next(report.now)
            self._findings.end()
        for finding in new:
            self._report_file(finding, report.now)

    def _report_file(self, finding: Finding, at: Millis) -> None:
        """Report under which name a finding is kept, or remember it if no file is open."""
        path = self._findings.named_after(finding, at)
        if path is None:
            self._unsaved.setdefault(finding.id, (finding, at))
        else:
            self._on_note(f"{finding.id} and the minutes around it: {path}")

    def _save_later(self) -> None:
        """Keep the minutes around the findings whose file could not be written."""
        unsaved, self._unsaved = [*self._unsaved.values()], {}
        if unsaved and self._findings.path is None:
            self._keep(lambda: self._findings.begin(*unsaved[0]))
        for finding, at in unsaved:
            self._report_file(finding, at)

    def close(self) -> None:
        """Finish the last piece."""
        writer = self._writer
        writer.close()
        if writer.state_size:
            piece = replace(writer.piece, size=writer.size, is_torn=writer.has_failed)
            self._folder.add(piece)
            self._keep(lambda: self._findings.add(piece))
        else:  # not even its state could be written
            with suppress(OSError):
                writer.piece.path.unlink()

    def _is_due(self, at: Millis) -> bool:
        writer, limits = self._writer, self._folder.limits
        age = at - writer.began
        if writer.has_failed:
            return age >= RETRY_MS
        # A large state is not repeated before the piece has twice its size.
        full = max(limits.piece_bytes, 2 * writer.state_size)
        return age >= limits.piece_ms or writer.size >= full

    def _keep(self, write: Callable[[], object]) -> None:
        """Write to a finding file. After an error, report it and end the file."""
        try:
            write()
        except OSError as error:
            path = self._findings.path or self._folder.path / FINDINGS_FOLDER
            self._on_note(f"{path} cannot be read or written: {error.strerror or error}.")
            self._findings.end()

    def _next(self, at: Millis, finding: Finding | None = None) -> None:
        """Continue in a new piece. If there is a finding, begin a file around it."""
        self.close()
        if finding is not None:
            self._keep(lambda: self._findings.begin(finding, at))
        previous = self._writer
        follows = None if previous.has_failed else previous.piece.path.name
        self._writer = self._new_writer(at, previous.recorder.world, follows)

    def _new_writer(
        self, at: Millis, world: World | None = None, follows: str | None = None
    ) -> "_PieceWriter":
        header = replace(self._header, follows=follows)
        piece = self._folder.next_piece(at)
        limited = _LimitedFile(self._folder, piece, at)
        return _PieceWriter(limited, piece, header, world, self._failed)

    def _failed(self, path: Path, error: OSError) -> None:
        """Report a write error, but only the first one until a write succeeds."""
        if not self._is_failing:
            why = error.strerror or error
            self._on_note(f"{path} cannot be written: {why}. Recording pauses until it can.")
        self._is_failing = True


class _PieceWriter:
    """One piece: its recorder, and the file below it."""

    def __init__(
        self,
        limited: "_LimitedFile",
        piece: StoredPiece,
        header: Header,
        world: World | None,
        on_error: Callable[[Path, OSError], None],
    ) -> None:
        self.piece = piece
        self.state_size = 0  # bytes of the state at the beginning, or 0 if it is not written yet
        self.began = limited.now  # earlier than the time in its name if the clock was ahead
        self._limited = limited
        self._file = FailsafeFile(cast("BinaryIO", self._limited), on_error)
        stream = cast("IO[bytes]", self._file)
        self.recorder = Recorder(stream, header, world, _NEVER)

    @property
    def size(self) -> int:
        return self._limited.size

    @property
    def has_failed(self) -> bool:
        return self._file.has_failed

    def look(self, at: Millis, *, thorough: bool) -> None:
        self._limited.now = at
        self.recorder.look(at, thorough=thorough)
        if not self.state_size and not self.has_failed:
            self.state_size = self.size

    def close(self) -> None:
        self.recorder.close()
        self._file.close()


class _LimitedFile:
    """A file that is created at its first write. Each write makes room in the folder."""

    def __init__(self, folder: RingFolder, piece: StoredPiece, at: Millis) -> None:
        self.name = str(piece.path)
        self.size = 0
        self.now = at
        self._folder = folder
        self._file: BinaryIO | None = None

    def write(self, data: Any) -> None:
        self._folder.room_for(self.size + len(data), self.now)
        if self._file is None:
            self._file = Path(self.name).open("xb")  # noqa: SIM115  closed by close()
        self._file.write(data)
        self.size += len(data)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            try:
                self._file.flush()
                os.fsync(self._file.fileno())
            finally:
                self._file.close()
