"""When to look again at what: a heap of dates, of which each key has one."""

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, Generic, TypeVar

from zktop.model.facts import Millis
from zktop.model.findings.examine import Examined
from zktop.model.findings.looks import Looks

K = TypeVar("K", bound=Hashable)

LASTING: Final = 10  # what has lasted so many times as long will last until the next look
LONGEST: Final[Millis] = 60_000


class Dates(Generic[K]):
    """The newest date of each key; those that it replaced stay in the heap, and count no more."""

    def __init__(self) -> None:
        """Begin without a date."""
        self._due: dict[K, Millis] = {}
        self._heap: list[tuple[Millis, int, K]] = []
        self._turn = count()

    def __contains__(self, key: K) -> bool:
        """Tell whether it has a date."""
        return key in self._due

    def set(self, key: K, date: Millis) -> None:
        """Have this one fall due then, and at no other time."""
        if self._due.get(key) != date:
            self._due[key] = date
            heappush(self._heap, (date, next(self._turn), key))

    def set_within(self, key: K, date: Millis) -> None:
        """Have this one fall due then, unless it does earlier anyway."""
        self.set(key, min(self._due.get(key, date), date))

    def drop(self, key: K) -> None:
        """Have this one not fall due."""
        self._due.pop(key, None)

    def fallen(self, now: Millis) -> Iterator[K]:
        """Take out what falls due by now.

        >>> dates = Dates()
        >>> dates.set("a", 10), dates.set("b", 20), dates.set("a", 30)
        (None, None, None)
        >>> list(dates.fallen(20)), list(dates.fallen(30))
        (['b'], ['a'])
        """
        while self._heap and self._heap[0][0] <= now:
            date, _, key = heappop(self._heap)
            if self._due.get(key) == date:
                del self._due[key]
                yield key


def next_look(said: Examined, looks: Looks, now: Millis, longer: Millis = 0) -> Millis | None:
    """Say when to look again: what has lasted for long will last for a while.

    Among thousands of findings each has to wait longer, but never for more than it has lasted.
    """
    if said.due_ms is None or said.due_ms == said.asked_ms or not looks.seen:
        return said.due_ms
    age = now - max(seen.since for seen in looks.seen.values())
    again = max(said.due_ms, now + max(min(age // LASTING, LONGEST), min(age, longer)))
    return again if said.asked_ms is None else min(again, said.asked_ms)
