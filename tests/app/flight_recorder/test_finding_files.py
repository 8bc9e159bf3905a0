"""The minutes around a critical finding are kept in a file of their own."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from app.flight_recorder.test_ring_recorder import BEGIN, DiskThatFills, churn
from model.findings.cases import MINUTE, ctx, k, only
from msgspec.structs import replace
from output.stories import facts, settings

from zktop.app.flight_recorder import finding_files
from zktop.app.flight_recorder.finding_files import AFTER_MS, AGAIN_MS, BEFORE_MS, FindingFiles
from zktop.app.flight_recorder.retention import RingLimits, StoredPiece
from zktop.app.flight_recorder.ring_folder import (
    RingFolder,
    finding_files_in,
    piece_name,
    pieces_in,
)
from zktop.app.flight_recorder.ring_recorder import RingRecorder
from zktop.app.record_file import header_of
from zktop.app.replay import Replay
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact
from zktop.model.world.world import World

BEFORE, DEADLOCK = "X x: A ; Y x: B", "X x: A B ; Y x: B A"
LIMITS = RingLimits(keep=8 * 120_000, max_bytes=1 << 20)  # pieces of two minutes
STEP_MS = 5_000

Moments = Iterator[tuple[int, list[AnyFact]]]


class WatchedRun:
    """A live run as far as the recorder sees it."""

    def __init__(self, folder: RingFolder, at: int) -> None:
        self.notes: list[str] = []
        header = header_of("zk1:2181", settings(DEADLOCK))
        self.recorder = RingRecorder(folder, header, at, self.notes.append)
        self._examiner, self._world = Examiner(settings(DEADLOCK)), World()

    def look(self, at: int, new: list[AnyFact]) -> None:
        """Record new facts, look, and judge."""
        self._world = self._world.after(*new)
        self.recorder.facts(new)
        self.recorder.look(at)
        self.recorder.judge(self._examiner.look(self._world, at))


def incident(begin: int, deadlock: int, end: int) -> Moments:
    """A look every few seconds; a deadlock arrives."""
    for at in range(begin, end, STEP_MS):
        story = BEFORE if at < deadlock else DEADLOCK
        is_news = at in (begin, deadlock)
        yield at, facts(story, at=at, zxid=100 + at // STEP_MS % 1000) if is_news else []


def test_the_minutes_before_and_after_a_deadlock_are_kept(tmp_path: Path) -> None:
    """In one file that opens at the deadlock, after the ring has deleted these minutes."""
    run = WatchedRun(RingFolder(tmp_path, LIMITS), BEGIN)
    deadlock = BEGIN + 2 * BEFORE_MS
    for at, new in incident(BEGIN, deadlock, deadlock + AFTER_MS + LIMITS.keep):
        run.look(at, new)
    run.recorder.close()
    (kept,) = finding_files_in(tmp_path)
    replay = Replay(kept.path)
    reports = list(replay.reports())
    confirmed = replay.opens_at

    assert "-D1-" in kept.path.name
    assert [str(kept.path) in note for note in run.notes] == [True]
    assert confirmed is not None
    assert deadlock <= confirmed <= deadlock + 2 * STEP_MS
    assert confirmed - BEFORE_MS - LIMITS.piece_ms < reports[0].now <= confirmed - BEFORE_MS
    assert confirmed + AFTER_MS <= reports[-1].now <= confirmed + AFTER_MS + STEP_MS
    assert [len(one.deadlocks) for one in (reports[0], reports[-1])] == [0, 1]
    assert pieces_in(tmp_path)[0].begin >= reports[-1].now


def test_a_finding_that_comes_late_has_a_file_with_the_minutes_after_it(tmp_path: Path) -> None:
    """A file that earlier findings have made long enough is not extended for it."""
    notes: list[str] = []
    folder = RingFolder(tmp_path, LIMITS)
    recorder = RingRecorder(folder, header_of("x", settings(BEFORE)), BEGIN, notes.append)
    orphan = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    report = Examiner(settings(BEFORE)).look(World().after(*facts(BEFORE, at=BEGIN)), BEGIN)
    last = BEGIN + 16 * MINUTE
    for at in range(BEGIN, last + AFTER_MS + MINUTE, MINUTE):
        recorder.facts(facts(BEFORE, at=at, zxid=at - BEGIN + 1))
        recorder.look(at)
        is_new = at <= last and (at - BEGIN) % (4 * MINUTE) == 0
        found = (replace(orphan, id=f"D{at}", severity="critical"),) if is_new else ()
        recorder.judge(replace(report, findings=found, now=at))
    recorder.close()
    first, second = finding_files_in(tmp_path)

    assert [str(second.path) in note for note in notes] == [False] * 4 + [True]
    assert Replay(first.path).last().now >= last
    assert Replay(second.path).last().now >= last + AFTER_MS


def test_findings_that_share_a_file_have_links_to_it_with_their_names(tmp_path: Path) -> None:
    """Each opens at its own time; they are deleted with the file, and a restart makes no other."""
    notes: list[str] = []
    orphan = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    report = Examiner(settings(BEFORE)).look(World().after(*facts(BEFORE, at=BEGIN)), BEGIN)
    found = tuple(replace(orphan, id=f"D1-{n}", severity="critical") for n in range(3))
    for begin in (BEGIN, BEGIN + MINUTE):
        folder = RingFolder(tmp_path, LIMITS)
        recorder = RingRecorder(folder, header_of("x", settings(BEFORE)), begin, notes.append)
        for at, number in ((begin, 2), (begin + 1000, 3)):
            recorder.facts(facts(BEFORE, at=at, zxid=at - BEGIN + 1))
            recorder.look(at)
            recorder.judge(replace(report, findings=found[:number], now=at))
        recorder.close()
    (kept,) = finding_files_in(tmp_path)
    links = sorted(path for path in kept.path.parent.iterdir() if path != kept.path)
    targets = {path.resolve() for path in links}
    opened = [Replay(path).opens_at for path in (kept.path, *links)]
    folder.make_room_for_file(StoredPiece(tmp_path / "newer", at, 0), LIMITS.max_bytes // 2)
    names = [path.name.partition("Z-")[2] for path in (kept.path, *links)]

    assert names == ["D1-0.zktop", "D1-1.zktop", "D1-2.zktop"]
    assert targets == {kept.path}
    assert opened == [BEGIN, BEGIN, BEGIN + 1000]
    assert [note.rpartition(": ")[2] for note in notes] == list(map(str, (kept.path, *links)))
    assert not list(kept.path.parent.iterdir())


def test_after_a_restart_the_same_finding_has_no_second_file(tmp_path: Path) -> None:
    """Unless it comes again much later. A restart loop would fill the folder."""
    for begin in (BEGIN, BEGIN + 60_000, BEGIN + 120_000 + AGAIN_MS):
        run = WatchedRun(RingFolder(tmp_path, LIMITS), begin)
        for at, new in incident(begin, begin, begin + 30_000):
            run.look(at, new)
        run.recorder.close()

    assert len(finding_files_in(tmp_path)) == 2


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_the_minutes_after_a_finding_continue_after_a_restart(end: str, tmp_path: Path) -> None:
    """In the same file: before, the gap, and after; a killed recorder left half a line."""
    deadlock, stopped = BEGIN + BEFORE_MS, BEGIN + BEFORE_MS + 70_000
    first = WatchedRun(RingFolder(tmp_path, LIMITS), BEGIN)
    for at, new in incident(BEGIN, deadlock, stopped):
        first.look(at, new)
    if end == "closed":
        first.recorder.close()
    else:
        newest = pieces_in(tmp_path)[-1].path
        newest.write_bytes(newest.read_bytes()[:-3])
    second = WatchedRun(RingFolder(tmp_path, LIMITS), stopped + 30_000)
    for at, new in incident(stopped + 30_000, deadlock, deadlock + 2 * AFTER_MS):
        second.look(at, new)
    (kept,) = finding_files_in(tmp_path)
    replay = Replay(kept.path)
    times = [report.now for report in replay.reports()]

    assert not replay.is_cut_off
    assert times[0] == BEGIN
    assert deadlock + AFTER_MS <= times[-1] <= deadlock + AFTER_MS + 3 * STEP_MS
    gaps = [now - before for before, now in pairwise(times) if now - before > STEP_MS]
    assert [gap // 10_000 for gap in gaps] == [3]


def test_a_crash_loses_no_minutes_around_a_finding_however_late_the_restart(
    tmp_path: Path,
) -> None:
    """The minutes of a later finding that shares the file had not been copied yet."""
    later, stopped = BEGIN + 240_000, BEGIN + 290_000
    first = WatchedRun(RingFolder(tmp_path, LIMITS), BEGIN)
    for at, new in incident(BEGIN, BEGIN + 60_000, stopped):
        first.look(at, new if at != later else facts(f"{DEADLOCK} ; V x: C D ; W x: D C", at=at))
    (before,) = [Replay(kept.path).last().now for kept in finding_files_in(tmp_path)]
    WatchedRun(RingFolder(tmp_path, LIMITS), stopped + 2 * AFTER_MS)
    (kept,) = finding_files_in(tmp_path)

    assert [path.is_symlink() for path in sorted(kept.path.parent.iterdir())] == [False, True]
    assert before < later
    assert Replay(kept.path).last().now == at


def test_a_restart_long_after_a_finding_leaves_its_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its last piece is compared, as all of it was copied."""
    compared: list[Path] = []

    def counted(path: Path, piece: StoredPiece) -> bool:
        compared.append(piece.path)
        return ends_with(path, piece)

    ends_with = finding_files._ends_with
    monkeypatch.setattr(finding_files, "_ends_with", counted)
    deadlock = BEGIN + BEFORE_MS
    end = deadlock + AFTER_MS + BEFORE_MS
    first = WatchedRun(RingFolder(tmp_path, LIMITS), BEGIN)
    for at, new in incident(BEGIN, deadlock, end):
        first.look(at, new)
    first.recorder.close()
    (before,) = finding_files_in(tmp_path)
    second = WatchedRun(RingFolder(tmp_path, LIMITS), end + 30_000)
    for at, new in incident(end + 30_000, end + 30_000, end + 60_000):
        second.look(at, new)
    second.recorder.close()

    assert finding_files_in(tmp_path) == [before]
    assert len(compared) == 1


