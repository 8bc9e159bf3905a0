"""Write facts to a file and read them back: the facts as read, without conclusions.

A recording is gzipped JSON lines: a header, then one line per fact, and one for each time at which
the live run examined its world. A replay that examines the world at the same times makes the same
reports. Once a minute a new gzip member starts with all facts known by then, so that a reader can
start there. The gzip header of each member contains its time, so that a search through the
compressed bytes finds it.

A file that was truncated by a crash or a full disk is valid up to its last complete line, and so
is one that ends in garbage.
"""

import gzip
import io
import queue
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, Annotated, Final, Literal

import msgspec

from zktop.byte_streams import GzipReader
from zktop.errors import UsageError, cannot_read
from zktop.model.facts import AnyFact, Fact, Millis, Node, SourceFact, single_facts
from zktop.model.layouts.redact_payload import owner_part
from zktop.model.settings import Settings
from zktop.model.world.world import World, facts_between, facts_of

_NAME: Final = "zktop.recording"
SCHEMA: Final = "zktop.recording/1"
STATE_INTERVAL_MS: Millis = 60_000
LEAD_MS: Millis = 900_000  # read before the requested time: verdicts depend on the past
MIN_SKIPPED_BYTES = 2 << 20  # of a file. Reading and examining less takes at most 20 s.
MAX_UNREDACTED_BYTES = 256  # redaction leaves data of up to this size as it is

_MEMBER = re.compile(rb"\x1f\x8b\x08\x08.{6}zktop-(\d{13})\x00", re.DOTALL)
_CHUNK_BYTES = 1 << 18
_COMPRESSION_LEVEL, _BULK_COMPRESSION_LEVEL = 6, 2
_MAX_WAITING_BLOCKS = 8  # to be compressed
_DAMAGED = (msgspec.DecodeError, UnicodeDecodeError)


class Header(msgspec.Struct, frozen=True, tag_field="fact", tag="header", kw_only=True):
    """The first line: what was recorded, and by which tool."""

    schema: Literal["zktop.recording/1"] = SCHEMA
    tool: str
    hosts: str
    roots: list[str]
    redacted: bool = True
    settings: Settings | None = None  # of the live run
    opens_at: Millis | None = None  # a replay starts here, but verdicts need earlier facts
    follows: str | None = None  # file name of the piece that this one continues without a gap


class _SchemaOnly(msgspec.Struct):
    schema: str = ""


class LookMark(Fact, frozen=True, tag="look"):
    """The live run examined its world at this time."""

    thorough: bool = True  # all of it, not only what had changed


class StateMark(Fact, frozen=True, tag="state"):
    """The next `facts` facts repeat everything known at this time."""

    facts: int


class ImportSummary(Fact, frozen=True, tag="import"):
    """The last line of an import: which transactions of ZooKeeper's files it contains."""

    members: tuple[str, ...]  # the folders that were read
    first_zxid: int
    first_at: Millis
    transactions: int
    with_digest: int  # transactions for which the server wrote a digest of its tree
    proven: int  # transactions after which the replayed tree has the digest of the server
    notes: tuple[str, ...] = ()  # what is missing or was skipped
    known_until: Millis | None = None  # later looks assume that nothing happened


StoryLine = Header | LookMark | AnyFact
AnyLine = Header | LookMark | StateMark | ImportSummary | AnyFact
RecordingLine = Annotated[AnyLine, msgspec.Meta(description="one line of a recording")]

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyLine] = msgspec.json.Decoder(RecordingLine)


class Recorder:
    """Writes facts as they arrive. `look` marks the times at which reports were made."""

    def __init__(
        self,
        file: IO[bytes],
        header: Header,
        world: World | None = None,
        state_interval: Millis = STATE_INTERVAL_MS,
    ) -> None:
        """Start a recording in a file that the caller opens and closes.

        With a world, the file begins with its state and continues another recording.
        """
        self._file = file
        self._redacted = header.redacted
        self._first_world = world
        self.world = world or World()
        self._state_interval = state_interval
        self._state_at: Millis | None = None
        self._header = header
        self._member: gzip.GzipFile | None = None

    def facts(self, facts: Iterable[SourceFact]) -> None:
        new = [redacted(fact) if self._redacted else fact for fact in single_facts(facts)]
        if not new:
            return
        self.world = self.world.after(*new)
        self._begin_file(max(fact.at for fact in new))  # the first facts may be much older
        for fact in new:
            self._write(fact)

    def look(self, at: Millis, *, thorough: bool = True) -> None:
        """Mark a time at which the world was examined. Repeat the state when it is due."""
        self._begin_file(at)
        self._write(LookMark(zxid=self.world.zxid, at=at, thorough=thorough))
        if self._state_at is not None and at - self._state_at >= self._state_interval:
            self._begin_member(at)
            self._write_state(self.world, at)
        elif self._member is not None:
            self._member.flush()  # so that a crash loses nothing that was examined

    def begin_again(self) -> None:
        """Start again after a gap, so that what was written so far no longer counts."""
        self.close()
        self.world = World()

    def close(self) -> None:
        """Finish the last member. The caller closes the file."""
        if self._member is not None:
            self._member.close()
            self._member = None

    def _begin_file(self, at: Millis) -> None:
        """Before the first line, write the header, and the first world if there is one."""
        if self._member is None:
            self._begin_member(at)
            self._write(self._header)
            if self._first_world is not None:
                self._write_state(self._first_world, at)
                self._first_world = None

    def _write_state(self, world: World, at: Millis) -> None:
        facts = tuple(facts_of(world))
        for line in (StateMark(zxid=world.zxid, at=at, facts=len(facts)), *facts):
            self._write(line)

    def _begin_member(self, at: Millis) -> None:
        self.close()
        self._state_at = at
        self._member = _gzip_member(self._file, at, _COMPRESSION_LEVEL)

    def _write(self, line: AnyLine) -> None:
        if self._member is not None:
            self._member.write(_encoder.encode(line) + b"\n")


