"""When each lock and each session is examined next.

`DueTimes` is a heap with one due time for each key. A lock that changed is due before all others.
Old findings, and those that stay the same, are examined at growing intervals: thousands of them
would otherwise keep a processor busy.
"""

from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from zktop.model.facts import Millis, Session
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.text import Text

Subject = Text | Session  # a lock, or a session

FIRST: Final[Millis] = 0  # due before everything that was only scheduled
AGE_PER_PAUSE: Final = 10  # seconds of age for each second of pause
LONGEST_PAUSE_MS: Final = 60_000
LONGEST_SAME_MS: Final = 300_000  # pause of findings whose words have stayed the same for as long
PAUSE_PER_FINDING_MS: Final = 20  # so at most fifty old ones are examined per second
PLACES_PER_AGE: Final = 100  # places that let a young finding rest once more for its age
PAUSE_PER_PLACE_MS: Final = 1  # fewer of them, if they are about sessions in hundreds of locks


class DueTimes:
    """A heap of times with one valid entry for each key; replaced entries are skipped."""

    def __init__(self) -> None:
        self._due: dict[Subject, Millis] = {}
        self._heap: list[tuple[Millis, int, Subject]] = []
        self._turn = count()

    def __contains__(self, key: Subject) -> bool:
        return key in self._due

    def set(self, key: Subject, at: Millis) -> None:
        """Make the key due at this time instead of any other."""
        if self._due.get(key) != at:
            self._due[key] = at
            heappush(self._heap, (at, next(self._turn), key))

    def set_within(self, key: Subject, at: Millis) -> None:
        """Make the key due at this time, unless it is due earlier."""
        self.set(key, min(self._due.get(key, at), at))

    def drop(self, key: Subject) -> None:
        """Forget the due time of the key, if it has one."""
        self._due.pop(key, None)

    def has(self, now: Millis) -> bool:
        """Whether anything is due by now."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heappop(self._heap)
        return bool(self._heap) and self._heap[0][0] <= now

    def take(self, now: Millis, limit: int | None) -> list[Subject]:
        """Remove and return what is due by now, earliest first, at most `limit` keys.

        >>> due = DueTimes()
        >>> due.set("/a", 10), due.set("/b", 20), due.set("/a", 30), due.set("/c", FIRST)
        (None, None, None, None)
        >>> due.take(30, 2), due.take(30, None)
        (['/c', '/b'], ['/a'])
        """
        keys: list[Subject] = []
        while (limit is None or len(keys) < limit) and self.has(now):
            _, _, key = heappop(self._heap)
            del self._due[key]
            keys.append(key)
        return keys


class MayRest(NamedTuple):
    """What lets the findings about a subject rest for longer than they would alone.

    A subject is unseen if other findings speak for all of its own: nobody reads how old they are.
    """

    crowding_ms: int = 0  # the pause that grows with the number of all findings
    places: int = 0  # the subject is a session with so many places in locks
    is_unseen: bool = False


def next_look(
    asked: Millis | None,
    found: SubjectFindings,
    now: Millis,
    settle_ms: int,
    may_rest: MayRest = MayRest(),  # noqa: B008  frozen
) -> Millis | None:
    """When to examine a subject again: when its rules ask, or to confirm or reword its findings.

    Among many findings, a young one rests no longer than it has lasted, or some times as long if
    it is about a session in hundreds of locks.
    """
    if not found.seen:
        return asked
    age = now - max(seen.since for seen in found.seen.values())
    longest = age * (1 + may_rest.places // PLACES_PER_AGE)
    pause = max(
        settle_ms, min(age // AGE_PER_PAUSE, LONGEST_PAUSE_MS), min(longest, may_rest.crowding_ms)
    )
    if len(found.shown) == len(found.seen):
        pause = max(pause, min(now - found.same_since, LONGEST_SAME_MS))
        if may_rest.is_unseen:
            pause = max(pause, LONGEST_SAME_MS, may_rest.crowding_ms)
    confirmed = (seen.first + settle_ms for seen in found.seen.values())
    reasons = (now + pause, asked, *(at for at in confirmed if at > now))
    return min(at for at in reasons if at is not None)