def crashed(folder: Path, later: int) -> Path:
    """A finding file at BEGIN; another finding came later. Its last piece is "a"."""
    (folder / piece_name(BEGIN - MINUTE)).write_bytes(b"a")
    orphan = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    files = FindingFiles(RingFolder(folder, LIMITS), header_of("x", settings(BEFORE)))
    path = files.begin(orphan, BEGIN)
    files.named_after(replace(orphan, id="later"), BEGIN + later)
    return path


def resumed(folder: Path, at: int) -> FindingFiles:
    """The files of a recorder that starts again after a crash."""
    files = FindingFiles(RingFolder(folder, LIMITS), header_of("x", settings(BEFORE)))
    files.resume(at)
    return files


def test_an_empty_piece_after_a_crash_hides_no_minutes(tmp_path: Path) -> None:
    """The recorder was killed before it wrote into it: it is the end of every file."""
    path = crashed(tmp_path, 0)
    (tmp_path / piece_name(BEGIN + MINUTE)).write_bytes(b"b")
    (tmp_path / piece_name(BEGIN + 2 * MINUTE)).write_bytes(b"")
    resumed(tmp_path, BEGIN + 3 * MINUTE)

    assert path.read_bytes().endswith(b"ab")


@pytest.mark.parametrize(("at", "is_open"), [(9 * MINUTE, True), (11 * MINUTE, False)])
def test_a_file_stays_open_after_a_restart_for_the_newest_finding(
    at: int, tmp_path: Path, *, is_open: bool
) -> None:
    """Which came five minutes after the first."""
    path = crashed(tmp_path, 5 * MINUTE)

    assert resumed(tmp_path, BEGIN + at).path == (path if is_open else None)


