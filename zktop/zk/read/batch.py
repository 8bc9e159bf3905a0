"""Batched reads: the data of many children in one request, and the decoding of the answer.

Nearly everything that is read is a contender whose name a listing has just returned. Full paths
exist only on the wire, and the children of one parent become one fact.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, count, starmap
from typing import Final

import msgspec

from zktop.model.facts import Stat
from zktop.zk.read.requests import GET_DATA, MultiRead, Payload, Read, decode_multi, encode_item

MAX_DATA_BYTES: Final = 4096  # bytes kept of a znode's data; enough for labels and lease counts
_NOTHING: Final = Stat(0, 0, 0)


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
        above = below(full(parent))
        written = b"".join([encode_item(GET_DATA, above + name) for name in names])
        if len(written) <= most_bytes or len(names) == 1:
            yield one, written
            return
        most = (len(names) + 1) // 2
    for begin in range(0, len(names), most):
        yield from _written(
            SiblingNames(parent, names[begin : begin + most]), full, most, most_bytes
        )


def gathered(reads: Iterable[Read | int]) -> BatchResult:
    """Combine single reads into one result; equal data is stored once, because labels repeat."""
    found = BatchResult([], [], {})
    known: dict[bytes, bytes] = {}
    for place, read in enumerate(reads):
        if isinstance(read, int):
            found.refused[place] = read
        data, stat = (None, _NOTHING) if isinstance(read, int) else read
        data = (data or b"")[:MAX_DATA_BYTES]
        found.data.append(known.setdefault(data, data))
        found.stats.append(stat)
    return found


def decoded(payload: Payload) -> BatchResult:
    """Decode the answer to a batch."""
    return gathered(decode_multi(payload))


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
