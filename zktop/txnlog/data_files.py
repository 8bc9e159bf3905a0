"""Finds transaction logs, snapshots and audit logs in files, folders and tars, and opens them.

Files in a folder or tar are recognised by name, a single file by its content. No file of ZooKeeper
is opened for writing. The files of a tar are unpacked into a temporary folder, without the zeros
that pad logs.
"""

import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Literal

import msgspec

from zktop.byte_streams import GZIP_MAGIC, ByteStream, GzipReader
from zktop.errors import DataFileError
from zktop.txnlog import log_records, snapshot_file
from zktop.txnlog.audit_lines import audit_lines
from zktop.txnlog.compressed import SNAPPY_MAGIC, SnappyReader, is_damaged

_NAME: Final = re.compile(r"(log|snapshot)\.([0-9a-f]{1,16})(?:\.gz|\.snappy)?")
_AUDIT_NAME: Final = re.compile(r"zookeeper_audit\.log(?:\.(\d+))?(?:\.gz)?")
_KEEPER: Final = re.compile(r"changelog_\d+")
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_PACKED_TAR_MAGICS: Final = (b"BZh", b"\xfd7zXZ")  # bzip2 and xz
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_CHUNK: Final = 1 << 20
_SMALL_CHUNK: Final = 1 << 14  # slow, but at most this much is lost where a tar is cut off
_SEARCHED_BYTES: Final = 16 << 20  # within which an audit log of any name must have its first line

FileKind = Literal["log", "snapshot", "audit"]
_KIND_OF_MAGIC: Final[dict[bytes, FileKind]] = {
    log_records.MAGIC: "log",
    snapshot_file.MAGIC: "snapshot",
}


class DataFile(msgspec.Struct, frozen=True):
    """A transaction log, a snapshot or an audit log."""

    path: Path
    name: str  # for messages
    member: str  # its folder, which holds the files of one ensemble member
    kind: FileKind
    zxid: int | None = None  # from the name: of a log's first record, or a snapshot's last


def is_data_name(name: str) -> bool:
    """Return whether this is ZooKeeper's name for a log, a snapshot or an audit log."""
    return bool(_NAME.fullmatch(name) or _AUDIT_NAME.fullmatch(name))


@contextmanager
def data_files(
    paths: Sequence[Path], on_note: Callable[[str], object] = lambda _note: None
) -> Iterator[list[DataFile]]:
    """Find all files. Raise DataFileError if a path holds none."""
    with ExitStack() as stack:
        files: list[DataFile] = []
        for path in paths:
            if os.path.isdir(path):  # noqa: PTH112  False where Path.is_dir() raises
                in_path = list(_in_folder(path))
            elif _is_tar(path):
                unpacked = Path(stack.enter_context(_unpacked(path, on_note)))
                in_path = list(_in_folder(unpacked, shown_as=str(path)))
            else:
                in_path = [_single_file(path)]
            if not in_path:
                _refuse_keeper(next(path.rglob("changelog_*"), path))
                raise DataFileError(
                    f"{path} holds neither transaction logs nor snapshots of ZooKeeper. "
                    "Give dataDir/version-2, and dataLogDir/version-2 if there is one."
                )
            files += in_path
        yield files


@contextmanager
def open_unpacked(file: DataFile) -> Iterator[ByteStream]:
    """Open a file, unpacked if it is compressed."""
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(file.path.open("rb"))
            begin = _first_bytes(stream)
        except OSError as error:
            raise _unreadable(file.name, error) from error
        yield _decompressed(_NamedStream(stream, file.name), begin)