@pytest.mark.parametrize(("at", "has_room"), [(15 * MINUTE, True), (16 * MINUTE, False)])
def test_a_restart_makes_a_file_no_longer(at: int, tmp_path: Path, *, has_room: bool) -> None:
    """It has room for twenty minutes after its first finding, not after the restart."""
    crashed(tmp_path, 14 * MINUTE)
    files = resumed(tmp_path, BEGIN + at)

    assert files.path is not None
    assert files.has_room(BEGIN + at) == has_room


def test_a_full_disk_in_the_minutes_before_leaves_the_finding_readable(tmp_path: Path) -> None:
    """The torn end of a piece is not copied: a reader would stop there."""
    folder = DiskThatFills(tmp_path, LIMITS)
    run = WatchedRun(folder, BEGIN)
    deadlock = BEGIN + 120_000
    for at, new in incident(BEGIN, deadlock, deadlock + 60_000):
        folder.is_full = at == BEGIN + 30_000
        run.look(at, new)
    run.recorder.close()
    (kept,) = finding_files_in(tmp_path)
    replay = Replay(kept.path)
    times = [report.now for report in replay.reports()]

    assert not replay.is_cut_off
    assert replay.opens_at is not None
    assert (times[0], times[-1]) == (BEGIN, at)


def test_a_finding_while_the_disk_is_full_is_kept_when_there_is_room_again(tmp_path: Path) -> None:
    """With the time at which it came, although it is over by then; until then there is no file."""
    folder = DiskThatFills(tmp_path, LIMITS)
    run = WatchedRun(folder, BEGIN)
    deadlock, kept = BEGIN + 60_000, []
    for at, new in incident(BEGIN, deadlock, deadlock + AFTER_MS + 60_000):
        folder.is_full = deadlock - 10_000 <= at < deadlock + 60_000
        is_over = at == deadlock + 40_000
        run.look(at, facts(BEFORE, at=at, zxid=1_000) if is_over else new)
        kept += finding_files_in(tmp_path) if folder.is_full else []
    run.recorder.close()
    (file,) = finding_files_in(tmp_path)
    replay = Replay(file.path)
    reports = [*replay.reports()]
    times = [report.now for report in reports]

    assert (kept, reports[-1].deadlocks) == ([], ())
    assert deadlock <= file.begin < deadlock + 40_000
    assert (times[0], replay.opens_at, replay.is_cut_off) == (BEGIN, file.begin, False)
    assert times[-1] >= file.begin + AFTER_MS
    assert run.notes[-1].endswith(f" and the minutes around it: {file.path}")


