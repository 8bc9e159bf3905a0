"""Read the pieces of a flight recorder as one recording."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from zktop.app.flight_recorder.ring_folder import pieces_in
from zktop.errors import UsageError, cannot_read
from zktop.model.facts import Millis
from zktop.recording import (
    LEAD_MS,
    AnyLine,
    Header,
    ImportSummary,
    Recording,
    StoryLine,
    story_of,
)


class RingRecording:
    """All pieces of a folder, in order of time."""

    cut_off = False  # a ring has no proper end: the recorder may still be writing it
    imported: ImportSummary | None = None

    def __init__(self, path: Path) -> None:
        """Open the pieces, or raise UsageError if there are none."""
        self.path = path
        try:
            pieces = pieces_in(path)
        except OSError as error:
            raise cannot_read(path, error) from error
        recordings = [(piece.begin, _opened(piece.path)) for piece in pieces]
        self._pieces = [(begin, piece) for begin, piece in recordings if piece is not None]
        if not self._pieces:
            raise UsageError(f"{path} contains no recording made by `zktop record --dir`.")

    @property
    def header(self) -> Header:
        """The header of the newest piece, which has the settings of the newest run."""
        return self._pieces[-1][1].header

    @property
    def begin(self) -> Millis:
        """The time of the first line."""
        return self._pieces[0][0]

    @property
    def last_known_time(self) -> Millis:
        """The beginning of the last piece, which is still growing."""
        return self._pieces[-1][0]

    def start_near(self, at: Millis | None) -> None:
        """Skip the pieces that end long before a time, or before the end of the ring."""
        at = self.last_known_time if at is None else at
        ends = [begin for begin, _ in self._pieces[1:]]
        self._pieces = self._pieces[sum(end < at - LEAD_MS for end in ends) :]

    def story(self) -> Iterator[StoryLine]:
        """Iterate over facts and looks, and the headers after which everything is read again."""
        return story_of(self._lines())

    def _lines(self) -> Iterator[AnyLine]:
        completed: str | None = None  # name of the previous piece, if it was read to the end
        for _, piece in self._pieces:
            try:
                for line in piece.lines():
                    is_gap = isinstance(line, Header) and line.follows != completed
                    yield replace(line, follows=None) if is_gap else line
            except FileNotFoundError:  # the recorder has just deleted it
                completed = None
            else:
                completed = None if piece.cut_off else piece.path.name


def _opened(path: Path) -> Recording | None:
    """Open a piece. Return None if it has no readable line or the recorder has deleted it."""
    try:
        return Recording(path)
    except UsageError:
        return None
