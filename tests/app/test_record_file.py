"""A file that discards writes after the first error."""

from pathlib import Path

from zktop.app.record_file import FailsafeFile


def test_a_closed_file_has_everything_that_was_written(tmp_path: Path) -> None:
    """Closing it again does nothing."""
    told: list[object] = []
    file = FailsafeFile((tmp_path / "file").open("wb"), lambda *what: told.append(what))
    file.write(b"all of it")
    file.close()
    file.close()

    assert file.closed
    assert (tmp_path / "file").read_bytes() == b"all of it"
    assert told == []


def test_a_full_disk_is_reported_once() -> None:
    """Further writes, flush and close are silent."""
    told: list[object] = []
    file = FailsafeFile(Path("/dev/full").open("wb"), lambda *what: told.append(what))  # noqa: SIM115  it closes it
    file.write(b"x" * 100_000)
    file.flush()
    file.close()

    assert file.has_failed
    assert len(told) == 1
