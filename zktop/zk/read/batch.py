"""Batched reads: the data, or the children, of many siblings in one request.

Most reads follow a listing. Full paths are built only on the wire, and the children of one parent
become one fact.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap

import msgspec

from zktop.zk.read.requests import MultiRead, encode_siblings


class SiblingNames(msgspec.Struct, frozen=True, gc=False):
    """Names of children, and the path of their parent."""

    parent: str
    names: Sequence[str]

    def path(self, name: str) -> str:
        """The path of one child, below the chroot."""
        return child_prefix(self.parent) + name


def child_prefix(parent: str) -> str:
    """The prefix of all child paths."""
    return parent if parent.endswith("/") else f"{parent}/"


def by_parent(paths: Iterable[str]) -> list[SiblingNames]:
    """Group paths by parent. The parent of `/` is the empty string.

    >>> [(group.parent, group.names) for group in by_parent(["/a/b", "/", "/c", "/a/d"])]
    [('/a', ['b', 'd']), ('', ['']), ('/', ['c'])]
    """
    names: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rpartition("/")
        names.setdefault(parent if parent or not name else "/", []).append(name)
    return list(starmap(SiblingNames, names.items()))


class ReadBatch(msgspec.Struct, frozen=True):
    """Siblings that one request reads."""

    siblings: list[SiblingNames]
    number: int  # of reads
    request: MultiRead


def batches(
    operation: int,
    siblings: Iterable[SiblingNames],
    full: Callable[[str], str],
    max_reads: int,
    max_bytes: int,
) -> Iterator[ReadBatch]:
    """Split siblings into requests of one operation. `full` prepends the chroot to a path.

    The names of one parent stay in one request unless there are too many or they are too long.
    """
    together: list[SiblingNames] = []
    parts: list[bytes] = []
    number = size = 0
    for group in siblings:
        for part, written in _encoded_parts(operation, group, full, max_reads, max_bytes):
            is_too_large = number + len(part.names) > max_reads or size + len(written) > max_bytes
            if is_too_large and together:
                yield ReadBatch(together, number, MultiRead(parts))
                together, parts, number, size = [], [], 0, 0
            together.append(part)
            parts.append(written)
            number += len(part.names)
            size += len(written)
    if together:
        yield ReadBatch(together, number, MultiRead(parts))


def _encoded_parts(
    operation: int, group: SiblingNames, full: Callable[[str], str], max_reads: int, max_bytes: int
) -> Iterator[tuple[SiblingNames, bytes]]:
    """Encode the names of one parent, split so that each part fits into a request."""
    parent, names = group.parent, group.names
    if 0 < len(names) <= max_reads:
        prefix = child_prefix(full(parent)) if parent else full("/")  # "/" itself has no parent
        written = encode_siblings(operation, prefix, names)
        if len(written) <= max_bytes or len(names) == 1:
            yield group, written
            return
        max_reads = (len(names) + 1) // 2  # too many bytes: halve the names
    for begin in range(0, len(names), max_reads):
        part = SiblingNames(parent, names[begin : begin + max_reads])
        yield from _encoded_parts(operation, part, full, max_reads, max_bytes)
