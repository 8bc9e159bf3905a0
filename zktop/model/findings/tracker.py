"""Tracks findings over time: what to examine at each look, and what is wrong now.

Examining all locks at every event would cost more than everything else. A lock is examined if it
changed, if a new table shows something new about its sessions, if one of its rules asked for
another look, and from time to time while it has findings. A session is examined if its nodes in
locks changed, or if its row in a table is suspicious. Each of these is a due time in one heap. One
look examines as many of the subjects that are due as `WorkOfLook` allows; the others follow at the
next looks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, TypeVar

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.facts import SECOND_MS, Connection, Millis, Session
from zktop.model.findings.apply import (
    NO_RESULTS,
    Examination,
    examine_deadlock,
    examine_ensemble,
    examine_lock,
    examine_session,
)
from zktop.model.findings.catalogue import SCOPES, TABLE_RULES
from zktop.model.findings.confirm import NO_FINDINGS, CurrentFindings, SubjectFindings
from zktop.model.findings.context import (
    EnsembleContext,
    LockContext,
    SessionContext,
    SharedContext,
    places_in,
)
from zktop.model.findings.deadlocks import LockNode, tangled_nodes, watch_knots
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.findings.listing.causes import WaitsAhead
from zktop.model.findings.listing.list_in_steps import FindingList
from zktop.model.findings.schedule import (
    FIRST,
    LONGEST_SAME_MS,
    PAUSE_PER_FINDING_MS,
    PAUSE_PER_PLACE_MS,
    DueTimes,
    RestReasons,
    Subject,
    WorkOfLook,
    next_examination,
)
from zktop.model.findings.sessions import is_suspicious, sessions_and_connections
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.lock_change import LockChange
from zktop.model.history.root_changes import NO_ROOT_CHANGES, RootChanges
from zktop.model.locks.leaking_folders import FolderCount
from zktop.model.locks.lock import Lock
from zktop.model.locks_of_sessions import LocksOfSessions
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order_story import Inversion
from zktop.model.world.missing_roots import SINGLE_NODE_LAYOUT
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble
from zktop.model.world.world import World

MARKED_SUBJECTS_PER_LOOK: Final = 5_000  # those that new tables may affect: about 8 ms
CROWD_MEMBERS: Final = 500  # a lock with more members rests after each examination
REST_PER_MEMBER_MS: Final = 4  # an examination takes 0.02 ms per member
REST_PER_LOCK_MS: Final = 20  # for a session in many locks: it may change at every look
FRESH_FINDINGS: Final = 40  # about a screenful: their wording is kept up to date
FRESH_PAUSE_PER_PLACE_MS: Final = 100  # less often for a session in hundreds of locks

Key = TypeVar("Key")

ENSEMBLE: Final[Subject] = Text("")  # the subject of findings about no single lock or session


class LookInput(msgspec.Struct, frozen=True, kw_only=True):
    """The input of one look."""

    world: World
    now: Millis
    ensemble: Ensemble
    locks: Mapping[Text, Lock]
    locks_of: LocksOfSessions
    changes: Sequence[LockChange]
    deadlocks: tuple[Deadlock, ...]
    inversions: tuple[Inversion, ...]
    client_names: ClientNames
    thorough: bool  # examine every subject that is due


class BlindSpots:
    """The blind spots of each subject, and how many subjects have each."""

    def __init__(self) -> None:
        self._of: dict[Subject, frozenset[BlindSpot]] = {}
        self._shared_sets: dict[frozenset[BlindSpot], frozenset[BlindSpot]] = {}
        self._number: Counter[BlindSpot] = Counter()

    def note(self, subject: Subject, spots: frozenset[BlindSpot]) -> bool:
        """Store those of a subject; return whether a blind spot is new, or no subject has it now.

        If each of 100,000 new locks counted as a change, all findings would be listed again for
        each: up to 50 ms at every look.
        """
        before = self._of.pop(subject, frozenset())
        if spots:
            self._of[subject] = self._shared_sets.setdefault(spots, spots)
        came, went = spots - before, before - spots
        self._number.update(came)
        _subtract(self._number, went)
        is_first = any(self._number[spot] == 1 for spot in came)
        return is_first or any(spot not in self._number for spot in went)

    def of_all(self) -> tuple[BlindSpot, ...]:
        return tuple(sorted(self._number))


class FindingTracker:
    """Remembers from look to look what was found, since when, and what to examine next."""

    def __init__(self, settings: Settings, histories: LockHistories) -> None:
        self._settings = settings
        self._histories = histories
        self._findings: dict[Subject, SubjectFindings] = {}
        self._from_tables: dict[Subject, None] = {}  # those with findings that depend on tables
        self._blind_spots = BlindSpots()
        self._root_changes: dict[Text, RootChanges] = {}
        self._watch_deadlocks: dict[Text, tuple[Deadlock, ...]] = {}
        self._due = DueTimes()
        self._work = WorkOfLook()
        self._rests_until: dict[Subject, Millis] = {}  # crowded locks, sessions in many locks
        self._ensemble = NO_ENSEMBLE
        self._affected: Iterator[Subject] = iter(())  # by new tables
        self._unchecked: Iterator[tuple[Session, Connection | None]] = iter(())  # in new tables
        self._is_marking = False  # some subjects that new tables may affect are not due yet
        self._is_confirmable = False  # no thorough look has examined the newest tables
        self._now: Millis = 0
        self._deadlocks: dict[Text, Deadlock] = {}  # by id
        self._tangled: Counter[LockNode] = Counter()  # the nodes in deadlocks
        self._deadlocked: Counter[Text] = Counter()  # their locks
        self._fresh: frozenset[Subject] = frozenset()  # the subjects of the first findings
        self._current = CurrentFindings()
        self._list = FindingList()
        self._folders = FolderCount()
        self._places: dict[Subject, int] = {}  # number of places of each subject with findings
        self._all_places = 0

    @property
    def is_behind(self) -> bool:
        """Whether the last look left work for the next one."""
        return self._due.any_due(self._now) or self._list.is_behind or self._is_marking

    def look(self, look: LookInput) -> CurrentFindings:
        """Examine what is due, and return everything that is wrong now."""
        self._now = look.now
        shared = self._shared(look)
        self._mark_sessions(look)
        for change in look.changes:
            self._mark_lock(change)
        if look.deadlocks != tuple(self._deadlocks.values()):
            self._update_deadlocks(look, shared)
        new_rows = self._read_tables(look)
        if self._is_marking:
            self._mark_step(look, shared)
        if look.thorough and self._is_confirmable:
            self._mark_unconfirmed()
        for subject in self._due_now(look, new_rows):
            self._examine(subject, look, shared)
        self._examine_ensemble(look, shared)
        ahead = WaitsAhead(look.locks, look.locks_of)
        if self._list.advance(self._findings, ahead, look.now, thorough=look.thorough):
            self._show(look.now)
        return self._current

    def _read_tables(self, look: LookInput) -> int:
        """Mark what new tables concern; return how many rows they have, or 0 at the first look."""
        before, self._ensemble = self._ensemble, look.ensemble
        if look.ensemble.tables == before.tables:
            return 0
        self._mark_tables(look, before)
        return look.ensemble.relisted_since(before) if before.tables else 0

    def _due_now(self, look: LookInput, new_rows: int) -> Iterator[Subject]:
        """Yield the subjects that are due, up to the work limit of one look."""
        self._work = WorkOfLook(new_rows)
        if look.thorough:
            yield from self._due.take(look.now, None)
        while self._work.is_below_limit and (due := self._due.take(look.now, 1)):
            yield from due

    def _shared(self, look: LookInput) -> SharedContext:
        return SharedContext(
            ensemble=look.ensemble,
            sessions=self._histories.sessions,
            settings=self._settings,
            now_ms=look.now,
            world=look.world,
            locks=look.locks,
            tangled=self._tangled,
            client_names=look.client_names,
        )

    def _mark_sessions(self, look: LookInput) -> None:
        """Make sessions of changed locks due if they have findings or many locks."""
        many = self._settings.thresholds.blast_radius
        sessions = chain.from_iterable(change.sessions for change in look.changes)
        for session in dict.fromkeys(sessions):
            locks = look.locks_of.get(session, ())
            if len(locks) < many:
                self._rests_until.pop(session, None)
            if not locks:
                self._remember(session, NO_RESULTS)
            elif session in self._findings:  # such a session may change at every look
                rests_until = self._rests_until.get(session, look.now)
                self._due.set_within(session, max(look.now + SECOND_MS, rests_until))
            elif len(locks) >= many:
                self._set_due(session, FIRST)

    def _mark_lock(self, change: LockChange) -> None:
        path, before, after = change.path, change.before, change.after
        if after is None:
            self._forget_lock(path)
        else:
            if before is not None:
                self._note_root(path, before, after)
            if after.size <= CROWD_MEMBERS:
                self._rests_until.pop(path, None)
            self._set_due(path, FIRST)

    def _note_root(self, path: Text, before: Lock, after: Lock) -> None:
        known = self._root_changes.get(path, NO_ROOT_CHANGES)
        if (newer := known.after(before, after)) != NO_ROOT_CHANGES:
            self._root_changes[path] = newer

    def _update_deadlocks(self, look: LookInput, shared: SharedContext) -> None:
        """Examine deadlocks that changed; make due the locks that joined or left one.

        A deadlock explains the other findings of its locks.
        """
        before, now = self._deadlocks, {Text(deadlock.id): deadlock for deadlock in look.deadlocks}
        self._deadlocks = now
        outdated = {
            name: deadlock for name, deadlock in before.items() if deadlock is not now.get(name)
        }
        new = {
            name: deadlock for name, deadlock in now.items() if deadlock is not before.get(name)
        }
        changed = (*outdated.values(), *new.values())
        paths = {Text(path) for deadlock in changed for path in deadlock.locks}
        were_deadlocked = paths & self._deadlocked.keys()
        for deadlock in outdated.values():
            _subtract(self._tangled, tangled_nodes(deadlock))
            _subtract(self._deadlocked, map(Text, deadlock.locks))
        for deadlock in new.values():
            self._tangled.update(tangled_nodes(deadlock))
            self._deadlocked.update(map(Text, deadlock.locks))
        for path in sorted(were_deadlocked ^ (paths & self._deadlocked.keys())):
            self._set_due(path, FIRST)
        for name in outdated.keys() - new.keys():
            self._remember(name, NO_RESULTS)
        for name in new:
            self._examine(name, look, shared)

    def _mark_tables(self, look: LookInput, before: Ensemble) -> None:
        """Start to make due every subject that new tables may affect."""
        changed = sorted(look.ensemble.changed_since(before))
        self._affected = chain(self._affected, _with_locks(changed, look.locks_of))
        self._unchecked = sessions_and_connections(look.ensemble, look.locks_of.keys())
        self._is_marking = self._is_confirmable = True
        # With many thousands, this pause exceeds the longest rest, so they are due sooner anyway.
        is_sooner = len(self._findings) * PAUSE_PER_FINDING_MS < LONGEST_SAME_MS
        from_tables = self._from_tables.keys()
        for subject in from_tables if is_sooner else from_tables & self._fresh:
            self._due.set_within(subject, look.now + self._pause_ms(subject))

    def _mark_step(self, look: LookInput, shared: SharedContext) -> None:
        """Make due some of the subjects that new tables affect; a thorough look marks them all."""
        limit = None if look.thorough else MARKED_SUBJECTS_PER_LOOK
        affected = list(islice(self._affected, limit))
        for subject in affected:
            self._set_due(subject, FIRST)
        remaining = None if limit is None else limit - len(affected)
        checked = list(islice(self._unchecked, remaining))
        for session, row in checked:
            is_odd = is_suspicious(session, row, shared) and session in look.locks_of
            if is_odd and self._is_news(session):
                self._set_due(session, FIRST)
        self._is_marking = len(affected) + len(checked) == limit

    def _mark_unconfirmed(self) -> None:
        """Make due what the newest tables may confirm: no later look does it for a command.

        A table that was examined by an earlier thorough look confirms nothing more.
        """
        self._is_confirmable = False
        settle = self._settings.thresholds.settle
        for subject in self._from_tables:
            if any(times.lasted < settle for times in self._findings[subject].seen_times.values()):
                self._set_due(subject, FIRST)

    def _is_news(self, session: Session) -> bool:
        """Whether a suspicious session is neither on screen nor due for examination."""
        findings = self._findings.get(session)
        return not findings.shown if findings else session not in self._due

    def _set_due(self, subject: Subject, at: Millis) -> None:
        self._due.set(subject, max(at, self._rests_until.get(subject, at)))

    def _pause_ms(self, subject: Subject) -> int:
        """The pause between two examinations, which grows with the work for all findings."""
        if subject in self._fresh:
            return self._places.get(subject, 0) * FRESH_PAUSE_PER_PLACE_MS
        return max(
            len(self._findings) * PAUSE_PER_FINDING_MS, self._all_places * PAUSE_PER_PLACE_MS
        )

    def _forget_lock(self, path: Text) -> None:
        self._remember(path, NO_RESULTS)
        self._root_changes.pop(path, None)
        self._watch_deadlocks.pop(path, None)
        self._rests_until.pop(path, None)

    def _examine(self, subject: Subject, look: LookInput, shared: SharedContext) -> None:
        if not isinstance(subject, str):
            paths = sorted({*look.locks_of.get(subject, ())})
            places = places_in(filter(None, map(look.locks.get, paths)), subject)
            self._remember(
                subject,
                examine_session(SessionContext(subject, places, shared=shared)),
                len(places),
            )
            if len(paths) >= self._settings.thresholds.blast_radius:
                self._rests_until[subject] = look.now + REST_PER_LOCK_MS * len(paths)
        elif lock := look.locks.get(subject):
            self._examine_lock(lock, look, shared)
        elif deadlock := self._deadlocks.get(subject):
            context = EnsembleContext(shared=shared, deadlocks=(deadlock,))
            self._remember(subject, examine_deadlock(context))

    def _examine_lock(self, lock: Lock, look: LookInput, shared: SharedContext) -> None:
        path = lock.path
        past = self._histories.of(path, look.now)
        root = self._root_changes.get(path, NO_ROOT_CHANGES)
        context = LockContext(lock=lock, shared=shared, past=past, root=root)
        if lock.size > CROWD_MEMBERS:
            self._rests_until[path] = look.now + REST_PER_MEMBER_MS * lock.size
        results = examine_lock(context)
        self._remember(path, results, lock.size)
        if any(finding.rule == "D7" for finding in results.findings):
            self._watch_deadlocks[path] = tuple(watch_knots(context))
        else:
            self._watch_deadlocks.pop(path, None)

    def _examine_ensemble(self, look: LookInput, shared: SharedContext) -> None:
        context = EnsembleContext(
            shared=shared,
            inversions=look.inversions,
            owners=look.locks_of.keys(),
            expired=self._histories.expiries.most_at_once(),
            vanished=self._histories.vanished_queues,
            folders=self._folders.look(look.world, look.locks, look.now),
            single_nodes=self._single_nodes(look),
        )
        self._remember(ENSEMBLE, examine_ensemble(context))

    def _single_nodes(self, look: LookInput) -> frozenset[str]:
        locks = (look.locks.get(Text(root.path)) for root in self._settings.roots)
        return frozenset(lock.path for lock in locks if lock and lock.layout == SINGLE_NODE_LAYOUT)

    def _remember(self, subject: Subject, results: Examination, places: int = 0) -> None:
        """Store the results, and whether they changed what is shown."""
        self._work.add(places, len(results.findings))
        settle = self._settings.thresholds.settle
        before, after = self._findings.get(subject, NO_FINDINGS), NO_FINDINGS
        due = results.due_ms
        if results.findings:
            after = before.after(results.findings, self._now, settle)
            is_unseen = all(finding.id in self._list.unseen for finding in after.shown)
            rest = RestReasons(self._pause_ms(subject), places, is_unseen)
            due = next_examination(due, after, self._now, settle, rest)
        if due is None or subject == ENSEMBLE:
            self._due.drop(subject)
        else:
            self._set_due(subject, due)
        self._store(subject, after, places)
        self._from_tables.pop(subject, None)
        depends_on_tables = any(finding.rule in TABLE_RULES for finding in results.findings)
        if subject != ENSEMBLE and depends_on_tables:
            self._from_tables[subject] = None
        self._list.note(before.shown, after.shown)
        self._list.is_changed |= self._blind_spots.note(subject, frozenset(results.blinds))

    def _store(self, subject: Subject, findings: SubjectFindings, places: int) -> None:
        self._all_places -= self._places.pop(subject, 0)
        if findings.seen_times:
            self._findings[subject], self._places[subject] = findings, places
            self._all_places += places
        else:
            self._findings.pop(subject, None)

    def _show(self, now: Millis) -> None:
        """Replace the current findings; make the first ones' subjects due within a second."""
        knots = (self._watch_deadlocks[path] for path in sorted(self._watch_deadlocks))
        self._current = CurrentFindings(
            self._list.findings,
            self._blind_spots.of_all(),
            tuple(chain.from_iterable(knots)),
        )
        fresh = frozenset(_subjects(self._current.findings[:FRESH_FINDINGS]))
        for subject in fresh - self._fresh:
            self._due.set_within(subject, now + SECOND_MS)
        self._fresh = fresh


def _with_locks(sessions: Iterable[Session], locks_of: LocksOfSessions) -> Iterator[Subject]:
    """Yield these sessions, each with all its locks; skip those without locks."""
    for session in sessions:
        if locks := locks_of.get(session):
            yield session
            yield from locks


def _subtract(counts: Counter[Key], keys: Iterable[Key]) -> None:
    """Subtract one for each key, and drop keys that reach zero."""
    for key in keys:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]


def _subjects(findings: Sequence[Finding]) -> Iterator[Subject]:
    """The locks and sessions of findings; the ensemble is examined at every look anyway."""
    for finding in findings:
        if SCOPES[finding.rule] == "lock":
            yield from islice(finding.locks, 1)
        elif SCOPES[finding.rule] == "session":
            yield from islice(finding.sessions, 1)
