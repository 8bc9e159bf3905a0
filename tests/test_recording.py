"""A recording returns what was read, even from a truncated file."""

import contextlib
import errno
import gzip
import io
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from zktop import recording as recording_file
from zktop.errors import UsageError
from zktop.model.facts import AnyFact, Children, Gone, Link, Node, NodeBatch, Stat, Watches
from zktop.model.text import MAX_LABEL_LENGTH, Text, decode
from zktop.model.world.world import World
from zktop.recording import (
    LEAD_MS,
    MAX_UNREDACTED_BYTES,
    STATE_INTERVAL_MS,
    BulkRecorder,
    Header,
    LookMark,
    Recorder,
    Recording,
    StateMark,
    clip,
    redacted,
)

HEADER = Header(tool="zktop 0.1.0", hosts="zk1:2181", roots=["/locks/**"])
FIRST = 1_800_000_000_000


def stat(czxid: int) -> Stat:
    """A Stat of a znode created by that transaction."""
    return Stat(czxid, czxid, FIRST, owner=7)


def story(looks: int, every: int = 1000) -> list[AnyFact | LookMark]:
    """A root whose members arrive and leave, read once a second."""
    root = Text("/locks/a")
    lines: list[AnyFact | LookMark] = [
        Link(state="connected", zxid=0, at=FIRST),
        Children(path=root, names=(), stat=stat(1), zxid=1, at=FIRST),
        Watches(server=Text("zk1:2181"), rows={7: (root,)}, zxid=1, at=FIRST),
    ]
    for n in range(looks):
        at, zxid = FIRST + n * every, 10 + 2 * n
        name = Text(f"/locks/a/lock-{n:010d}")
        lines.append(Node(path=name, stat=stat(zxid), data=b"w", zxid=zxid, at=at))
        if n > 2:
            gone = Text(f"/locks/a/lock-{n - 2:010d}")
            lines.append(Gone(path=gone, zxid=zxid + 1, at=at))
        lines.append(LookMark(zxid=zxid + (n > 2), at=at))
    return lines


def recorded(path: Path, lines: list[AnyFact | LookMark]) -> Path:
    """Write a story into a file, as a live run does."""
    with path.open("wb") as file:
        recorder = Recorder(file, HEADER)
        for line in lines:
            if isinstance(line, LookMark):
                recorder.look(line.at)
            else:
                recorder.facts([line])
        recorder.close()
    return path


def lines_of(recording: Recording, offset: int = 0) -> list[AnyFact | LookMark]:
    """The facts and readings of a recording, without the repeated state."""
    lines: list[AnyFact | LookMark] = []
    repeating = 0
    for line in recording.lines(offset):
        if isinstance(line, StateMark):
            repeating = line.facts
        elif repeating:
            repeating -= 1
        elif not isinstance(line, Header):
            lines.append(line)
    return lines


def world(recording: Recording, offset: int = 0) -> World:
    """The world after all facts from an offset in the file on."""
    facts = [
        f for f in recording.lines(offset) if not isinstance(f, Header | LookMark | StateMark)
    ]
    return World().after(*facts)


def told(lines: Iterable[Header | LookMark | AnyFact]) -> World:
    """The world after all facts of a story."""
    return World().after(*(line for line in lines if not isinstance(line, Header | LookMark)))


def looks_of(recording: Recording) -> int:
    """How many looks a story has."""
    return sum(isinstance(line, LookMark) for line in recording.story())


def test_siblings_are_written_one_by_one(tmp_path: Path) -> None:
    """A batch is recorded as one line for each znode, as in earlier versions."""
    file = tmp_path / "siblings.zktop"
    read = NodeBatch(
        path=Text("/locks/a"),
        names=(Text("x"), Text("y")),
        stats=(stat(5), stat(6)),
        data=(b"w", b"z" * 300),
        zxid=7,
        at=FIRST,
    )
    with file.open("wb") as out:
        recorder = Recorder(out, HEADER)
        recorder.facts([read])
        recorder.close()

    assert lines_of(Recording(file)) == [redacted(node) for node in read.nodes]
    assert World().after(read).families == World().after(*read.nodes).families


def test_recorded_facts_are_read_back(tmp_path: Path) -> None:
    """Every fact and every reading returns unchanged and in order."""
    lines = story(50)
    recording = Recording(recorded(tmp_path / "a.zktop", lines))

    assert lines_of(recording) == lines
    assert recording.header == HEADER
    assert not recording.cut_off


