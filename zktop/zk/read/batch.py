"""Batched reads: the data of many children in one request, and the decoding of the answer.

Nearly everything that is read is a contender whose name a listing has just returned. Full paths
exist only on the wire, and the children of one parent become one fact.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress, count, starmap
from typing import Any, Final

import msgspec

from zktop.model.facts import Stat
from zktop.zk.read.requests import (
    ERROR,
    GET_DATA,
    ITEM,
    MULTI_END,
    STAT,
    MultiRead,
    Payload,
    Read,
    are_alike,
    head,
    stat_of,
)

MAX_DATA_BYTES: Final = 4096  # bytes kept of a znode's data; enough for labels and lease counts
SHORT_DATA_BYTES: Final = 64  # bytes of data that are decoded together with the Stat
_NOTHING: Final = Stat(0, 0, 0)
_VERSIONS: Final = struct.Struct("!iii")
_ZEROS: Final = bytes(_VERSIONS.size)
_BEHIND: Final = bytes(ITEM.size - len(MULTI_END))  # the last header has no error code


class SiblingNames(msgspec.Struct, frozen=True, gc=False):
    """Names of children, and the path of their parent."""

    parent: str
    names: Sequence[str]

    def path(self, name: str) -> str:
        """The full path of one of them."""
        return below(self.parent) + name


class BatchResult(msgspec.Struct, frozen=True):
    """The data and Stats of many znodes, in order; for refused ones only the error code."""

    data: list[bytes]
    stats: list[Stat]
    refused: dict[int, int]  # code by index


def below(parent: str) -> str:
    """The prefix of all child paths."""
    return parent if parent.endswith("/") else f"{parent}/"


def by_parent(paths: Iterable[str]) -> list[SiblingNames]:
    """Group paths by parent; the root has none.

    >>> [(found.parent, found.names) for found in by_parent(["/a/b", "/", "/c", "/a/d"])]
    [('/a', ['b', 'd']), ('', ['']), ('/', ['c'])]
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rpartition("/")
        found.setdefault(parent if parent or not name else "/", []).append(name)
    return list(starmap(SiblingNames, found.items()))


class ReadBatch(msgspec.Struct, frozen=True):
    """Siblings that one request reads."""

    siblings: list[SiblingNames]
    number: int  # reads
    request: MultiRead


def batches(
    siblings: Iterable[SiblingNames], full: Callable[[str], str], most: int, most_bytes: int
) -> Iterator[ReadBatch]:
    """Split siblings into requests; `full` maps a path to the one that the server knows.

    Siblings stay together unless they exceed a request by themselves.
    """
    together: list[SiblingNames] = []
    parts: list[bytes] = []
    number = size = 0
    for one in siblings:
        for some, written in _written(one, full, most, most_bytes):
            is_full = number + len(some.names) > most or size + len(written) > most_bytes
            if is_full and together:
                yield ReadBatch(together, number, MultiRead(parts))
                together, parts, number, size = [], [], 0, 0
            together.append(some)
            parts.append(written)
            number += len(some.names)
            size += len(written)
    if together:
        yield ReadBatch(together, number, MultiRead(parts))


def _written(
    one: SiblingNames, full: Callable[[str], str], most: int, most_bytes: int
) -> Iterator[tuple[SiblingNames, bytes]]:
    """Encode the items, split so that each part fits into a request."""
    parent, names = one.parent, one.names
    if 0 < len(names) <= most:
        written = _items(below(full(parent)).encode("utf-8"), names)
        if len(written) <= most_bytes or len(names) == 1:
            yield one, written
            return
        most = (len(names) + 1) // 2
    for begin in range(0, len(names), most):
        yield from _written(
            SiblingNames(parent, names[begin : begin + most]), full, most, most_bytes
        )


def _items(above: bytes, names: Sequence[str]) -> bytes:
    """Encode an item for each name; names of one length are encoded together."""
    before = _before(above, len(names[0]))
    if "".join(names).isascii() and are_alike(names):
        parted = before.decode("latin-1")
        return (parted + ("\0" + parted).join(names) + "\0").encode("latin-1")
    raw = [name.encode("utf-8") for name in names]
    return b"".join([_before(above, len(name)) + name + b"\0" for name in raw])


