"""A ring of recordings: its size, its pieces, and what it says after a full disk."""

import errno
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from output.stories import facts, settings

from zktop.app.flight_recorder.read_ring import LEAD_MS, RingRecording
from zktop.app.flight_recorder.retention import RingLimits
from zktop.app.flight_recorder.ring_folder import RingFolder, open_ring, pieces_in
from zktop.app.flight_recorder.ring_recorder import RETRY_MS, RingRecorder
from zktop.app.record_file import header_of
from zktop.app.replay import Replay
from zktop.errors import UsageError
from zktop.model.facts import AnyFact, Node, Stat
from zktop.model.text import Text
from zktop.recording import Recording

BEGIN = 1_800_000_000_000
STORY = "X x: A B"
HEADER = header_of("zk1:2181", settings(STORY))
LIMITS = RingLimits(keep=60_000, max_bytes=64 << 10)


class DiskThatFills(RingFolder):
    """A folder on a disk that may be full."""

    is_full = False

    def room_for(self, size: int, at: int) -> None:
        """Fail while it is full."""
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().room_for(size, at)


def recorder(folder: RingFolder, at: int, notes: list[str] | None = None) -> RingRecorder:
    """A recorder that has begun at a time with two clients and one lock."""
    begun = RingRecorder(folder, HEADER, at, (notes if notes is not None else []).append)
    begun.facts(facts(STORY, at=at))
    begun.look(at)
    return begun


def churn(seconds: int) -> Iterator[tuple[int, list[AnyFact]]]:
    """New data once a second that cannot be compressed."""
    dice = random.Random(1)
    for second in range(1, seconds):
        at, zxid = BEGIN + second * 1000, 1000 + second
        data, stat = dice.randbytes(200), Stat(zxid, zxid, at)
        paths = (Text(f"/locks/y/lock-{n:010d}") for n in range(20))
        yield at, [Node(path=path, stat=stat, data=data, zxid=zxid, at=at) for path in paths]


def ends_of(folder: Path) -> list[int]:
    """The times of all reports of a ring."""
    return [report.now for report in Replay(folder).reports()]


def test_under_churn_it_is_never_larger_or_older_than_allowed(tmp_path: Path) -> None:
    """After each second; the newest piece always is there."""
    folder = RingFolder(tmp_path, LIMITS)
    writing = recorder(folder, BEGIN)
    for at, new in churn(300):
        writing.facts(new)
        writing.look(at)
        found = pieces_in(tmp_path)
        assert sum(piece.size for piece in found) <= LIMITS.max_bytes
        assert all(piece.begin >= at - LIMITS.keep for piece in found)
    writing.close()

    assert ends_of(tmp_path)[-1] == at
    assert len(found) > 2


def test_each_piece_opens_alone(tmp_path: Path) -> None:
    """It begins with everything that was known."""
    writing = recorder(RingFolder(tmp_path, LIMITS), BEGIN)
    for second in range(1, 30):
        writing.look(BEGIN + second * 1000)
    writing.close()
    pieces = pieces_in(tmp_path)

    assert len(pieces) > 2
    for piece in pieces:
        report = Replay(piece.path).last()
        assert [waiter.owner for waiter in report.view("/locks/x").waiters] == ["B"]


def test_the_ring_is_read_as_if_it_were_one_file(tmp_path: Path) -> None:
    """Each look once, and no connection is lost in between."""
    writing = recorder(RingFolder(tmp_path, LIMITS), BEGIN)
    for second in range(1, 30):
        writing.look(BEGIN + second * 1000)
    writing.close()
    reports = list(Replay(tmp_path).reports())

    assert [report.now for report in reports] == [BEGIN + second * 1000 for second in range(30)]
    assert {report.world.link.state for report in reports if report.world.link} == {"connected"}
    assert not any(report.events for report in reports)


def test_a_moment_of_a_long_ring_is_read_from_shortly_before(tmp_path: Path) -> None:
    """A quarter of an hour, and at most one piece more."""
    limits = RingLimits(keep=48 * 3_600_000, max_bytes=1 << 20)
    writing = recorder(RingFolder(tmp_path, limits), BEGIN)
    for minute in range(1, 120):
        writing.look(BEGIN + minute * 60_000)
    writing.close()
    seen: list[int] = []
    at = BEGIN + 90 * 60_000
    last = Replay(tmp_path).last(at, lambda report: seen.append(report.now))

    assert last.now == at
    assert at - LEAD_MS - limits.piece_ms <= seen[0] <= at - LEAD_MS
    assert [waiter.owner for waiter in last.view("/locks/x").waiters] == ["B"]


def test_a_restart_is_shown_as_a_lost_connection(tmp_path: Path) -> None:
    """What changed meanwhile is an event after the gap."""
    recorder(RingFolder(tmp_path, LIMITS), BEGIN).close()
    after = RingRecorder(RingFolder(tmp_path, LIMITS), HEADER, BEGIN + 20_000, print)
    after.facts(facts("X x: B", at=BEGIN + 20_000, zxid=500))
    after.look(BEGIN + 20_000)
    after.close()
    states = [report.world.link.state for report in Replay(tmp_path).reports()]

    assert states == ["connected", "lost", "connected"]
    assert [holder.owner for holder in Replay(tmp_path).last().view("/locks/x").holders] == ["B"]


