"""Lists the parents of roots that do not exist.

The siblings of such a root show whether it is misspelt or has yet to be created. They are read
once per connection; the watch on the root itself reports when it is created.
"""

from collections.abc import Callable, Iterable
from typing import cast

from zktop.model.facts import Children, Gone, SourceFact, split
from zktop.model.text import Text
from zktop.zk.read.requests import NO_NODE, ListChildren, decode_children
from zktop.zk.read.requests_in_flight import Answer, Reader


class ParentsOfMissingRoots:
    """Lists the folders in which roots are missing. `bases` are the roots up to any wildcard."""

    def __init__(
        self, reader: Reader, emit: Callable[[SourceFact], None], bases: Iterable[str]
    ) -> None:
        self._reader, self._emit = reader, emit
        self._bases = frozenset(bases)
        self._looked_at: set[str] = set()
        self._connection_number = -1

    def look(self, base: str) -> None:
        """List the nearest existing ancestor of a missing root."""
        if self._connection_number != self._reader.connection_number:
            self._connection_number = self._reader.connection_number
            self._looked_at.clear()
        if base in self._bases and base not in self._looked_at and base != "/":
            self._looked_at.add(base)
            self._list(split(base)[0])

    def _list(self, path: Text) -> None:
        request = ListChildren(self._reader.hosts.full(path))
        self._reader.ask(request, lambda answer: self._on_listed(path, answer))

    def _on_listed(self, path: Text, answer: Answer) -> None:
        if answer.code == NO_NODE and path != "/":
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=path))
            self._list(split(path)[0])
        elif answer.error is None:
            names, stat = decode_children(answer.value)
            uncleaned = cast("tuple[Text, ...]", names)  # the fact cleans them
            self._emit(
                Children(zxid=answer.zxid, at=answer.at, path=path, names=uncleaned, stat=stat)
            )
