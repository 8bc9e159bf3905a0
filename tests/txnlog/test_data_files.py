"""Finding logs and snapshots in files, folders and archives."""

import gzip
import io
import lzma
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from txnlog.log_writer import snapshot, story

from zktop.errors import DataFileError
from zktop.txnlog.data_files import DataFile, data_files, open_unpacked

LOG, SNAPSHOT = story().bytes(), snapshot({"": (0, b"")})


def archive(path: Path, mode: str = "w:gz", folder: str = "data/version-2/") -> Path:
    """A tar of version-2."""
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, data in (("log.1", LOG), ("snapshot.0", SNAPSHOT), ("currentEpoch", b"1")):
            entry = tarfile.TarInfo(f"{folder}{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def kinds(*paths: Path) -> list[tuple[str, str, int | None]]:
    """Kind, first bytes, and zxid of what is found."""
    with data_files(paths) as files:
        found = []
        for file in files:
            with open_unpacked(file) as stream:
                found.append((file.kind, stream.read(4).decode("latin-1"), file.zxid))
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


def test_a_tar_of_the_form_before_posix_is_unpacked(tmp_path: Path) -> None:
    """It has no magic number: only its checksum shows what it is."""
    entry = tarfile.TarInfo("version-2/log.1")
    entry.size = len(LOG)
    header = bytearray(entry.tobuf(tarfile.USTAR_FORMAT))
    header[257:] = bytes(len(header) - 257)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    padding = bytes(-len(LOG) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)
    (tmp_path / "zk1.tar").write_bytes(header + LOG + padding)

    assert kinds(tmp_path / "zk1.tar") == [("log", "ZKLG", 1)]


@pytest.mark.parametrize("slashes", ["/", "//", "///"])
def test_a_tar_writes_nothing_outside_of_its_temporary_folder(
    tmp_path: Path, slashes: str
) -> None:
    """However many slashes its names begin with: the first two may be a root of their own."""
    real = tmp_path / "version-2"
    real.mkdir()
    (real / "log.1").write_bytes(b"precious")
    name = str(real).lstrip("/")

    kinds(archive(tmp_path / "a.tar", "w", f"{slashes}{name}/"))

    assert (real / "log.1").read_bytes() == b"precious"
    assert [path.name for path in real.iterdir()] == ["log.1"]


@pytest.mark.parametrize("folder", ["", "./", "version-2/"])
def test_tars_of_several_members_stay_apart(tmp_path: Path, folder: str) -> None:
    """Though the paths within them are alike."""
    tars = [archive(tmp_path / f"zk{number}.tar", "w", folder) for number in (1, 2)]

    with data_files(tars) as files:
        assert len({file.member for file in files}) == 2


def test_a_folder_that_may_not_be_listed_is_not_called_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names it."""

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)

    with pytest.raises(DataFileError, match=f"{tmp_path} cannot be read: Permission denied"):
        kinds(tmp_path)


def test_a_file_in_a_folder_that_may_not_be_entered_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not known whether it is a folder."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    for name in ("stat", "open"):
        monkeypatch.setattr(Path, name, refuse)

    with pytest.raises(DataFileError, match=r"log\.1 cannot be read: Permission denied"):
        kinds(tmp_path / "log.1")


def test_a_file_whose_first_bytes_cannot_be_read_is_unreadable() -> None:
    """As on a bad disk."""
    memory = Path("/proc/self/mem")  # nothing is at its beginning

    with (
        pytest.raises(DataFileError, match=r"log\.1 cannot be read"),
        open_unpacked(DataFile(memory, "log.1", "", "log")),
    ):
        pass


def test_the_content_of_a_file_decides(tmp_path: Path) -> None:
    """Whatever it is called."""
    (tmp_path / "copy").write_bytes(gzip.compress(LOG))

    assert kinds(tmp_path / "copy") == [("log", "ZKLG", None)]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("notes.txt", b"hello", "it begins with 68 65 6c 6c"),
        ("empty", b"", "it is empty"),
        ("log.1.gz", gzip.compress(LOG)[:11], "it is damaged"),
        ("log.1.xz", lzma.compress(LOG), "is not a tar file, or is damaged"),
        ("zk1.tar.zst", b"\x28\xb5\x2f\xfd" + LOG, "is compressed with zstd: unpack it first"),
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


def test_a_folder_of_clickhouse_keeper_is_refused_by_name(tmp_path: Path) -> None:
    """Like a single log of it."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "changelog_1_100.bin.zstd").write_bytes(b"x")

    with pytest.raises(DataFileError, match="zstd is a log of ClickHouse"):
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
