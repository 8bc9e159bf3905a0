"""When each lock, session and deadlock is examined next, and how many at one look.

`DueTimes` is a heap with one due time for each key. A lock that changed is due before all others,
unless it is crowded and was examined just now. Old findings, and those that stay the same, are
examined at growing intervals: thousands of them would otherwise keep a processor busy.
"""

from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from zktop.model.facts import Millis, Session
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.text import Text

Subject = Text | Session  # the path of a lock, the id of a deadlock, or a session

MAX_PER_LOOK: Final = 150  # locks and sessions without findings: about 10 ms
WORK_PER_FINDING: Final = 2  # one costs as much as this many subjects without findings
PLACES_PER_WORK: Final = 10  # places that take as long as a lock with five members
ROWS_PER_WORK: Final = 60  # connections in new tables that take as long
FIRST: Final[Millis] = 0  # earlier than every real time, so due before all others
AGE_PER_PAUSE: Final = 10  # seconds of age for each second of pause
LONGEST_PAUSE_MS: Final = 60_000
LONGEST_SAME_MS: Final = 300_000  # longest pause for findings whose wording stays the same
PAUSE_PER_FINDING_MS: Final = 20  # added to each pause: at most fifty are examined per second
PLACES_PER_AGE: Final = 100  # for each 100 places, a young finding may rest for its age once more
PAUSE_PER_PLACE_MS: Final = 1  # or per place, if that is longer


class DueTimes:
    """A heap of times with one valid entry for each key. Replaced entries are skipped."""

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

    def any_due(self, now: Millis) -> bool:
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
        while (limit is None or len(keys) < limit) and self.any_due(now):
            _, _, key = heappop(self._heap)
            del self._due[key]
            keys.append(key)
        return keys


class WorkOfLook:
    """The examinations of one look, and whether there is time for more.

    Reading new tables takes some of it.
    """

    def __init__(self, new_rows: int = 0) -> None:
        self._done = new_rows // ROWS_PER_WORK

    def add(self, places: int, findings: int) -> None:
        """Count the examination of a subject with this many places and findings."""
        self._done += 1 + places // PLACES_PER_WORK + WORK_PER_FINDING * findings

    @property
    def is_below_limit(self) -> bool:
        return self._done < MAX_PER_LOOK


class RestReasons(NamedTuple):
    """Why a subject may rest for longer than its own findings would allow.

    A subject is unseen if all its findings are hidden in groups: users do not see their ages.
    """

    crowding_ms: int = 0  # the pause that grows with the number of all findings
    places: int = 0  # nodes of the session in locks, or members of the lock
    is_unseen: bool = False


def next_examination(
    asked_at: Millis | None,
    findings: SubjectFindings,
    now: Millis,
    settle_ms: int,
    rest: RestReasons,
) -> Millis | None:
    """Return when to examine a subject again: when its rules ask, or to confirm or reword it.

    Return None to wait for a change.
    """
    if not findings.seen_times:
        return asked_at
    reworded = now + max(settle_ms, _pause_ms(findings, now, rest))
    confirmed = (times.first + settle_ms for times in findings.seen_times.values())
    moments = (reworded, asked_at, *(at for at in confirmed if at > now))
    return min(at for at in moments if at is not None)


def _pause_ms(findings: SubjectFindings, now: Millis, rest: RestReasons) -> Millis:
    """How long findings may rest: the longer, the older they are.

    Among many findings, a young one rests no longer than it has lasted, or a few times as long if
    its subject has hundreds of places. One whose wording stays the same, or that is unseen, may
    rest longer.
    """
    age = now - max(times.since for times in findings.seen_times.values())
    longest_in_crowd = age * (1 + rest.places // PLACES_PER_AGE)
    in_crowd = min(longest_in_crowd, rest.crowding_ms)
    by_age = max(min(age // AGE_PER_PAUSE, LONGEST_PAUSE_MS), in_crowd)
    if len(findings.shown) < len(findings.seen_times):
        return by_age
    if rest.is_unseen:
        return max(by_age, LONGEST_SAME_MS, rest.crowding_ms)
    return max(by_age, min(now - findings.same_since, LONGEST_SAME_MS))
