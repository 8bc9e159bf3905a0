"""Findings over time: which locks and sessions deserve a look now, and what that says.

To look at everything at every event would cost more than all the rest. A lock is examined when it
changed, when a table says something new about its sessions, when a rule asked for the clock to
strike, and when it had a finding before; a session when it changed place or when its row in a
table is odd. A lock of many members is examined the more seldom the more there are, and one look
examines no more than `AT_ONCE` of what is due, changed locks first: the rest follows with the
next looks. A look that has events to tell examines less, and no large lock, lest they be late.
When many locks change at once they are examined a while later, once for several changes: a
finding must last for longer than that to be shown. Thousands are put in order once a second,
and more seldom where only their words are older.
What is known to be wrong is examined again with new tables where its rules read those, and the
more seldom the more of it there is.

What one look of the inspection is about.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session
from zktop.model.findings.apply import (
    NO_RESULTS,
    RuleResults,
    examine_ensemble,
    examine_lock,
    examine_session,
)
from zktop.model.findings.causes import WaitsAhead, folded
from zktop.model.findings.confirm import NO_FINDINGS, CurrentFindings, SubjectFindings
from zktop.model.findings.context import (
    NO_ROOT_CHANGES,
    EnsembleContext,
    LockContext,
    RootChanges,
    SessionContext,
    SharedContext,
    holders_of,
    places_in,
    waits_of,
)
from zktop.model.findings.deadlocks import tangled, watch_knots
from zktop.model.findings.finding import BlindSpot
from zktop.model.findings.schedule import Agenda, Answers, Dates, SessionIndex, foremost, next_look
from zktop.model.findings.sessions import restless
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.change import LockChange
from zktop.model.locks.lock import Lock
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.ensemble import NO_ENSEMBLE, Ensemble
from zktop.model.world.world import World

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.lock_order_story import Inversion


class LookInput(msgspec.Struct, frozen=True, kw_only=True):
    """What one look is about."""

    world: World
    now: Millis
    ensemble: Ensemble
    locks: Mapping[Text, Lock]
    changes: Sequence[LockChange]
    deadlocks: "tuple[Deadlock, ...]"
    inversions: "tuple[Inversion, ...]"
    client_names: ClientNames
    at_once: int | None  # how much to examine in this look; None: all that is due

    @property
    def is_busy(self) -> bool:
        """Tell whether this look has something to tell that should not wait."""
        return self.at_once is not None and bool(self.changes)


MANY: Final = 500  # members of a lock that is not examined at every event
PAUSE: Final[Millis] = 1_000
PAUSE_FOR: Final = 250  # so many members: looking at ten thousand keeps everything else waiting
KNOWN_FOR: Final = 100  # the same, of findings and sessions that new tables may say more about
AGED_FOR: Final = 20  # the same, of findings that time alone makes older
AT_ONCE: Final = 150
BESIDE: Final = 40  # so many while locks change
CALM: Final = 5  # changed locks in a look; where there are more, most will change again soon
DEBOUNCE: Final[Millis] = 1_500

Key = Text | Session
WHOLE: Final[Key] = Text("")  # what is said of no lock and no session


_SEES_ALL: Final[frozenset[BlindSpot]] = frozenset()


class FindingTracker:
    """A fold over looks: remembers what was found, since when, and when to look again."""

    def __init__(self, settings: Settings, chronicle: LockHistories) -> None:
        """Begin with nothing found."""
        self._settings = settings
        self._chronicle = chronicle
        self._places = SessionIndex()
        self._root_news: dict[Text, RootChanges] = {}
        self._said: dict[Key, SubjectFindings] = {}
        self._lacks: dict[Key, frozenset[BlindSpot]] = {}
        self._lacking: dict[
            frozenset[BlindSpot], frozenset[BlindSpot]
        ] = {}  # thousands lack the same
        self._blind: Counter[BlindSpot] = Counter()
        self._knots: dict[Text, tuple[Deadlock, ...]] = {}
        self._dates: Dates[Key] = Dates()
        self._agenda: Agenda[Key] = Agenda()
        self._again_at: Millis = 0  # when new tables have us look again at what is known
        self._examined_at: dict[Text, Millis] = {}
        self._ensemble = NO_ENSEMBLE
        self._tangled: frozenset[Text] = frozenset()
        self._foremost: frozenset[Key] = frozenset()  # what somebody looks at just now
        self._answers = Answers()

    @property
    def is_behind(self) -> bool:
        """Tell whether the last look left something to the next one."""
        return bool(self._agenda)

    def look(self, scene: LookInput) -> CurrentFindings:
        """Say what is wrong now."""
        around = self._around(scene)
        for key in self._next(scene, around):
            if isinstance(key, str):
                self._examine(key, scene, around)
            elif key in self._places:
                self._interview(key, scene, around)
        self._survey(scene, around)
        self._ensemble = scene.ensemble
        if self._answers.is_due(scene.now, at_once=scene.at_once is None):
            answer = self._answers.give(self._together(scene), scene.now)
            self._bring_up(foremost(answer.findings), scene.now)
        return self._answers.newest

    def _bring_up(self, keys: frozenset[Key], now: Millis) -> None:
        """Examine what has come to the head of the list as soon as if there were nothing else."""
        for key in filter(self._said.__contains__, keys - self._foremost):
            self._dates.set_within(key, now + PAUSE)
        self._foremost = keys

    def _around(self, scene: LookInput) -> SharedContext:
        return SharedContext(
            ensemble=scene.ensemble,
            sessions=self._chronicle.sessions,
            settings=self._settings,
            now_ms=scene.now,
            tangled=tangled(scene.deadlocks),
            is_lock=lambda path: Text(path) in scene.locks,
            is_read=lambda path: scene.world.family(path).listed,
            client_names=scene.client_names,
        )

    def _next(self, scene: LookInput, around: SharedContext) -> list[Key]:
        """Choose what to examine in this look; what does not fit in goes on waiting."""
        changed = dict.fromkeys(self._changed(scene.changes))
        dead = frozenset(Text(lock) for one in scene.deadlocks for lock in one.locks)
        if scene.at_once is not None and len(scene.changes) > CALM:
            for path in (one.path for one in scene.changes if one.before and one.after):
                del changed[path]
                self._dates.set_within(path, scene.now + DEBOUNCE)
        changed.update(dict.fromkeys(sorted(dead ^ self._tangled)))
        self._tangled = dead
        self._agenda.put_first(changed)
        self._agenda.add(self._told_by_tables(scene, around))
        self._agenda.add(self._dates.fallen(scene.now))
        return self._agenda.take(BESIDE if scene.is_busy else scene.at_once)

    def _changed(self, changes: Iterable[LockChange]) -> Iterator[Key]:
        """Name the locks that changed, and whoever moved in them and is known or in many locks."""
        many = self._settings.thresholds.blast_radius
        for change in changes:
            owners = self._note_places(change)
            if change.after is None:
                self._forget(change.path)
            else:
                if change.before is not None:
                    self._note_root(change.path, change.before, change.after)
                yield change.path
            if self._said and not self._said.keys().isdisjoint(owners):
                yield from [owner for owner in owners if owner in self._said]
            yield from self._places.with_many(owners, many)

    def _note_root(self, path: Text, before: Lock, after: Lock) -> None:
        news = self._root_news.get(path, NO_ROOT_CHANGES)
        if (newer := news.after(before, after)) != NO_ROOT_CHANGES:
            self._root_news[path] = newer

    def _note_places(self, change: LockChange) -> list[Session]:
        """Keep the index of places; give the sessions that moved."""
        for member in change.deleted:
            if member.owner and not self._places.leave(member.owner, change.path):
                self._remember(member.owner, NO_RESULTS, 0)
        if change.roll is not None:
            self._places.enter_all(change.roll.sessions, change.path)
            return change.roll.sessions
        entered = (*change.created, *change.read)
        owners = [stat.owner if (stat := one.znode.stat) else 0 for one in entered]
        self._places.enter_all(owners, change.path)
        if change.before is not None:
            moved = chain(change.deleted, change.granted, change.lost)
            owners += [member.owner for member in moved]
        return owners

    def _forget(self, path: Text) -> None:
        self._remember(path, NO_RESULTS, 0)
        self._agenda.drop(path)
        for known in (self._examined_at, self._root_news, self._knots):
            known.pop(path, None)

    def _told_by_tables(self, scene: LookInput, around: SharedContext) -> Iterator[Key]:
        """Name whom new tables say something new about, and what rests on older ones."""
        if scene.ensemble.tables == self._ensemble.tables:
            return
        for session in sorted(scene.ensemble.changed_since(self._ensemble)):
            if session in self._places:
                yield session
                yield from self._places.of(session)
        known = {key: None for key, said in self._said.items() if said.reads_tables}
        known.pop(WHOLE, None)
        for session in filter(self._places.__contains__, restless(around, self._places.owners)):
            said = self._said.get(session)
            if said.shown if said else session in self._dates:  # it will have its look
                known[session] = None
            else:
                yield session
        if scene.now >= self._again_at:
            self._again_at = scene.now + PAUSE * (len(known) // KNOWN_FOR)
            yield from known
        else:
            yield from filter(self._foremost.__contains__, known)

    def _examine(self, path: Text, scene: LookInput, around: SharedContext) -> None:
        lock = scene.locks.get(path)
        if lock is None:
            return
        if lock.size > MANY and not self._is_time_for(lock, scene):
            return
        past = self._chronicle.of(path, scene.now)
        news = self._root_news.get(path, NO_ROOT_CHANGES)
        look = LockContext(lock=lock, around=around, past=past, root=news)
        said = examine_lock(look)
        self._remember(path, said, scene.now)
        if any(finding.rule == "D7" for finding in said.findings):
            self._knots[path] = tuple(watch_knots(look))
        else:
            self._knots.pop(path, None)

    def _is_time_for(self, lock: Lock, scene: LookInput) -> bool:
        """Tell whether to examine so large a lock now: seldom, and in a calm look if any."""
        path, pause = lock.path, PAUSE * lock.size // PAUSE_FOR
        last = self._examined_at.setdefault(path, scene.now - pause)
        age = scene.now - last
        if age < pause:
            self._dates.set(path, last + pause)
            return False
        if scene.is_busy and age < 2 * pause:
            self._agenda.add([path])
            return False
        self._examined_at[path] = scene.now
        return True

    def _interview(self, session: Session, scene: LookInput, around: SharedContext) -> None:
        paths = sorted(path for path in self._places.of(session) if path in scene.locks)
        places = tuple(chain.from_iterable(places_in(scene.locks[p], session) for p in paths))
        self._remember(
            session, examine_session(SessionContext(session, places, around)), scene.now
        )

    def _survey(self, scene: LookInput, around: SharedContext) -> None:
        survey = EnsembleContext(
            around=around,
            world=scene.world,
            tables=scene.world.tables,
            link=scene.world.link,
            deadlocks=scene.deadlocks,
            inversions=scene.inversions,
            owners=self._places.owners,
            expired=self._chronicle.expiries.most_at_once(),
        )
        self._remember(WHOLE, examine_ensemble(survey), scene.now)

    def _remember(self, key: Key, said: RuleResults, now: Millis) -> None:
        """File what was said; the answer is put together anew only if that changed it."""
        before = self._said.get(key, NO_FINDINGS)
        looks, shown = before.looks.after(said.findings, now, self._settings.thresholds.settle)
        longer = 0 if key in self._foremost else PAUSE * (len(self._said) // AGED_FOR)
        due = next_look(said, looks, now, longer)
        if due is None:
            self._dates.drop(key)
        elif key != WHOLE:
            self._dates.set(key, due)
        if looks.seen:
            self._said[key] = SubjectFindings(looks, shown)
        else:
            self._said.pop(key, None)
        if shown != before.shown:
            self._answers.compare(before.shown, shown)
        self._note_blind(key, frozenset(said.blinds))

    def _note_blind(self, key: Key, lacks: frozenset[BlindSpot]) -> None:
        """Count what could not be decided; the same words are said of many locks."""
        before = self._lacks.pop(key, _SEES_ALL)
        if lacks:
            self._lacks[key] = lacks = self._lacking.setdefault(lacks, lacks)
        if lacks != before:
            self._blind.subtract(before)
            self._blind.update(lacks)
            self._answers.renew()

    def _together(self, scene: LookInput) -> CurrentFindings:
        found = {one.id: one for said in self._said.values() for one in said.shown}
        ahead = WaitsAhead(
            lambda session: waits_of(scene.locks, session, self._places.of(session)),
            lambda path: holders_of(scene.locks.get(path)),
        )
        return CurrentFindings(
            folded(found.values(), ahead),
            tuple(sorted(blind for blind, n in self._blind.items() if n > 0)),
            tuple(chain.from_iterable(self._knots[path] for path in sorted(self._knots))),
        )