def test_reading_can_start_at_any_minute(tmp_path: Path) -> None:
    """Reading from the newest start before a time gives the same world as from the beginning."""
    lines = story(200)
    recording = Recording(recorded(tmp_path / "a.zktop", lines))
    offset = next(start for at, start in reversed(recording.starts()) if at <= FIRST + 130_000)
    state = next(iter(recording.lines(offset)))

    assert len(recording.starts()) == 1 + 199_000 // STATE_INTERVAL_MS
    assert isinstance(state, StateMark)
    assert state.at == FIRST + 2 * STATE_INTERVAL_MS
    assert world(recording, offset).family("/locks/a").members == (
        world(recording).family("/locks/a").members
    )


@pytest.fixture
def skips_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are not read whole."""
    monkeypatch.setattr(recording_file, "MIN_SKIPPED_BYTES", 1)


def test_a_small_recording_is_told_from_its_beginning(tmp_path: Path) -> None:
    """It is read in seconds, and a longer past shows more."""
    recording = Recording(recorded(tmp_path / "a.zktop", story(300, every=10_000)))
    recording.start_near(None)

    assert looks_of(recording) == 300


@pytest.mark.usefixtures("skips_little")
def test_a_story_starts_a_quarter_of_an_hour_before_a_time(tmp_path: Path) -> None:
    """It begins with the header and the whole state of that minute, and ends as the whole one."""
    path = recorded(tmp_path / "a.zktop", story(300, every=10_000))
    asked = FIRST + 2_000_000
    near, whole = Recording(path), Recording(path)
    near.start_near(asked)
    header, *lines = near.story()
    first = next(line.at for line in lines if isinstance(line, LookMark))

    assert header == near.header
    assert asked - LEAD_MS - STATE_INTERVAL_MS < first < asked - LEAD_MS + STATE_INTERVAL_MS
    assert told(lines).family("/locks/a") == told(whole.story()).family("/locks/a")


@pytest.mark.usefixtures("skips_little")
def test_a_story_starts_a_quarter_of_an_hour_before_the_end(tmp_path: Path) -> None:
    """A short recording is told from its beginning."""
    long = Recording(recorded(tmp_path / "long.zktop", story(300, every=10_000)))
    short = Recording(recorded(tmp_path / "short.zktop", story(80, every=10_000)))
    long.start_near(None)
    short.start_near(None)

    assert looks_of(long) == pytest.approx(90, abs=6)
    assert looks_of(short) == 80


@pytest.mark.usefixtures("skips_little")
def test_a_story_starts_before_the_clock_reaches_a_time_at_first(tmp_path: Path) -> None:
    """The clock is set back by half an hour: nothing after the first pass is left out."""
    before = story(200, every=10_000)
    after = [replace(line, at=line.at - 1_800_000) for line in story(400, every=10_000)[400:]]
    recording = Recording(recorded(tmp_path / "a.zktop", [*before, *after]))
    recording.start_near(FIRST + 1_990_000)

    assert max(line.at for line in recording.story() if isinstance(line, LookMark)) == (
        FIRST + 2_190_000
    )
    assert looks_of(recording) > 280


def test_the_state_behind_a_gap_has_nothing_from_before_it(tmp_path: Path) -> None:
    """Readers start at the state of a minute: a lock that was deleted in the gap is not in it."""
    path = tmp_path / "a.zktop"
    before = World().after(Node(path=Text("/locks/old"), stat=stat(1), zxid=1, at=FIRST))
    new = Node(path=Text("/locks/new"), stat=stat(2), zxid=2, at=FIRST + 1)
    after = World(gap_at=FIRST + 1).after(new)
    with path.open("wb") as file:
        looks = [(before, FIRST), (after, FIRST + 1), (after, FIRST + 1 + STATE_INTERVAL_MS)]
        clip(looks, file, HEADER)
    recording = Recording(path)

    last = world(recording, recording.starts()[-1][1])
    assert last.node("/locks/old") is None
    assert last.node("/locks/new") == after.node("/locks/new")


@given(st.data())
def test_a_cut_off_file_is_good_up_to_its_last_whole_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A truncated file returns a beginning of what was recorded."""
    lines = story(100)
    path = recorded(tmp_path_factory.mktemp("cut") / "a.zktop", lines)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(200, len(whole) - 1))])
    recording = Recording(path)
    remaining = lines_of(recording)

    assert remaining == lines[: len(remaining)]
    assert recording.cut_off or recording.starts()


