"""Which locks read which families."""

from collections.abc import Iterable, Iterator
from typing import Final

from zktop.model.facts import join, split
from zktop.model.layouts.paths import PARTS, QUEUE_OF_SEMAPHORE
from zktop.model.text import Text

_DIGITS: Final = 9  # of a sequence number at the least


def read_by(path: Text, children: Iterable[Text] = ()) -> list[Text]:
    """Give the paths whose locks can differ after these children of a path came, went or changed.

    >>> read_by("/pool/sem-__lock__"), read_by("/app/sem/leases")
    (['/pool/sem-__lock__', '/pool/sem'], ['/app/sem/leases', '/app/sem'])
    """
    found = [path]
    name = path[path.rfind("/") + 1 :]
    if name.endswith(QUEUE_OF_SEMAPHORE):
        found.append(Text(path.removesuffix(QUEUE_OF_SEMAPHORE)))
    if name in PARTS or name.isdecimal():
        found.append(split(path)[0])
    for child in dict.fromkeys(unnumbered(children)):
        found += _read_child(path, child)
    return found


def unnumbered(names: Iterable[Text]) -> list[Text]:
    """Leave out the places in a queue, whose data and owner make no lock."""
    return [name for name in names if not name[-_DIGITS:].isdecimal() or len(name) < _DIGITS]


def _read_child(path: str, name: Text) -> Iterator[Text]:
    """Give the locks that a child's own data and owner can make, or change the size of."""
    child = join(path, name)
    yield child
    if name.endswith(QUEUE_OF_SEMAPHORE):
        yield Text(child.removesuffix(QUEUE_OF_SEMAPHORE))
