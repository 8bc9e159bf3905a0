"""Facts to a file and back: what was read, not what was concluded.

A recording is JSON lines in gzip. The first line says what it is, then comes one fact a line, and
a line for every moment at which the live run looked at its world: a replay that looks at the same
moments comes to the same verdicts. Once a minute a new gzip member begins with everything known at
that time, so that a reader can start there. Each member carries its time in its header, where a
search through the compressed bytes finds it.

A file that was cut off, by a crash or a full disk, is good up to its last whole line; so is one
that goes on with something else, as where a machine lost power.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Final, Literal

import msgspec

from zktop.errors import UsageError
from zktop.model.facts import AnyFact, Fact, Millis, Node, SourceFact, single_facts
from zktop.model.settings import Settings
from zktop.model.text import label
from zktop.model.world.world import World, difference, state

_NAME: Final = "zktop.recording"
SCHEMA: Final = "zktop.recording/1"
STATE_EVERY: Millis = 60_000
LONGEST_DATA = 256  # bytes of a znode's data that are kept when redacting
LONGEST_VALUE = 64  # and characters of a value, where the data is a JSON object

_MEMBER = re.compile(rb"\x1f\x8b\x08\x08.{6}zktop-(\d{13})\x00", re.DOTALL)
_CHUNK = 1 << 16
_SPOILT = (msgspec.DecodeError, UnicodeDecodeError)


class Header(msgspec.Struct, frozen=True, tag_field="fact", tag="header", kw_only=True):
    """The first line: which tool recorded what."""

    schema: Literal["zktop.recording/1"] = SCHEMA
    tool: str
    hosts: str
    roots: list[str]
    redacted: bool = True
    settings: Settings | None = None  # what the live run judged by


class _Form(msgspec.Struct):
    schema: str = ""


class LookMark(Fact, frozen=True, tag="look"):
    """The live run looked at its world at this moment, at everything or only at what changed."""

    thorough: bool = True


class StateMark(Fact, frozen=True, tag="state"):
    """So many facts follow that repeat everything known at this moment."""

    facts: int


RecordingLine = Annotated[
    Header | LookMark | StateMark | AnyFact, msgspec.Meta(description="one line of a recording")
]

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Header | LookMark | StateMark | AnyFact] = msgspec.json.Decoder(
    RecordingLine
)


class Recorder:
    """Writes facts as they come; `look` marks the moments at which verdicts were made."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        """Begin a recording; the file is the caller's to open and to close."""
        self._file = file
        self._redacted = header.redacted
        self._world = World()
        self._state_at: Millis | None = None
        self._header = header
        self._member: gzip.GzipFile | None = None

    def facts(self, facts: Iterable[SourceFact]) -> None:
        """Write what was read."""
        told = [redacted(fact) if self._redacted else fact for fact in single_facts(facts)]
        if not told:
            return
        self._world = self._world.after(*told)
        if self._member is None:
            self._begin(max(fact.at for fact in told))  # it may be a state that is long known
            self._write(self._header)
        for fact in told:
            self._write(fact)

    def look(self, at: Millis, *, thorough: bool = True) -> None:
        """Mark a moment at which the world was looked at; begin a new member once a minute."""
        if self._member is None:
            self._begin(at)
            self._write(self._header)
        self._write(LookMark(zxid=self._world.zxid, at=at, thorough=thorough))
        if self._state_at is not None and at - self._state_at >= STATE_EVERY:
            self._begin(at)
            facts = tuple(state(self._world))
            for line in (StateMark(zxid=self._world.zxid, at=at, facts=len(facts)), *facts):
                self._write(line)
        elif self._member is not None:
            self._member.flush()  # what was looked at is on disk, whatever happens next

    def close(self) -> None:
        """Finish the last member; the file stays the caller's."""
        if self._member is not None:
            self._member.close()
            self._member = None

    def _begin(self, at: Millis) -> None:
        self.close()
        self._state_at = at
        self._member = gzip.GzipFile(f"zktop-{at:013d}", "wb", 6, self._file, mtime=0)

    def _write(self, line: Header | LookMark | StateMark | AnyFact) -> None:
        if self._member is not None:
            self._member.write(_encoder.encode(line) + b"\n")