class BulkRecorder:
    """Writes whole blocks of lines: a hundred times faster than `Recorder`, as it keeps no world.

    Another thread compresses them. The caller decides when to repeat the state.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Write to a file that the caller opens and closes."""
        self._file = file
        self._blocks: queue.Queue[bytes | Millis | None] = queue.Queue(_MAX_WAITING_BLOCKS)
        self._error: Exception | None = None
        self._member: gzip.GzipFile | None = None
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def begin(self, at: Millis) -> None:
        """Start a gzip member, where a reader can start."""
        self._put(at)

    def write(self, lines: Sequence[AnyLine]) -> None:
        """Write lines, but wait while too many blocks are being compressed."""
        self._put(_encoder.encode_lines(lines))

    def close(self) -> None:
        """Write the remaining blocks. Raise the error of the thread if it had one."""
        self._blocks.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _put(self, block: bytes | Millis | None) -> None:
        if self._error is not None:
            raise self._error
        self._blocks.put(block)

    def _run(self) -> None:
        """Write blocks. After an error discard them, so that the caller never blocks forever."""
        while (block := self._blocks.get()) is not None:
            self._try(partial(self._write_block, block))
        self._try(self._end_member)

    def _try(self, write: Callable[[], None]) -> None:
        if self._error is None:
            try:
                write()
            except OSError as error:
                self._error = error

    def _write_block(self, block: bytes | Millis) -> None:
        if isinstance(block, int):
            self._end_member()
            self._member = _gzip_member(self._file, block, _BULK_COMPRESSION_LEVEL)
        elif self._member is not None:
            self._member.write(block)

    def _end_member(self) -> None:
        if self._member is not None:
            self._member.close()


def _gzip_member(file: IO[bytes], at: Millis, level: int) -> gzip.GzipFile:
    return gzip.GzipFile(f"zktop-{at:013d}", "wb", level, file, mtime=0)


def packed_header(header: Header, at: Millis) -> bytes:
    """Return a header as a file, to which other recordings can be appended."""
    return _packed([_encoder.encode(header)], at)


def whole_part(path: Path) -> bytes | None:
    """Return the valid part of a truncated recording as a file, or None if it is complete."""
    recording = Recording(path)
    whole = _packed(recording.whole_lines(), recording.begin)
    return whole if recording.cut_off else None


def _packed(lines: Iterable[bytes], at: Millis) -> bytes:
    file = io.BytesIO()
    with _gzip_member(file, at, _COMPRESSION_LEVEL) as member:
        member.writelines(line + b"\n" for line in lines)
    return file.getvalue()