def _before(above: bytes, length: int) -> bytes:
    return head(GET_DATA, len(above) + length) + above


def gathered(reads: Iterable[Read | int]) -> BatchResult:
    """Combine single reads into one result."""
    found = BatchResult([], [], {})
    keep = _keeper()
    for place, read in enumerate(reads):
        content, stat = (b"", _NOTHING) if isinstance(read, int) else read
        if isinstance(read, int):
            found.refused[place] = read
        content = (content or b"")[:MAX_DATA_BYTES]
        found.data.append(keep(content, content))
        found.stats.append(stat)
    return found


def reads(payload: Payload) -> BatchResult:
    """Decode the answer to a batch; equal data is stored once, because labels often repeat.

    Answers hold many items, so each step unpacks data, Stat and the next header together.
    """
    answer, offset = payload[0] + _BEHIND, payload[1]
    found = BatchResult([], [], {})
    add_data, add_stat, keep = found.data.append, found.stats.append, _keeper()
    last = len(payload[0]) - len(MULTI_END)
    operation, _, error, number = ITEM.unpack_from(answer, offset)
    length, unpack = 0, _short(0)
    while offset < last:
        offset += ITEM.size
        if operation == GET_DATA and not error and 0 <= number <= SHORT_DATA_BYTES:
            if number != length:  # same length as the item before
                length, unpack = number, _short(number)
            (data, cz, mz, c, versions, o, dl, n, pz, operation, error, following) = unpack(
                answer, offset
            )
            v, cv, av = (0, 0, 0) if versions == _ZEROS else _VERSIONS.unpack(versions)
            stat = Stat(cz, cz if mz == cz else mz, c, v, cv, av, o, dl, n, cz if pz == cz else pz)
            offset, number = offset + number + STAT.size, following
        else:
            if operation == GET_DATA and not error:
                data, stat, offset = _long(answer, offset, number)
            else:  # Keeper: the error is in the header alone
                found.refused[len(found.stats)] = number if operation == ERROR else error
                data, stat, offset = b"", _NOTHING, offset - 4 * (operation != ERROR)
            operation, _, error, number = ITEM.unpack_from(answer, offset)
        add_data(keep(data, data))
        add_stat(stat)
    return found


def _long(answer: bytes, offset: int, length: int) -> tuple[bytes, Stat, int]:
    """Decode data of unusual length and the Stat behind it; also return where it ends."""
    end = offset + max(length, 0)
    data = answer[offset : min(end, offset + MAX_DATA_BYTES)]
    return data, stat_of(answer, end), end + STAT.size


def granted(
    batch: Iterable[SiblingNames], reads: BatchResult
) -> tuple[list[SiblingNames], BatchResult, dict[str, int]]:
    """Separate the refused paths, with their codes, from what was read."""
    kept: list[SiblingNames] = []
    refused: dict[str, int] = {}
    places = count()
    for one in batch:
        names: list[str] = []
        for name, place in zip(one.names, places, strict=False):
            if place in reads.refused:
                refused[one.path(name)] = reads.refused[place]
            else:
                names.append(name)
        if names:
            kept.append(SiblingNames(one.parent, names))
    fine = [place not in reads.refused for place in range(len(reads.stats))]
    data, stats = list(compress(reads.data, fine)), list(compress(reads.stats, fine))
    return kept, BatchResult(data, stats, {}), refused


@cache
def _short(length: int) -> Callable[[bytes, int], tuple[Any, ...]]:
    """The struct for data of this length, the Stat behind it and the next item's header."""
    stat = STAT.format[1:].replace("iii", f"{_VERSIONS.size}s")  # nearly all are zeros
    return struct.Struct(f"!{length}s{stat}ixii").unpack_from


def _keeper() -> Callable[[bytes, bytes], bytes]:
    """A function that returns one object for equal bytes."""
    known: dict[bytes, bytes] = {}
    return known.setdefault