class _NamedStream:
    """A stream whose read errors name the file."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name

    def read(self, size: int, /) -> bytes:
        try:
            return self._stream.read(size)
        except OSError as error:
            raise _unreadable(self._name, error) from error


def _unreadable(name: str, error: OSError) -> DataFileError:
    return DataFileError(f"{name} cannot be read: {error.strerror or error}.")


def _decompressed(stream: ByteStream, begin: bytes) -> ByteStream:
    if begin.startswith(GZIP_MAGIC):
        return GzipReader(stream)
    return SnappyReader(stream) if begin.startswith(SNAPPY_MAGIC) else stream


def _first_bytes(stream: BinaryIO) -> bytes:
    """Read the bytes that show the kind of a file, and go back to its beginning."""
    begin = stream.read(tarfile.BLOCKSIZE)
    stream.seek(0)
    return begin


def _in_folder(folder: Path, shown_as: str | None = None) -> Iterator[DataFile]:
    """Yield the files below a folder that have ZooKeeper's names.

    Raise DataFileError if there are none and part of the folder may not be listed.
    """
    unlisted: list[OSError] = []
    is_empty = True
    for parent, folders, names in os.walk(folder, onerror=unlisted.append):
        folders.sort()
        for name in sorted(names, key=_age):
            path = Path(parent, name)
            inside = path.relative_to(folder)
            shown = f"{shown_as}:{inside}" if shown_as else str(path)
            member = f"{shown_as}:{inside.parent}" if shown_as else str(path.parent)
            if match := _NAME.fullmatch(name):
                kind: FileKind = "log" if match[1] == "log" else "snapshot"
                yield DataFile(path, shown, member, kind, int(match[2], 16))
                is_empty = False
            elif _AUDIT_NAME.fullmatch(name):
                yield DataFile(path, shown, member, "audit")
                is_empty = False
    if is_empty and unlisted:
        raise _unreadable(str(unlisted[0].filename), unlisted[0])


def _age(name: str) -> tuple[int, str]:
    """Sort older audit logs, which have larger numbers, before newer ones."""
    match = _AUDIT_NAME.fullmatch(name)
    return -int(match[1] or 0) if match else 0, name


def _single_file(path: Path) -> DataFile:
    kind = _kind_of(path)
    match = _NAME.fullmatch(path.name)
    zxid = int(match[2], 16) if match and match[1] == kind else None
    return DataFile(path, str(path), str(path.parent), kind, zxid)


def _refuse_keeper(path: Path) -> None:
    if _KEEPER.match(path.name):
        raise DataFileError(
            f"{path} is a log of ClickHouse Keeper, which has its own format; "
            "zktop reads only ZooKeeper's."
        )


def _kind_of(path: Path) -> FileKind:
    _refuse_keeper(path)
    try:
        with path.open("rb") as stream:
            unpacked = _decompressed(stream, _first_bytes(stream))
            begin = unpacked.read(4)
            stream.seek(0)
            kind = _KIND_OF_MAGIC.get(begin)
            if kind is None and is_audit_log(_decompressed(stream, _first_bytes(stream))):
                kind = "audit"
    except OSError as error:
        raise _unreadable(str(path), error) from error
    if kind is not None:
        return kind
    nothing = "is damaged" if is_damaged(unpacked) else "is empty"
    what = f"begins with {begin.hex(' ')}" if begin else nothing
    if begin == _ZSTD_MAGIC:
        what = "is compressed with zstd: unpack it first"
    raise DataFileError(
        f"{path} is not a transaction log or snapshot of ZooKeeper 3.1 or later, an audit log, "
        f"or a tar of them: it {what}."
    )


def is_audit_log(stream: ByteStream) -> bool:
    """Return whether a file of any name has lines about clients."""
    return next(audit_lines(stream, _SEARCHED_BYTES), None) is not None


def _is_tar(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            begin = _first_bytes(stream)
            if begin.startswith(_PACKED_TAR_MAGICS):
                return True
            if begin.startswith(GZIP_MAGIC):
                begin = _read_up_to(tarfile.BLOCKSIZE, GzipReader(stream))
    except OSError as error:
        raise _unreadable(str(path), error) from error
    return begin[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC) or _is_old_tar_header(begin)


def _is_old_tar_header(block: bytes) -> bool:
    """Return whether a block is a header from before POSIX, which only its checksum shows."""
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _read_up_to(size: int, stream: ByteStream) -> bytes:
    data = b""
    while len(data) < size and (part := stream.read(size - len(data))):
        data += part
    return data


@contextmanager
def _unpacked(archive: Path, on_note: Callable[[str], object]) -> Iterator[str]:
    """Unpack the data files of a tar, up to where it is damaged, into a temporary folder."""
    try:
        temporary = tempfile.TemporaryDirectory(prefix="zktop-import-")
    except OSError as error:
        raise _not_unpacked(archive, error) from error
    with temporary as folder:
        try:
            damage = _unpack_all(archive, Path(folder))
        except OSError as error:
            raise _not_unpacked(archive, error) from error
        if damage and not any(path.is_file() for path in Path(folder).rglob("*")):
            raise DataFileError(f"{archive} is not a tar file, or is damaged: {damage}.")
        if damage:
            on_note(f"{archive} is damaged ({damage}): it was read up to there.")
        yield folder


def _unpack_all(archive: Path, folder: Path) -> str | None:
    """Unpack the data files up to the first damage. Return what is wrong there.

    A damaged archive is unpacked again in small chunks, because then less is lost.
    """
    damage = None
    for chunk in (_CHUNK, _SMALL_CHUNK):
        try:
            with tarfile.open(archive, "r|*") as tar:
                for entry in tar:
                    _unpack(tar, entry, folder, chunk)
        except (tarfile.TarError, EOFError, ValueError) as error:
            damage = str(error)
        else:
            return None
    return damage


def _not_unpacked(archive: Path, error: OSError) -> DataFileError:
    return DataFileError(f"{archive} cannot be unpacked: {error.strerror or error}.")


def _unpack(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path, size: int) -> None:
    name = PurePosixPath(entry.name)
    if not entry.isreg() or not is_data_name(name.name):
        return
    inside = [part for part in name.parts if part.strip("/") not in ("", "..", ".")]
    target = folder.joinpath(*inside)
    target.parent.mkdir(parents=True, exist_ok=True)
    source = tar.extractfile(entry)
    if source is None:
        return
    with source, target.open("wb") as file:
        _write_sparse(iter(lambda: source.read(size), b""), file)


def _write_sparse(chunks: Iterable[bytes], file: BinaryIO) -> None:
    """Write a file that has holes instead of chunks of zeros."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if chunk.count(0) == len(chunk):
            file.seek(len(chunk), os.SEEK_CUR)
        else:
            file.write(chunk)
    with suppress(OSError):
        file.truncate(size)