class Recording:
    """A recorded file: its header, its lines, and the offsets at which reading can start."""

    def __init__(self, path: Path) -> None:
        """Open a recording. Raise UsageError for any other file."""
        self.path = path
        self.cut_off = False  # set when all lines were read
        self._offset = 0  # where the story starts
        try:
            self.header = self._header()
        except OSError as error:
            raise cannot_read(path, error) from error

    def lines(self, offset: int = 0) -> Iterator[AnyLine]:
        """Iterate over the lines from an offset, up to where the file is cut off or damaged."""
        self.cut_off = False
        try:
            yield from map(_decoder.decode, self.whole_lines(offset))
        except _DAMAGED:
            self.cut_off = True

    @property
    def begin(self) -> Millis:
        """The time of its first line."""
        return min((at for at, _ in self.starts()), default=0)

    @property
    def last_known_time(self) -> Millis:
        """The end of the files of an import, else the last time at which reading can start."""
        last_start = max((at for at, _ in self.starts()), default=0)
        end_of_import = self.imported.known_until if self.imported else None
        return max(last_start, end_of_import or 0)

    def start_near(self, at: Millis | None) -> None:
        """Make `story` start 15 minutes before a time or the end, if that saves a lot.

        Findings that need a longer past, like two orders of the same locks, are then missed.
        """
        starts = self.starts()
        if starts:
            latest = (max(starts)[0] if at is None else at) - LEAD_MS
            early = takewhile(lambda start: start[0] <= latest, starts)
            offset = max((offset for _, offset in early), default=0)
            self._offset = offset if offset >= MIN_SKIPPED_BYTES else 0

    def story(self) -> Iterator[StoryLine]:
        """Iterate over facts and looks, and the headers after which everything is read again."""
        header = [self.header] if self._offset else []
        return story_of(chain(header, self.lines(self._offset)))

    @cached_property
    def imported(self) -> ImportSummary | None:
        """The summary in the last line of an import, or None for other recordings."""
        was_cut_off = self.cut_off
        offset = max((offset for _, offset in self.starts()), default=0)
        last = deque(self.whole_lines(offset), maxlen=1)
        self.cut_off = was_cut_off
        try:
            line = _decoder.decode(b"".join(last))
        except _DAMAGED:
            return None
        return line if isinstance(line, ImportSummary) else None

    def _header(self) -> Header:
        line = next(self.whole_lines(), b"")
        try:
            first = _decoder.decode(line)
        except _DAMAGED:
            first = None
        if isinstance(first, Header):
            return first
        if (schema := _schema(line)) == SCHEMA:
            why = "is damaged, or of another version of zktop: its first line is not valid"
            raise UsageError(f"{self.path} {why}.")
        if schema.startswith(f"{_NAME}/"):
            raise UsageError(f"{self.path} is written as {schema}; this zktop reads {SCHEMA}.")
        raise UsageError(f"{self.path} is not a zktop recording: it has no valid first line.")

    def whole_lines(self, offset: int = 0) -> Iterator[bytes]:
        """Iterate over the complete lines as bytes. Set `cut_off` if the file is truncated."""
        rest = b""
        for chunk in self._unpack(offset):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        self.cut_off = self.cut_off or bool(rest)

    def starts(self) -> list[tuple[Millis, int]]:
        """Return the times at which reading can start, each with its offset in the file."""
        packed = self.path.read_bytes()
        return [(int(match[1]), match.start()) for match in _MEMBER.finditer(packed)]

    def _unpack(self, offset: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(offset)
            unpacked = GzipReader(file)
            while chunk := unpacked.read(_CHUNK_BYTES):
                yield chunk
            self.cut_off = self.cut_off or unpacked.is_damaged or unpacked.has_garbage


def story_of(lines: Iterable[AnyLine]) -> Iterator[StoryLine]:
    """Leave out repeated state, headers of pieces that continue the previous one, and summaries.

    After any other header the state is new, so it is kept.
    """
    facts_to_skip, is_after_header = 0, True
    for line in lines:
        match line:
            case Header():
                if not line.follows or is_after_header:
                    is_after_header = True
                    yield line
            case StateMark():
                facts_to_skip = 0 if is_after_header else line.facts
            case ImportSummary():
                pass
            case _ if facts_to_skip:
                facts_to_skip -= 1
            case _:
                is_after_header = False
                yield line


def _schema(line: bytes) -> str:
    """Return the schema that a line names, or an empty string."""
    try:
        return msgspec.json.decode(line, type=_SchemaOnly).schema
    except _DAMAGED:
        return ""


def clip(looks: Iterable[tuple[World, Millis]], file: IO[bytes], header: Header) -> None:
    """Write worlds at given times as a recording."""
    recorder = Recorder(file, header)
    write_looks(recorder, looks)
    recorder.close()


def write_looks(recorder: Recorder, looks: Iterable[tuple[World, Millis]]) -> World:
    """Write worlds at given times and return the last one."""
    previous = World()
    for world, at in looks:
        if world.gap_at != previous.gap_at:
            recorder.begin_again()
            previous = World()
        recorder.facts(tuple(facts_between(previous, world)))
        recorder.look(at)
        previous = world
    return previous


def redacted(fact: AnyFact) -> AnyFact:
    """Shorten a znode's data to what may name its owner or is read by a layout."""
    if not isinstance(fact, Node) or fact.data is None:
        return fact
    kept = without_payload(fact.data)
    return fact if kept is fact.data else msgspec.structs.replace(fact, data=kept)


def without_payload(data: bytes) -> bytes:
    """Return short data in full, but of longer data only what `redacted` keeps."""
    return data if len(data) <= MAX_UNREDACTED_BYTES else owner_part(data)
