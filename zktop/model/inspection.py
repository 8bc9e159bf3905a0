"""Findings over time: which locks and sessions deserve a look now, and what that says.

To look at everything at every event would cost more than all the rest. A lock is examined when it
changed, when a table says something new about its sessions, when a rule asked for the clock to
strike, and when it had a finding before; a session when it changed place or when its row in a
table is odd. A lock of many members is examined the more seldom the more there are, and one look
examines no more than `AT_ONCE` of what is due, changed locks first: the rest follows with the
next looks. When many locks change at once they are examined half a second later, once for
several changes: a finding must last for longer than that to be shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, count
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.findings.causes import Ahead, folded
from zktop.model.findings.deadlocks import tangled, watch_knots
from zktop.model.findings.examination import Examination, RootNews
from zktop.model.findings.examine import QUIET, Examined, examine, interview, survey_all
from zktop.model.findings.finding import Blind, Finding
from zktop.model.findings.looks import Looks
from zktop.model.findings.presence import restless
from zktop.model.findings.surroundings import Interview, Place, Surroundings, Survey
from zktop.model.history.change import Change
from zktop.model.history.chronicle import Chronicle
from zktop.model.locks.lock import Lock
from zktop.model.places import Places
from zktop.model.settings import Settings
from zktop.model.sight import NO_SIGHT, Sight
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.order_story import Inversion
from zktop.model.world import World

MANY: Final = 500  # members of a lock that is not examined at every event
PAUSE: Final[Millis] = 1_000
PAUSE_FOR: Final = 250  # so many members: looking at ten thousand keeps everything else waiting
AT_ONCE: Final = 150
CALM: Final = 10  # changed locks in a look; where there are more, most will change again soon
DEBOUNCE: Final[Millis] = 500
NEVER: Final[Millis] = 1 << 62

Key = Text | Session
WHOLE: Final[Key] = Text("")  # what is said of no lock and no session


class Inspected(msgspec.Struct, frozen=True):
    """What is wrong now, what could not be seen, and deadlocks that only watch tables show."""

    findings: tuple[Finding, ...] = ()
    blind: tuple[Blind, ...] = ()
    deadlocks: tuple[Deadlock, ...] = ()


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What one look is about."""

    world: World
    now: Millis
    sight: Sight
    locks: Mapping[Text, Lock]
    changes: Sequence[Change]
    deadlocks: tuple[Deadlock, ...]
    inversions: tuple[Inversion, ...]
    at_once: int | None  # how much to examine in this look; None: all that is due


class _Said(msgspec.Struct, frozen=True):
    """What was last found about a lock or a session, and since when."""

    looks: Looks = Looks()
    shown: tuple[Finding, ...] = ()


_NOTHING: Final = _Said()
_SEES_ALL: Final[frozenset[Blind]] = frozenset()