@given(st.data(), st.sampled_from([b"\0", b"\xff", b"garbage"]))
def test_a_recording_that_is_damaged_at_its_end_is_good_up_to_there(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, spoilt: bytes
) -> None:
    """After a power loss a file may end in zeros: no valid line before them is lost."""
    lines = story(100)
    path = recorded(tmp_path_factory.mktemp("spoilt") / "a.zktop", lines)
    whole = path.read_bytes()
    good = whole[: data.draw(st.integers(300, len(whole) - 1))]
    path.write_bytes(good)
    before = lines_of(Recording(path))
    path.write_bytes(good + spoilt * 5000)
    recording = Recording(path)
    remaining = lines_of(recording)

    assert remaining[: len(before)] == before
    assert recording.cut_off


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not gzip",
        gzip.compress(b"{}\n"),
        gzip.compress(b'{"fact":"look","zxid":1,"at":2}\n'),
        gzip.compress(b"text\n"),
    ],
    ids=["empty", "text", "no fact", "no header", "packed text"],
)
def test_a_file_that_is_no_recording_is_refused_with_a_sentence(
    tmp_path: Path, content: bytes
) -> None:
    """The message says that it is no recording, without a traceback."""
    path = tmp_path / "other"
    path.write_bytes(content)

    with pytest.raises(UsageError, match="other is not a zktop recording"):
        Recording(path)


def test_a_header_that_is_not_valid_is_named_as_damaged(tmp_path: Path) -> None:
    """Its schema is the right one."""
    path = tmp_path / "damaged"
    path.write_bytes(gzip.compress(b'{"fact":"header","schema":"%b"}\n' % HEADER.schema.encode()))

    with pytest.raises(UsageError, match=r"damaged is damaged, or of another version of zktop"):
        Recording(path)


def test_a_recording_with_another_schema_is_refused(tmp_path: Path) -> None:
    """A newer zktop may have written it."""
    path = tmp_path / "later"
    header = HEADER.schema.replace("/1", "/2")
    path.write_bytes(gzip.compress(b'{"fact":"header","schema":"%b"}\n' % header.encode()))

    with pytest.raises(UsageError, match=r"later is written as zktop.recording/2.*recording/1"):
        Recording(path)


def test_a_pipe_is_refused_with_a_reason() -> None:
    """A recording is read from several offsets; a pipe cannot be."""
    reader, writer = os.pipe()
    os.close(writer)

    with pytest.raises(UsageError, match=r"cannot be read: .*not seekable"):
        Recording(Path(f"/dev/fd/{reader}"))
    os.close(reader)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A typing mistake in a file name reads like one."""
    with pytest.raises(UsageError, match="No such file"):
        Recording(tmp_path / "typo")


def test_redacting_keeps_what_names_an_owner() -> None:
    """All other data is left out, however short it is."""
    payload = {"HostName": "h1", "UserName": "vt", "password": "a", "more": {"a": "x" * 500}}
    node = Node(path=Text("/a"), stat=stat(1), data=json.dumps(payload).encode(), zxid=1, at=1)
    kept = redacted(node)

    assert isinstance(kept, Node)
    assert json.loads(kept.data or b"") == {"HostName": "h1", "UserName": "vt"}


@given(st.binary(min_size=MAX_UNREDACTED_BYTES + 1, max_size=4000))
def test_redacted_data_is_short(data: bytes) -> None:
    """Whatever is in a large znode, only a label can be in a recording."""
    kept = redacted(Node(path=Text("/a"), stat=stat(1), data=data, zxid=1, at=1))

    assert isinstance(kept, Node)
    assert len(decode(kept.data or b"")) <= MAX_LABEL_LENGTH + 1


def test_redacted_text_ends_with_a_whole_character() -> None:
    """Some characters have several bytes."""
    kept = redacted(
        Node(path=Text("/a"), stat=stat(1), data=b"x" + "ß".encode() * 300, zxid=1, at=1)
    )

    assert isinstance(kept, Node)
    assert "\ufffd" not in decode(kept.data or b"")


def test_nothing_read_is_an_honest_file() -> None:
    """A recorder that was given nothing writes nothing."""
    file = io.BytesIO()
    Recorder(file, HEADER).close()

    assert file.getvalue() == b""


class _FullDisk(io.BytesIO):
    """A disk with room for this number of writes."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self._left = writes

    def write(self, data: object) -> int:
        """Write, or raise."""
        self._left -= 1
        if self._left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)  # type: ignore[arg-type]  # bytes


@pytest.mark.parametrize("writes", range(22))
def test_a_disk_that_is_full_ends_an_import_with_an_error(writes: int) -> None:
    """Whichever write fails, the last one included; it never waits for its thread for ever."""
    recorder = BulkRecorder(_FullDisk(writes))

    def write_all() -> None:
        with contextlib.suppress(OSError):
            for at in (FIRST, FIRST + 1):
                recorder.begin(at)
                recorder.write([HEADER])
        recorder.close()

    thread = threading.Thread(target=pytest.raises, args=(OSError, write_all), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
