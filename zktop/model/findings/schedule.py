"""What is to be examined: first what changed, then what waits, the longest waiting first.

When to put all findings in order anew: soon where another thing is wrong, else at leisure.

To order ten thousand takes as long as a hundred examinations, and in each second some of so many
have words that time has made untrue.

When to look again at what: a heap of dates, of which each key has one.

The head of the list of findings: what somebody looks at must not be older than a moment.

Among thousands of findings each is examined seldom, and its sentence says how long something had
lasted by then. The first of them are examined as often as if there were no others: they are few.

In which locks each session has a place.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, KeysView, Sequence
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import Final, Generic, TypeVar

from zktop.model.facts import Millis, Session
from zktop.model.findings.apply import RULES, RuleResults
from zktop.model.findings.confirm import CurrentFindings, SeenFindings
from zktop.model.findings.finding import Finding
from zktop.model.text import Text

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


ORDERED_PER_MS: Final = 10  # findings
REWORDED_PER_MS: Final = 2  # the same, where only words are different


class Answers:
    """The newest answer, and what has become of it since."""

    def __init__(self) -> None:
        """Begin with nothing found."""
        self.newest = CurrentFindings()
        self._at: Millis = 0
        self._is_wrong = True
        self._is_old = False  # but for its words it is right

    def renew(self) -> None:
        """Take note that another answer is to be given."""
        self._is_wrong = True

    def compare(self, before: Iterable[Finding], now: Iterable[Finding]) -> None:
        """Take note of what is said of one lock or session now."""
        self._is_old = True
        self._is_wrong |= list(map(_gist, before)) != list(map(_gist, now))

    def is_due(self, now: Millis, *, at_once: bool) -> bool:
        """Tell whether it is time for another one."""
        if not (self._is_wrong or self._is_old):
            return False
        per_ms = ORDERED_PER_MS if self._is_wrong else REWORDED_PER_MS
        return at_once or now - self._at >= len(self.newest.findings) // per_ms

    def give(self, answer: CurrentFindings, now: Millis) -> CurrentFindings:
        """Remember the newest one."""
        self.newest, self._at = answer, now
        self._is_wrong = self._is_old = False
        return answer


def _gist(finding: Finding) -> tuple[str, str, str]:
    """Leave out what only grows older."""
    return finding.id, finding.severity, finding.confidence


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


def next_look(
    said: RuleResults, looks: SeenFindings, now: Millis, longer: Millis = 0
) -> Millis | None:
    """Say when to look again: what has lasted for long will last for a while.

    Among thousands of findings each has to wait longer, but never for more than it has lasted.
    """
    if said.due_ms is None or said.due_ms == said.asked_ms or not looks.seen:
        return said.due_ms
    age = now - max(seen.since for seen in looks.seen.values())
    again = max(said.due_ms, now + max(min(age // LASTING, LONGEST), min(age, longer)))
    return again if said.asked_ms is None else min(again, said.asked_ms)


FOREMOST: Final = 40  # about a screen of them
_SCOPES: Final = {rule.id: rule.scope for rule in RULES}


def foremost(findings: Iterable[Finding]) -> frozenset[Text | Session]:
    """Give the locks and the sessions that the first of them are about."""
    keys = (_key(finding) for finding in islice(findings, FOREMOST))
    return frozenset(key for key in keys if key is not None)


def _key(finding: Finding) -> Text | Session | None:
    match _SCOPES[finding.rule]:
        case "lock":
            return finding.lock
        case "session":
            return next(iter(finding.sessions), None)
        case _:
            return None  # of those everything is examined at every look


class SessionIndex:
    """A fold over who comes and goes.

    Nearly every session has one place alone; there the path itself is kept instead of a dict,
    which is felt with fifty thousand of them. For the others it is the number of places by lock:
    a service may have ten thousand.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self._places: dict[Session, Text | dict[Text, int]] = {}
        self._several: set[Session] = set()  # who had more than one place at once, and is here

    @property
    def owners(self) -> KeysView[Session]:
        """Everybody who has a place."""
        return self._places.keys()

    def __contains__(self, session: Session) -> bool:
        """Tell whether somebody has a place."""
        return session in self._places

    def of(self, session: Session) -> Collection[Text]:
        """Give the locks of a session, each once."""
        here = self._places.get(session, {})
        return here.keys() if isinstance(here, dict) else (here,)

    def with_many(self, sessions: Sequence[Session], many: int) -> list[Session]:
        """Give those of them who have places in so many locks, or more."""
        if many > 1 and (not self._several or self._several.isdisjoint(sessions)):
            return []
        return [session for session in sessions if self._number(session) >= many]

    def _number(self, session: Session) -> int:
        """Count the locks of a session."""
        return len(self.of(session))

    def enter_all(self, sessions: Iterable[Session], path: Text) -> None:
        """Take note of the places in one lock; one without a session is nobody's."""
        places = self._places
        for session in sessions:
            if session in places:
                self.enter(session, path)
            elif session:
                places[session] = path

    def enter(self, session: Session, path: Text) -> None:
        """Take note of one more place."""
        here = self._places.get(session)
        if here is None:
            self._places[session] = path
            return
        if not isinstance(here, dict):
            here = self._places[session] = {here: 1}
            self._several.add(session)
        here[path] = here.get(path, 0) + 1

    def leave(self, session: Session, path: Text) -> bool:
        """Take note of a place that is gone; False when it was the last one."""
        here = self._places.get(session)
        if not isinstance(here, dict):
            if here == path:
                del self._places[session]
            return session in self._places
        if path in here:
            here[path] -= 1
            if not here[path]:
                del here[path]
        if not here:
            del self._places[session]
            self._several.discard(session)
        return bool(here)
