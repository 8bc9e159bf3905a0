"""Finding logs and snapshots in files, folders and archives."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from txnlog.log_writer import snapshot, story

from zktop.errors import DataFileError
from zktop.txnlog.data_files import data_files, open_unpacked

LOG, SNAPSHOT = story().bytes(), snapshot({"": (0, b"")})


def archive(path: Path, mode: str = "w:gz") -> Path:
    """A tar of version-2."""
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, data in (("log.1", LOG), ("snapshot.0", SNAPSHOT), ("currentEpoch", b"1")):
            entry = tarfile.TarInfo(f"data/version-2/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def kinds(*paths: Path) -> list[tuple[str, str, int | None]]:
    """Kind, first bytes, and zxid of what is found."""
    with data_files(paths) as files:
        found = []
        for file in files:
            with open_unpacked(file) as stream:
                found.append((file.kind, stream.read(4).decode(), file.zxid))
        return found


def test_a_folder_is_searched_for_names_of_zookeeper(tmp_path: Path) -> None:
    """Other files in it are left alone; compressed ones are unpacked."""
    (tmp_path / "version-2").mkdir()
    for name, data in (
        ("log.1f", LOG),
        ("snapshot.1e.gz", gzip.compress(SNAPSHOT)),
        ("acceptedEpoch", b"1"),
        ("log.1f.fixed", b"x"),
    ):
        (tmp_path / "version-2" / name).write_bytes(data)

    assert kinds(tmp_path) == [("log", "ZKLG", 0x1F), ("snapshot", "ZKSN", 0x1E)]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_tar_is_unpacked(tmp_path: Path, mode: str) -> None:
    """However it is compressed."""
    path = archive(tmp_path / "zk1.tar", mode)

    assert kinds(path) == [("log", "ZKLG", 1), ("snapshot", "ZKSN", 0)]


def test_the_content_of_a_file_decides(tmp_path: Path) -> None:
    """Whatever it is called."""
    (tmp_path / "copy").write_bytes(gzip.compress(LOG))

    assert kinds(tmp_path / "copy") == [("log", "ZKLG", None)]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("notes.txt", b"hello", "it begins with 68 65 6c 6c"),
        ("empty", b"", "it is empty"),
        ("changelog_1_100.bin", b"x", "ClickHouse Keeper"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    """In a sentence that names it."""
    (tmp_path / name).write_bytes(data)

    with pytest.raises(DataFileError, match=sentence):
        kinds(tmp_path / name)


def test_missing_paths_and_folders_without_logs_are_refused(tmp_path: Path) -> None:
    """With what to give instead."""
    with pytest.raises(DataFileError, match="No such file"):
        kinds(tmp_path / "none")
    with pytest.raises(DataFileError, match="Give dataDir/version-2"):
        kinds(tmp_path)


@given(st.integers(0, 11_000), st.binary(min_size=1, max_size=50))
def test_a_damaged_tar_is_refused_or_read_as_far_as_it_goes(
    tmp_path_factory: pytest.TempPathFactory, at: int, piece: bytes
) -> None:
    """Never with another exception."""
    folder = tmp_path_factory.mktemp("tar")
    path = archive(folder / "a.tar", "w" if at % 2 else "w:gz")
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at : at + len(piece)] = piece
    path.write_bytes(data if at % 3 else data[:at])
    try:
        kinds(path)
    except DataFileError as error:
        assert str(path) in str(error)  # noqa: PT017
