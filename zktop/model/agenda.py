"""What is to be examined: first what changed, then what waits, the longest waiting first."""

from collections.abc import Hashable, Iterable
from itertools import chain, islice
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Agenda(Generic[K]):
    """Keys in the order of their turn; each is in it once."""

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._urgent: dict[K, None] = {}
        self._waiting: dict[K, None] = {}

    def __bool__(self) -> bool:
        """Tell whether there is anything left."""
        return bool(self._urgent or self._waiting)

    def put_first(self, keys: Iterable[K]) -> None:
        """Have these before all that is there; what waits is not touched: it may be thousands."""
        self._urgent = {**dict.fromkeys(keys), **self._urgent}

    def add(self, keys: Iterable[K]) -> None:
        """Have these after all that is there; one that is there already keeps its turn."""
        self._waiting.update(dict.fromkeys(keys))

    def drop(self, key: K) -> None:
        """Take one out."""
        self._urgent.pop(key, None)
        self._waiting.pop(key, None)

    def take(self, count: int | None) -> list[K]:
        """Give those whose turn it is, so many at most; they are not in it any more.

        >>> agenda = Agenda()
        >>> agenda.add("abc"), agenda.put_first("xb")
        (None, None)
        >>> agenda.take(3), agenda.take(None)
        (['x', 'b', 'a'], ['c'])
        """
        due = chain(self._urgent, (key for key in self._waiting if key not in self._urgent))
        keys = list(islice(due, count))
        for key in keys:
            self.drop(key)
        return keys
