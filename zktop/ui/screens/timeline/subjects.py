"""Which locks and sessions get strips on the timeline when there is not room for all.

Waiters with similar names, like forty processes of one service, share a strip. The selected
session, holders, and sessions in a deadlock keep strips of their own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order import fold_name
from zktop.ui.filters import Filter
from zktop.ui.past.state_changes import LARGE, StateChanges
from zktop.ui.screens.timeline.strips import UNFOLLOWED, TimeWindow, by_column, inked, sign
from zktop.ui.state import ViewState
from zktop.ui.styled_text import Line

MIN_GROUP: Final = 3  # waiters; fewer get a strip each
MATTERS_MOST: Final = "=#-x."  # the first of these that occurs in a column is drawn
Called = Callable[[Session], str | None]


class WaiterGroup(NamedTuple):
    """Waiters whose names differ only in their numbers."""

    name: str
    sessions: tuple[Session, ...]

    def __str__(self) -> str:
        """Name and size; at most LARGE waiters of a lock are counted."""
        count = len(self.sessions)
        return f"{self.name} ({count})" if count < LARGE else f"{self.name} ({LARGE}+)"


StripSubject = Session | WaiterGroup


def group_waiters(
    alone: Sequence[Session], waiters: Iterable[Session], called: Called
) -> list[StripSubject]:
    """Sessions with strips of their own, then waiters, grouped where three or more are similar.

    >>> group_waiters([7], [1, 7, 2, 3, 4], {1: "api-1", 2: "pick-2", 3: "api-3", 4: "api-5"}.get)
    [7, WaiterGroup(name='api-*', sessions=(1, 3, 4)), 2]
    """
    families: dict[str, list[Session]] = {}
    others = dict.fromkeys(waiters)
    for session in alone:
        others.pop(session, None)
    named = {session: fold_name(called(session) or "") for session in others}
    for session, name in named.items():
        families.setdefault(name, []).append(session)
    found: dict[StripSubject, None] = dict.fromkeys(alone)
    for session, name in named.items():
        alike = families[name]
        found[WaiterGroup(name, tuple(alike)) if name and len(alike) >= MIN_GROUP else session] = (
            None
        )
    return list(found)


def group_strip(past: StateChanges, crew: WaiterGroup, seen: TimeWindow) -> Line:
    """Draw what a group did: in each column, what matters most."""
    if past.sessions.keys().isdisjoint(crew.sessions):
        return UNFOLLOWED
    now: dict[Session, str] = {}
    turns: list[tuple[Millis, Session, str]] = []
    for session in crew.sessions:
        before, changes = past.session_states(session, seen.begin, min(seen.end, seen.newest + 1))
        now[session] = sign(before)
        turns += [(one.at, session, sign(one)) for one in changes]
    turns.sort(key=itemgetter(0))
    counts = Counter(now.values())
    cells: list[str] = []
    for inside in by_column(turns, seen, itemgetter(0)):
        for _, session, does in inside:
            counts[now[session]] -= 1
            counts[does] += 1
            now[session] = does
        cells.append(next(one for one in MATTERS_MOST if counts[one]))
    return inked("".join(cells))


MAX_HOLDERS: Final = 2  # of one lock


def strip_locks(
    state: ViewState, seen: TimeWindow, report: Report, past: StateChanges
) -> Iterator[Text]:
    """The selected lock, then locks in deadlocks, then the busiest ones."""
    paths: dict[Text, None] = {}
    if state.subject.path:
        paths[Text(state.subject.path)] = None
    for case in _cases(state, report):
        paths.update((Text(path), None) for path in case.locks)
    moved = [path for path, known in past.locks.items() if len(known) > 1]
    paths.update(dict.fromkeys(past.busiest(seen.begin, seen.end, moved)))
    paths.update(dict.fromkeys(report.paths[: seen.columns]))
    wanted = state.filter
    return (path for path in paths if path in past.locks and _passes(path, wanted))


def _passes(path: Text, wanted: Filter) -> bool:
    return not wanted or wanted.passes({"": path, "path": path})


def strip_sessions(
    state: ViewState, report: Report, paths: Sequence[Text], called: Called
) -> list[StripSubject]:
    """The selected session, those in deadlocks, and those that use these locks."""
    alone: dict[Session, None] = {}
    if state.subject.session:
        alone[state.subject.session] = None
    for case in _cases(state, report):
        known = (session_of(actor) for actor in case.actors)
        alone.update((one, None) for one in known if one is not None)
    queues: list[Session] = []
    for path in paths:
        part = report.parts.get(path)
        if part is not None:
            alone.update((one.owner, None) for one in part.lock.holders[:MAX_HOLDERS] if one.owner)
            queues += [one.owner for one in part.lock.waiters[:LARGE] if one.owner]
    return group_waiters(list(alone), queues, called)


def _cases(state: ViewState, report: Report) -> Iterator[Deadlock]:
    yield from report.deadlocks
    yield from (one.deadlock for one in state.tape.deadlocks.values())