def test_files_around_findings_count_in_the_size(tmp_path: Path) -> None:
    """The folder is never larger than allowed while and after one is written."""
    run = WatchedRun(RingFolder(tmp_path, LIMITS), BEGIN)
    run.look(BEGIN, facts(BEFORE, at=BEGIN))
    for at, new in churn(900):
        more = facts(DEADLOCK, at=at, zxid=900) if at == BEGIN + 400_000 else []
        run.look(at, [*more, *new])
        files = (file for file in tmp_path.rglob("*") if file.is_file())
        assert sum(file.stat().st_size for file in files) <= LIMITS.max_bytes
    run.recorder.close()

    assert len(finding_files_in(tmp_path)) == 1


def test_only_critical_findings_that_are_new_have_files(tmp_path: Path) -> None:
    """However long they last."""
    files = FindingFiles(RingFolder(tmp_path, LIMITS), header_of("zk1:2181", settings(BEFORE)))
    orphan = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    critical = replace(orphan, id="D1-1", severity="critical")
    found = (replace(orphan, severity="warning"), critical)

    assert files.arrived(found, BEGIN) == [critical]
    assert files.arrived(found, BEGIN + 2 * AGAIN_MS) == []
    assert files.arrived((), BEGIN + 3 * AGAIN_MS) == []
    assert files.arrived(found, BEGIN + 4 * AGAIN_MS) == [critical]


def test_a_file_that_cannot_be_continued_is_named(tmp_path: Path) -> None:
    """The recorder goes on without it."""
    folder = DiskThatFills(tmp_path, LIMITS)
    run = WatchedRun(folder, BEGIN)
    deadlock = BEGIN + 60_000
    for at, new in incident(BEGIN, deadlock, deadlock + 2 * LIMITS.piece_ms):
        folder.is_full = at >= deadlock + LIMITS.piece_ms // 2
        run.look(at, new)
    run.recorder.close()
    (kept,) = finding_files_in(tmp_path)

    assert f"{kept.path} cannot be read or written: No space left on device." in run.notes


def test_the_newest_pieces_are_kept_if_not_all_fit(tmp_path: Path) -> None:
    """The finding is in the last one. All such files take at most half of the folder."""
    for number in range(5):
        path = tmp_path / piece_name(BEGIN + number * 60_000)
        path.write_bytes(b"%d" % number * (LIMITS.max_bytes // 6))
    files = FindingFiles(RingFolder(tmp_path, LIMITS), header_of("zk1:2181", settings(BEFORE)))
    orphan = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    path = files.begin(orphan, BEGIN + BEFORE_MS)

    assert path.read_bytes()[-1:] == b"4"
    assert LIMITS.max_bytes // 3 < path.stat().st_size <= LIMITS.max_bytes // 2
