"""The queues of a period at evenly spaced moments, small enough for one page.

The distance between moments doubles as the period grows, so there are at most MAX_MOMENTS. Only
locks that clients waited for are kept: the costliest ones, as many as fit.
"""

from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from zktop.model.accounting.accounts import Accounts
from zktop.model.accounting.ledger import Ledger
from zktop.model.accounting.member_counts import member_counts
from zktop.model.facts import Millis
from zktop.model.history.events import UNKNOWN_SINCE, Since
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text

T = TypeVar("T")

FIRST_STEP_MS: Final[Millis] = 50
MAX_MOMENTS: Final = 1_200
MAX_STATES: Final = 300_000  # of all locks together
MAX_HOLDERS, MAX_WAITERS = 6, 12  # listed per lock
MAX_LOCKS_BYTES: Final = 1_500_000  # as JSON, which the page compresses to a sixth
NO_NAME: Final = Text("?")


class LockTrack(msgspec.Struct):
    """One lock in the page.

    A member is the index of its client in `names`, its mode, when it queued and when it got the
    lock, in milliseconds from the beginning, and whether each time is only the latest possible.
    A state is its moment, the number of holders and of waiters, and the indexes of the listed
    members, holders first.
    """

    path: str
    members: list[tuple[int, str, int | None, int | None, bool, bool]]
    states: list[list[int]]


class TimelineJson(msgspec.Struct):
    """What the page needs to show any moment."""

    since: Millis
    until: Millis
    step: Millis
    names: list[str]
    totals: list[tuple[int, int, int]]  # moment, waiting clients, locks for which they wait
    locks: list[LockTrack]  # the costliest first
    left_out: int  # locks with waiters that do not fit
    unseen: list[tuple[Millis, Millis]]  # begin and end of times without a connection
    max_holders: int = MAX_HOLDERS


class _ListedMember:
    """One member: its actor and the times at which it queued and got the lock."""

    __slots__ = ("actor", "granted", "mode", "queued")

    def __init__(self, mode: str) -> None:
        self.actor, self.mode = "", mode
        self.queued = self.granted = UNKNOWN_SINCE


_State = tuple[int, int, tuple[str, ...]]  # holders, waiters, listed members


class _Track:
    """The states of one lock since clients first waited for it."""

    __slots__ = ("members", "states", "waiting")

    def __init__(self) -> None:
        self.states: dict[int, _State] = {}  # by moment, in order
        self.members: dict[str, _ListedMember] = {}
        self.waiting = 0