class Recording:
    """A recorded file: its header, its lines, and the places where reading can start."""

    def __init__(self, path: Path) -> None:
        """Open a recording; a file that is none is refused with a sentence."""
        self.path = path
        self.cut_off = False  # known when all lines were read
        try:
            self.header = self._header()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error

    def lines(self, offset: int = 0) -> Iterator[Header | LookMark | StateMark | AnyFact]:
        """Go through the lines from a member on; stop where the file was cut off or is spoilt."""
        self.cut_off = False
        try:
            yield from map(_decoder.decode, self._whole_lines(offset))
        except _SPOILT:
            self.cut_off = True

    def story(self) -> Iterator[LookMark | AnyFact]:
        """Go through what was read and when it was looked at, without what repeats the state."""
        repeated = 0
        for line in self.lines():
            match line:
                case Header():
                    pass
                case StateMark():
                    repeated = line.facts
                case _ if repeated:
                    repeated -= 1
                case _:
                    yield line

    def _header(self) -> Header:
        line = next(self._whole_lines(0), b"")
        try:
            first = _decoder.decode(line)
        except _SPOILT:
            first = None
        if isinstance(first, Header):
            return first
        if (schema := _schema(line)).startswith(f"{_NAME}/"):
            raise UsageError(f"{self.path} is written as {schema}; this zktop reads {SCHEMA}.")
        raise UsageError(f"{self.path} is no zktop recording: it does not begin like one.")

    def _whole_lines(self, offset: int) -> Iterator[bytes]:
        rest = b""
        for chunk in self._unpacked(offset):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        self.cut_off = self.cut_off or bool(rest)

    def starts(self) -> list[tuple[Millis, int]]:
        """Give the moments at which reading can start, each with its offset in the file."""
        packed = self.path.read_bytes()
        return [(int(found[1]), found.start()) for found in _MEMBER.finditer(packed)]

    def _unpacked(self, offset: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(offset)
            packed, unpacker = file.read(_CHUNK), _member()
            while packed:
                before = unpacker.copy()
                try:
                    yield unpacker.decompress(packed)
                except zlib.error:
                    yield from _up_to_the_damage(before, packed)
                    break
                packed = unpacker.unused_data or file.read(_CHUNK)
                if unpacker.eof:
                    if not packed:
                        return  # ended between two members: nothing is missing
                    unpacker = _member()
        self.cut_off = True


def _member() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=31)  # gzip, not bare zlib


def _up_to_the_damage(unpacker: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    """Unpack what is good before it, which is lost where all is unpacked at once."""
    with suppress(zlib.error):
        for place in range(len(packed)):
            yield unpacker.decompress(packed[place : place + 1])


def _schema(line: bytes) -> str:
    """Give what a line says of its form; nothing where it says nothing."""
    try:
        return msgspec.json.decode(line, type=_Form).schema
    except _SPOILT:
        return ""


def clip(looks: Iterable[tuple[World, Millis]], file: IO[bytes], header: Header) -> None:
    """Write what was known at these moments as a recording: verdicts are made of nothing else."""
    recorder, before = Recorder(file, header), World()
    for world, at in looks:
        recorder.facts(tuple(difference(before, world)))
        recorder.look(at)
        before = world
    recorder.close()


def redacted(fact: AnyFact) -> AnyFact:
    """Keep of a znode's data what may name its owner: short data, or its beginning in one line."""
    if not isinstance(fact, Node) or fact.data is None or len(fact.data) <= LONGEST_DATA:
        return fact
    return msgspec.structs.replace(fact, data=_without_payload(fact.data))


def _without_payload(data: bytes) -> bytes:
    """Keep what names an owner: of JSON the short scalars, of other data the first line."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return label(data.split(b"\n", 1)[0]).encode()[:LONGEST_DATA]
    if not isinstance(told, dict):
        return b""
    short = {key: value for key, value in told.items() if len(json.dumps(value)) <= LONGEST_VALUE}
    return json.dumps({k: v for k, v in short.items() if not isinstance(v, dict | list)}).encode()