class Inspection:
    """A fold over looks: remembers what was found, since when, and when to look again."""

    def __init__(self, settings: Settings, chronicle: Chronicle) -> None:
        """Begin with nothing found."""
        self._settings = settings
        self._chronicle = chronicle
        self._places = Places()
        self._root_news: dict[Text, RootNews] = {}
        self._said: dict[Key, _Said] = {}
        self._lacks: dict[Key, frozenset[Blind]] = {}
        self._lacking: dict[frozenset[Blind], frozenset[Blind]] = {}  # thousands lack the same
        self._blind: Counter[Blind] = Counter()
        self._knots: dict[Text, tuple[Deadlock, ...]] = {}
        self._due: dict[Key, Millis] = {}
        self._dates: list[tuple[Millis, int, Key]] = []  # a heap; some are out of date
        self._turn = count()
        self._waiting: dict[Key, None] = {}  # to be examined, the longest waiting first
        self._examined_at: dict[Text, Millis] = {}
        self._sight = NO_SIGHT
        self._tangled: frozenset[Text] = frozenset()
        self._answer: Inspected | None = None

    @property
    def is_behind(self) -> bool:
        """Tell whether the last look left something to the next one."""
        return bool(self._waiting)

    def look(self, scene: Scene) -> Inspected:
        """Say what is wrong now."""
        around = self._around(scene)
        for key in self._next(scene, around):
            if isinstance(key, str):
                self._examine(key, scene, around)
            elif key in self._places:
                self._interview(key, scene, around)
        self._survey(scene, around)
        self._sight = scene.sight
        if self._answer is None:
            self._answer = self._together(scene)
        return self._answer

    def _around(self, scene: Scene) -> Surroundings:
        return Surroundings(
            sight=scene.sight,
            sessions=self._chronicle.sessions,
            settings=self._settings,
            now_ms=scene.now,
            tangled=tangled(scene.deadlocks),
            is_lock=lambda path: Text(path) in scene.locks,
        )

    def _next(self, scene: Scene, around: Surroundings) -> list[Key]:
        """Choose what to examine in this look; what does not fit in goes on waiting."""
        changed = dict.fromkeys(self._changed(scene.changes))
        dead = frozenset(Text(lock) for one in scene.deadlocks for lock in one.locks)
        if scene.at_once is not None and len(scene.changes) > CALM:
            for path in (one.path for one in scene.changes if one.before and one.after):
                del changed[path]
                self._set_due(path, min(self._due.get(path, NEVER), scene.now + DEBOUNCE))
        changed.update(dict.fromkeys(sorted(dead ^ self._tangled)))
        self._tangled = dead
        self._waiting.update(dict.fromkeys(self._told_by_tables(scene, around)))
        self._waiting.update(dict.fromkeys(self._fallen_due(scene.now)))
        self._waiting = {**changed, **self._waiting}
        keys = list(self._waiting)[: scene.at_once]
        for key in keys:
            del self._waiting[key]
        return keys

    def _fallen_due(self, now: Millis) -> Iterator[Key]:
        """Name what asked to be examined by now."""
        while self._dates and self._dates[0][0] <= now:
            date, _, key = heappop(self._dates)
            if self._due.get(key) == date:
                del self._due[key]
                yield key

    def _set_due(self, key: Key, date: Millis) -> None:
        if self._due.get(key) != date:
            self._due[key] = date
            heappush(self._dates, (date, next(self._turn), key))

    def _changed(self, changes: Iterable[Change]) -> Iterator[Key]:
        """Keep the index of places; name the locks that changed, and sessions in many locks."""
        many = self._settings.thresholds.blast_radius
        for change in changes:
            for member in change.deleted:
                if not self._places.leave(member.owner, change.path):
                    self._remember(member.owner, QUIET, 0)
            for member in change.created:
                self._places.enter(member.owner, change.path)
            if change.after is None:
                self._forget(change.path)
            else:
                self._note_root(change.path, change.before, change.after)
                yield change.path
            for member in chain(change.created, change.deleted, change.granted, change.lost):
                known = member.owner in self._said
                if known or len(self._places.of(member.owner)) >= many:
                    yield member.owner

    def _note_root(self, path: Text, before: Lock | None, after: Lock) -> None:
        """Note when the ACL or the data of a root changed."""
        old, new = before.stat if before else None, after.stat
        if old is None or new is None or old.czxid != new.czxid:
            return
        if (old.aversion, old.version) == (new.aversion, new.version):
            return
        news = self._root_news.get(path, RootNews())
        self._root_news[path] = RootNews(
            news.access_at if old.aversion == new.aversion else after.at,
            news.content_at if old.version == new.version else after.at,
        )

    def _forget(self, path: Text) -> None:
        self._remember(path, QUIET, 0)
        for known in (self._examined_at, self._root_news, self._knots, self._waiting):
            known.pop(path, None)

    def _told_by_tables(self, scene: Scene, around: Surroundings) -> Iterator[Key]:
        """Name whom new tables say something new about, and what rests on older ones."""
        if scene.sight.witnesses == self._sight.witnesses:
            return
        for session in sorted(scene.sight.changed_since(self._sight)):
            if session in self._places:
                yield session
                yield from self._places.of(session)
        yield from (key for key, said in self._said.items() if said.shown and key != WHOLE)
        yield from (one for one in restless(around, self._places.owners) if one in self._places)

    def _examine(self, path: Text, scene: Scene, around: Surroundings) -> None:
        lock = scene.locks.get(path)
        if lock is None:
            return
        if lock.size > MANY:
            last = self._examined_at.get(path)
            pause = PAUSE * lock.size // PAUSE_FOR
            if last is not None and scene.now < last + pause:
                self._set_due(path, last + pause)
                return
            self._examined_at[path] = scene.now
        past = self._chronicle.of(path, scene.now)
        news = self._root_news.get(path, RootNews())
        look = Examination(lock=lock, around=around, past=past, root=news)
        said = examine(look)
        self._remember(path, said, scene.now)
        if any(finding.rule == "D7" for finding in said.findings):
            self._knots[path] = tuple(watch_knots(look))
        else:
            self._knots.pop(path, None)

    def _interview(self, session: Session, scene: Scene, around: Surroundings) -> None:
        paths = sorted(path for path in self._places.of(session) if path in scene.locks)
        places = tuple(chain.from_iterable(_places_in(scene.locks[p], session) for p in paths))
        self._remember(session, interview(Interview(session, places, around)), scene.now)

    def _survey(self, scene: Scene, around: Surroundings) -> None:
        survey = Survey(
            around=around,
            tables=scene.world.tables,
            link=scene.world.link,
            deadlocks=scene.deadlocks,
            inversions=scene.inversions,
            owners=self._places.owners,
        )
        self._remember(WHOLE, survey_all(survey), scene.now)

    def _remember(self, key: Key, said: Examined, now: Millis) -> None:
        """File what was said; the answer is put together anew only if that changed it."""
        if said.due_ms is None:
            self._due.pop(key, None)
        elif key != WHOLE:
            self._set_due(key, said.due_ms)
        before = self._said.get(key, _NOTHING)
        looks, shown = before.looks.after(said.findings, now, self._settings.thresholds.settle)
        if looks.seen:
            self._said[key] = _Said(looks, shown)
        else:
            self._said.pop(key, None)
        if shown != before.shown:
            self._answer = None
        self._note_blind(key, frozenset(said.blinds))

    def _note_blind(self, key: Key, lacks: frozenset[Blind]) -> None:
        """Count what could not be decided; the same words are said of many locks."""
        before = self._lacks.pop(key, _SEES_ALL)
        if lacks:
            self._lacks[key] = lacks = self._lacking.setdefault(lacks, lacks)
        if lacks != before:
            self._blind.subtract(before)
            self._blind.update(lacks)
            self._answer = None

    def _together(self, scene: Scene) -> Inspected:
        found = {one.id: one for said in self._said.values() for one in said.shown}
        ahead = Ahead(
            lambda session: _waits(scene.locks, session, self._places.of(session)),
            lambda path: _holders(scene.locks.get(path)),
        )
        return Inspected(
            folded(found.values(), ahead),
            tuple(sorted(blind for blind, n in self._blind.items() if n > 0)),
            tuple(chain.from_iterable(self._knots[path] for path in sorted(self._knots))),
        )


def _places_in(lock: Lock, session: Session) -> Iterator[Place]:
    for line in lock.lines:
        waiting = len(line.waiters)
        for member in line.members:
            if member.owner == session:
                holds = line.holds(member)
                yield Place(lock, member, holds, waiting if holds else 0)


def _waits(locks: Mapping[Text, Lock], session: Session, paths: Iterable[Text]) -> Iterator[Text]:
    for path in paths:
        lock = locks.get(path)
        if lock is not None and any(member.owner == session for member in lock.waiters):
            yield path


def _holders(lock: Lock | None) -> Iterator[Session]:
    return (member.owner for member in lock.holders if member.owner) if lock else iter(())