class Timeline:
    """Takes every report in order, after the ledger has taken it."""

    def __init__(self, since: Millis | None = None) -> None:
        self._since = since or 0
        self._step = FIRST_STEP_MS
        self._report: Report | None = None
        self._tracks: dict[Text, _Track] = {}
        self._totals: dict[int, tuple[int, int]] = {}
        self._states = self._waiting = self._contended = 0
        self._is_begun = False

    def look(self, report: Report, ledger: Ledger) -> None:
        if not self._is_begun:
            self._since, self._is_begun = max(self._since, report.now), True
        times = {event.lock: event.at for event in report.events}
        previous_report, self._report = self._report, report
        for path in report.changed_since(previous_report):
            self._add(path, report, times.get(path, report.now), ledger)
        self._totals[self._moment(report.now)] = self._waiting, self._contended
        # Each track may keep two states, however long the step.
        max_states = max(MAX_STATES, 2 * len(self._tracks))
        while self._moment(report.now) > MAX_MOMENTS or self._states > max_states:
            self._double()

    def json(self, accounts: Accounts) -> TimelineJson:
        """Return the moments of a period with the costliest locks."""
        names = {actor.actor: actor.name for actor in accounts.actors}
        name_indexes: dict[str, int] = {}
        locks: list[LockTrack] = []
        room = MAX_LOCKS_BYTES
        contended = [lock.path for lock in accounts.locks if lock.path in self._tracks]
        for path in contended:
            track = self._lock(path, names, name_indexes)
            room -= len(msgspec.json.encode(track))
            if room < 0 and locks:
                break
            locks.append(track)
        return TimelineJson(
            since=accounts.since,
            until=accounts.until,
            step=self._step,
            names=[*name_indexes],
            totals=[(at, *total) for at, total in _changes(self._totals)],
            locks=locks,
            left_out=len(contended) - len(locks),
            unseen=[
                (begin - accounts.since, end - accounts.since) for begin, end in accounts.unseen
            ],
        )

    def _add(self, path: Text, report: Report, at: Millis, ledger: Ledger) -> None:
        """Add the new state of a lock that clients wait for, or have waited for."""
        view = report.view(path)
        waiting = member_counts(view)["waits"] if view else 0
        track = self._tracks.get(path)
        if track is None:
            if not waiting:
                return
            track = self._tracks[path] = _Track()
        self._waiting += waiting - track.waiting
        self._contended += bool(waiting) - bool(track.waiting)
        track.waiting = waiting
        states_before = len(track.states)
        moment = self._moment(at)
        track.states[moment] = self._state(track, view, waiting, ledger) if view else (0, 0, ())
        self._states += len(track.states) - states_before

    def _state(self, track: _Track, view: LockView, waiting: int, ledger: Ledger) -> _State:
        lock, history = view.lock, view.history
        holders = list(lock.holders)
        shown = (*holders[:MAX_HOLDERS], *lock.waiters[:MAX_WAITERS])
        for number, member in enumerate(shown):
            listed = track.members.get(_key(member))
            if listed is None:
                listed = track.members[_key(member)] = _ListedMember(MODE_LETTERS[member.mode])
                listed.queued = history.queued(member)
            listed.actor = ledger.actor_of(lock.path, member.node) or listed.actor
            is_holder = number < min(MAX_HOLDERS, len(holders))
            if is_holder and listed.granted is UNKNOWN_SINCE:
                listed.granted = history.granted(member)
        return len(holders), waiting, tuple(map(_key, shown))

    def _moment(self, at: Millis) -> int:
        """Return the first moment at or after a time."""
        return max(0, -((self._since - at) // self._step))

    def _double(self) -> None:
        """Keep every second moment."""
        self._step *= 2
        self._totals = _halved(self._totals)
        self._states = 0
        for track in self._tracks.values():
            track.states = _halved(track.states)
            self._states += len(track.states)
            used = {key for _, _, shown in track.states.values() for key in shown}
            track.members = {key: member for key, member in track.members.items() if key in used}

    def _lock(self, path: Text, names: dict[str, Text], name_indexes: dict[str, int]) -> LockTrack:
        track = self._tracks[path]
        member_indexes = {key: index for index, key in enumerate(track.members)}
        return LockTrack(
            path=path,
            members=[
                (
                    name_indexes.setdefault(names.get(member.actor, NO_NAME), len(name_indexes)),
                    member.mode,
                    self._relative(member.queued),
                    self._relative(member.granted),
                    member.queued.bound == "at-least",
                    member.granted.bound == "at-least",
                )
                for member in track.members.values()
            ],
            states=[
                [moment, holders, waiting, *(member_indexes[key] for key in shown)]
                for moment, (holders, waiting, shown) in _changes(track.states)
            ],
        )

    def _relative(self, since: Since) -> Millis | None:
        return None if since.at is None else since.at - self._since


def _key(member: Member) -> str:
    """Return a key that is unique to a member: names without a number may be reused."""
    return member.node if member.sequence is not None else f"{member.node} {member.czxid}"


def _halved(states: dict[int, T]) -> dict[int, T]:
    """Halve the moments, rounding up. Of two states of the same moment, keep the later one.

    >>> _halved({0: "a", 3: "b", 4: "c"})
    {0: 'a', 2: 'c'}
    """
    return {(moment + 1) // 2: state for moment, state in states.items()}


def _changes(states: dict[int, T]) -> Iterator[tuple[int, T]]:
    """Yield the states that differ from the previous one.

    >>> [*_changes({0: "a", 3: "a", 4: "c"})]
    [(0, 'a'), (4, 'c')]
    """
    previous: T | None = None
    for moment, state in states.items():
        if state != previous:
            yield moment, state
        previous = state
