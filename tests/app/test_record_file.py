"""A file that discards writes after the first error; a recording that begins with the past."""

from pathlib import Path

from output.stories import facts
from ui.example_past import BEGIN, past

from zktop.app.record_file import FailsafeFile, RecorderWithPast, header_of
from zktop.app.replay import Replay
from zktop.recording import Recorder


def test_the_past_comes_before_facts_read_meanwhile(tmp_path: Path) -> None:
    """A replay has the reports of the past, and then those of the live run."""
    file = tmp_path / "a.zktop"
    *earlier, last = past()
    worlds = [(frame.report.world, frame.at) for frame in earlier]
    with file.open("wb") as out:
        header = header_of("zk1:2181", last.report.settings)
        recorder = RecorderWithPast(Recorder(out, header), worlds, last.report.world)
        recorder.look(last.at)
        recorder.facts(facts("Z x: new", at=BEGIN + 30_000, zxid=5_000))
        recorder.look(BEGIN + 30_000)
        recorder.close()
    reports = list(Replay(file).reports())

    assert [report.now for report in reports] == [*(one.at for one in past()), BEGIN + 30_000]
    assert [report.paths for report in reports[:-1]] == [one.report.paths for one in past()]
    assert [len(report.deadlocks) for report in reports[:-1]] == [
        len(one.report.deadlocks) for one in past()
    ]
    assert "/locks/z" in reports[-1].paths


def test_a_closed_file_has_everything_that_was_written(tmp_path: Path) -> None:
    """Closing it again does nothing."""
    found: list[object] = []
    file = FailsafeFile((tmp_path / "file").open("wb"), lambda *what: found.append(what))
    file.write(b"all of it")
    file.close()
    file.close()

    assert file.closed
    assert (tmp_path / "file").read_bytes() == b"all of it"
    assert found == []


def test_a_full_disk_is_reported_once() -> None:
    """Further writes, flush and close are silent."""
    found: list[object] = []
    file = FailsafeFile(Path("/dev/full").open("wb"), lambda *what: found.append(what))  # noqa: SIM115  it closes it
    file.write(b"x" * 100_000)
    file.flush()
    file.close()

    assert file.has_failed
    assert len(found) == 1