def test_a_moment_long_after_the_last_look_before_a_restart_is_unknown(tmp_path: Path) -> None:
    """The locks from before the gap are shown, as those of a lost connection."""
    limits = RingLimits(keep=48 * 3_600_000, max_bytes=1 << 20)
    for begin in (BEGIN, BEGIN + 600_000):
        recorder(RingFolder(tmp_path, limits), begin).close()
    last = Replay(tmp_path).last(BEGIN + 300_000)

    assert last.is_lost
    assert last.view("/locks/x")


def test_a_full_disk_is_reported_once_and_recording_continues(tmp_path: Path) -> None:
    """The gap is shown like a restart; nothing before it is lost."""
    notes: list[str] = []
    folder = DiskThatFills(tmp_path, RingLimits(keep=600_000, max_bytes=64 << 10))
    writing = recorder(folder, BEGIN, notes)
    folder.is_full = True
    full_ms = 5 * RETRY_MS
    for at in range(BEGIN + 1000, BEGIN + full_ms, 1000):
        writing.look(at)
    folder.is_full = False
    for at in range(BEGIN + full_ms, BEGIN + full_ms + 2 * RETRY_MS, 1000):
        writing.look(at)
    writing.close()

    assert len(notes) == 2
    assert "No space left on device. Recording pauses until it can." in notes[0]
    assert notes[1] == f"{tmp_path} can be written again; recording continues."
    states = [report.world.link.state for report in Replay(tmp_path).reports()]
    assert states.count("lost") == 1
    assert ends_of(tmp_path)[0] == BEGIN
    assert ends_of(tmp_path)[-1] == at
    waiters = Replay(tmp_path).last().view("/locks/x").waiters
    assert [waiter.owner for waiter in waiters] == ["B"]


def test_after_a_clock_that_was_ahead_a_write_error_is_forgotten_in_time(tmp_path: Path) -> None:
    """The new pieces have names after the one from the future."""
    recorder(RingFolder(tmp_path, LIMITS), BEGIN + 3_600_000).close()
    notes: list[str] = []
    folder = DiskThatFills(tmp_path, LIMITS)
    writing = recorder(folder, BEGIN, notes)
    folder.is_full = True
    writing.look(BEGIN + 1000)
    folder.is_full = False
    for second in range(2, 2 + 2 * RETRY_MS // 1000):
        writing.look(BEGIN + second * 1000)
    writing.close()

    assert notes[-1].endswith("can be written again; recording continues.")


def test_a_state_that_is_too_large_is_a_sentence(tmp_path: Path) -> None:
    """Like a full disk; the folder stays within its limit."""
    notes: list[str] = []
    recorder(RingFolder(tmp_path, RingLimits(60_000, 100)), BEGIN, notes).close()

    assert len(notes) == 1
    assert "does not fit within --max-size" in notes[0]
    assert pieces_in(tmp_path) == []


def test_a_folder_has_one_recorder(tmp_path: Path) -> None:
    """The second one is refused while the first one runs."""
    with (
        open_ring(tmp_path / "ring", LIMITS),
        pytest.raises(UsageError, match="in use by another"),
        open_ring(tmp_path / "ring", LIMITS),
    ):
        pass
    with open_ring(tmp_path / "ring", LIMITS):
        pass


def test_a_name_with_an_impossible_date_is_no_piece(tmp_path: Path) -> None:
    """Somebody renamed a file: the others are still read."""
    recorder(RingFolder(tmp_path, LIMITS), BEGIN).close()
    (tmp_path / "zktop-20261331T120000.000Z.zktop").touch()

    assert [piece.begin for piece in pieces_in(tmp_path)] == [BEGIN]


def test_a_folder_without_recordings_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """It names the folder."""
    with pytest.raises(UsageError, match=r"contains no recording made by `zktop record --dir`"):
        Replay(tmp_path)


def test_a_ring_is_opened_without_reading_its_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names have their times."""
    writing = recorder(RingFolder(tmp_path, LIMITS), BEGIN)
    for second in range(1, 30):
        writing.look(BEGIN + second * 1000)
    writing.close()
    monkeypatch.setattr(Recording, "starts", lambda _self: pytest.fail("a piece was read"))
    ring = RingRecording(tmp_path)
    ring.start_near(None)

    assert ring.begin == BEGIN


def test_a_file_around_a_finding_that_cannot_be_read_is_named_by_its_folder(
    tmp_path: Path,
) -> None:
    """The recorder goes on without it."""
    recorder(RingFolder(tmp_path, LIMITS), BEGIN).close()
    folder = RingFolder(tmp_path, LIMITS)
    folder.finding_file("D1", BEGIN).path.mkdir(parents=True)
    notes: list[str] = []
    recorder(RingFolder(tmp_path, LIMITS), BEGIN + 20_000, notes).close()

    assert notes == [f"{tmp_path}/findings cannot be read or written: Is a directory."]
