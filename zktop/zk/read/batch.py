"""Some children of one znode, asked for together and answered together.

Nearly all that is read are contenders, whose names are told by one listing. Their paths are put
together nowhere but on the wire, and all that is read of them is told as one fact.
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

LONGEST_DATA: Final = 4096  # bytes kept of a znode's data: enough for every label and lease count
SHORT: Final = 64  # bytes of data that are read at one go with what follows them
_NOTHING: Final = Stat(0, 0, 0)
_VERSIONS: Final = struct.Struct("!iii")
_ZEROS: Final = bytes(_VERSIONS.size)
_BEHIND: Final = bytes(ITEM.size - len(MULTI_END))  # the end of all has no number


class Kin(msgspec.Struct, frozen=True, gc=False):
    """Names of children, as the server tells them, and the path of their parent."""

    parent: str
    names: Sequence[str]

    def path(self, name: str) -> str:
        """Give the path of one of them."""
        return below(self.parent) + name


class Reads(msgspec.Struct, frozen=True):
    """What was read of many, in their order; of those that were refused nothing but the code."""

    data: list[bytes]
    stats: list[Stat]
    refused: dict[int, int]  # by place


def below(parent: str) -> str:
    """Give what the paths of all children begin with."""
    return parent if parent.endswith("/") else f"{parent}/"


def by_parent(paths: Iterable[str]) -> list[Kin]:
    """Put those together that have one parent; the root has none.

    >>> by_parent(["/a/b", "/", "/c", "/a/d"])
    [Kin(parent='/a', names=['b', 'd']), Kin(parent='', names=['']), Kin(parent='/', names=['c'])]
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rpartition("/")
        found.setdefault(parent if parent or not name else "/", []).append(name)
    return list(starmap(Kin, found.items()))


class Batch(msgspec.Struct, frozen=True):
    """Kin that are asked for together."""

    kin: list[Kin]
    number: int  # of reads
    request: MultiRead


def batches(
    kin: Iterable[Kin], full: Callable[[str], str], most: int, most_bytes: int
) -> Iterator[Batch]:
    """Ask for the data of all; `full` gives the paths that the server knows.

    Kin are parted only where they alone are too many.
    """
    together: list[Kin] = []
    parts: list[bytes] = []
    number = size = 0
    for one in kin:
        for some, written in _written(one, full, most, most_bytes):
            is_full = number + len(some.names) > most or size + len(written) > most_bytes
            if is_full and together:
                yield Batch(together, number, MultiRead(parts))
                together, parts, number, size = [], [], 0, 0
            together.append(some)
            parts.append(written)
            number += len(some.names)
            size += len(written)
    if together:
        yield Batch(together, number, MultiRead(parts))


def _written(
    one: Kin, full: Callable[[str], str], most: int, most_bytes: int
) -> Iterator[tuple[Kin, bytes]]:
    """Write the items that ask for them, in so many parts that each fits into a request."""
    parent, names = one.parent, one.names
    if 0 < len(names) <= most:
        written = _items(below(full(parent)).encode("utf-8"), names)
        if len(written) <= most_bytes or len(names) == 1:
            yield one, written
            return
        most = (len(names) + 1) // 2
    for begin in range(0, len(names), most):
        yield from _written(Kin(parent, names[begin : begin + most]), full, most, most_bytes)


def _items(above: bytes, names: Sequence[str]) -> bytes:
    """Write one item for each; of names that are equally long, all at one go."""
    before = _before(above, len(names[0]))
    if "".join(names).isascii() and are_alike(names):
        parted = before.decode("latin-1")
        return (parted + ("\0" + parted).join(names) + "\0").encode("latin-1")
    raw = [name.encode("utf-8") for name in names]
    return b"".join([_before(above, len(name)) + name + b"\0" for name in raw])


def _before(above: bytes, length: int) -> bytes:
    return head(GET_DATA, len(above) + length) + above


def gathered(reads: Iterable[Read | int]) -> Reads:
    """Put together what was read one by one."""
    found = Reads([], [], {})
    keep = _keeper()
    for place, read in enumerate(reads):
        content, stat = (b"", _NOTHING) if isinstance(read, int) else read
        if isinstance(read, int):
            found.refused[place] = read
        content = (content or b"")[:LONGEST_DATA]
        found.data.append(keep(content, content))
        found.stats.append(stat)
    return found


def reads(payload: Payload) -> Reads:
    """Read the answer to such a request; what several hold is kept once, as labels often are.

    There are so many that each step takes data, Stat and the next header together.
    """
    answer, offset = payload[0] + _BEHIND, payload[1]
    found = Reads([], [], {})
    add_data, add_stat, keep = found.data.append, found.stats.append, _keeper()
    last = len(payload[0]) - len(MULTI_END)
    operation, _, error, number = ITEM.unpack_from(answer, offset)
    length, unpack = 0, _short(0)
    while offset < last:
        offset += ITEM.size
        if operation == GET_DATA and not error and 0 <= number <= SHORT:
            if number != length:  # else it is as long as the one before
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
            else:  # Keeper has the error in the header alone
                found.refused[len(found.stats)] = number if operation == ERROR else error
                data, stat, offset = b"", _NOTHING, offset - 4 * (operation != ERROR)
            operation, _, error, number = ITEM.unpack_from(answer, offset)
        add_data(keep(data, data))
        add_stat(stat)
    return found


def _long(answer: bytes, offset: int, length: int) -> tuple[bytes, Stat, int]:
    """Read data of any length, or none, and the Stat behind it; say where that ends."""
    end = offset + max(length, 0)
    data = answer[offset : min(end, offset + LONGEST_DATA)]
    return data, stat_of(answer, end), end + STAT.size


def granted(batch: Iterable[Kin], reads: Reads) -> tuple[list[Kin], Reads, dict[str, int]]:
    """Part what was read from the paths that were refused, and with which code."""
    kept: list[Kin] = []
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
            kept.append(Kin(one.parent, names))
    fine = [place not in reads.refused for place in range(len(reads.stats))]
    data, stats = list(compress(reads.data, fine)), list(compress(reads.stats, fine))
    return kept, Reads(data, stats, {}), refused


@cache
def _short(length: int) -> Callable[[bytes, int], tuple[Any, ...]]:
    """Unpack so much data, the Stat behind it, and what the next item is and how long."""
    stat = STAT.format[1:].replace("iii", f"{_VERSIONS.size}s")  # nearly all are zeros
    return struct.Struct(f"!{length}s{stat}ixii").unpack_from


def _keeper() -> Callable[[bytes, bytes], bytes]:
    """Give the same bytes for equal ones."""
    known: dict[bytes, bytes] = {}
    return known.setdefault
