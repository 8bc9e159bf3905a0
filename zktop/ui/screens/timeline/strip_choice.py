"""Choose the locks and sessions that get strips on the timeline, as many as fit.

Waiters with similar names, like forty processes of one service, share a strip. The selected
session, holders, and sessions in a deadlock are never grouped.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Session
from zktop.model.format import fold_name
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.past.states import name_in
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.view_state import ViewState

MIN_GROUP: Final = 3  # fewer waiters get a strip each
MAX_GROUP: Final = 100  # waiters of one lock that are grouped; the others are left out
MAX_HOLDERS: Final = 2  # shown for each lock
ALERTS_FROM_LINES: Final = 7  # a shorter screen has no strip of alerts
GRAPH_LINES: Final = ((9, 3), (14, 1))  # from 9 lines on, the graph gets 3; from 14 on, one more
LEGENDS_FROM_LINES: Final = (6, 14)  # for the first and the second legend
CONTACTS_FROM_SPARE_LINES: Final = 3
LEAST_LOCKS, LEAST_CLIENTS = 2, 3
ROUNDS: Final = 2  # fewer locks may have fewer clients, which leaves room for more locks


class StripSubject(NamedTuple):
    """A session, or several waiters whose names differ only in their numbers."""

    name: str
    sessions: tuple[Session, ...]

    @property
    def session(self) -> Session | None:
        """The session. A group has none."""
        return self.sessions[0] if len(self.sessions) == 1 else None


class StripCounts(NamedTuple):
    """The number of strips, and of the other lines around them."""

    locks: int
    clients: int
    contacts: int = 0
    legends: int = 0
    has_alerts: bool = True
    has_queues: bool = True  # a line with the queue below each lock
    graph: int = 0  # lines of the graph, at least


class StripChoice(NamedTuple):
    """The locks and clients of the strips."""

    paths: list[Text]
    subjects: list[StripSubject]
    counts: StripCounts


def strip_counts(room: int, locks: int, clients: int) -> StripCounts:
    """Divide the lines below the axis among locks and clients.

    >>> strip_counts(4, 9, 9)[:2], strip_counts(11, 9, 9)[:2], strip_counts(19, 4, 4)[:2]
    ((2, 2), (3, 3), (4, 4))
    """
    has_alerts = room >= ALERTS_FROM_LINES
    legends = sum(room >= least for least in LEGENDS_FROM_LINES)
    graph = sum(lines for least, lines in GRAPH_LINES if room >= least)
    left = room - has_alerts - legends - graph
    lock_lines = 2 if left >= 2 * LEAST_LOCKS + LEAST_CLIENTS else 1
    shown_locks = min(locks, LEAST_LOCKS, max(1, left // 2))
    shown_clients = min(clients, LEAST_CLIENTS, max(0, left - lock_lines * shown_locks))
    left -= lock_lines * shown_locks + shown_clients
    while left > 0:
        is_lock_next = shown_clients > shown_locks or shown_clients == clients
        if is_lock_next and shown_locks < locks and left >= lock_lines:
            shown_locks, left = shown_locks + 1, left - lock_lines
        elif shown_clients < clients:
            shown_clients, left = shown_clients + 1, left - 1
        else:
            break
    contacts = min(shown_clients, left - 1) if left >= CONTACTS_FROM_SPARE_LINES else 0
    has_queues = lock_lines > 1
    return StripCounts(
        shown_locks, shown_clients, contacts, legends, has_alerts, has_queues, graph
    )


def chosen_strips(state: ViewState, window: TimeWindow, report: Report, room: int) -> StripChoice:
    """Choose as many locks and clients as fit."""
    room = max(0, room)
    candidates = list(islice(strip_locks(state, window, report), max(LEAST_LOCKS, room // 2)))
    paths, clients = candidates, room
    for _ in range(ROUNDS):
        subjects = list(islice(strip_sessions(state, window, report, paths), room))
        clients = min(clients, len(subjects))
        counts = strip_counts(room, len(candidates), clients)
        paths = candidates[: counts.locks]
    return StripChoice(
        paths, list(islice(strip_sessions(state, window, report, paths), counts.clients)), counts
    )


def group_waiters(
    alone: Mapping[Session, str], waiters: Mapping[Session, str]
) -> Iterator[StripSubject]:
    """Yield the sessions in `alone`, then waiters. Three or more with similar names are grouped.

    >>> waiters = {1: "api-1", 7: "boss", 2: "pick-2", 3: "api-3", 4: "api-5"}
    >>> [(subject.name, subject.sessions) for subject in group_waiters({7: "boss"}, waiters)]
    [('boss', (7,)), ('api-* (3)', (1, 3, 4)), ('pick-2', (2,))]
    """
    yield from (StripSubject(name, (session,)) for session, name in alone.items())
    groups: dict[str, dict[Session, str]] = {}
    for session, name in waiters.items():
        if session not in alone:
            groups.setdefault(fold_name(name), {})[session] = name
    for group, names in groups.items():
        if len(names) >= MIN_GROUP:
            size = f"{len(names)}{'+' if len(names) >= MAX_GROUP else ''}"
            yield StripSubject(f"{group} ({size})", tuple(names))
        else:
            yield from (StripSubject(name, (session,)) for session, name in names.items())


def strip_locks(state: ViewState, window: TimeWindow, report: Report) -> Iterator[Text]:
    """Return the selected lock, then locks of deadlocks in view, then the busiest ones."""
    busy = state.tape.tracks.busiest(window.begin, window.end)
    selected = Text(state.subject.path or "")
    paths = [selected] if selected in report.records or selected in busy else []
    paths += [Text(path) for case in _cases(state, window, report) for path in case.locks]
    paths += [*busy, *report.paths[: window.columns]]
    wanted = state.filter
    return (
        path
        for path in dict.fromkeys(paths)
        if not wanted or wanted.passes({"": path, "path": path})
    )


def strip_sessions(
    state: ViewState, window: TimeWindow, report: Report, paths: Sequence[Text]
) -> Iterator[StripSubject]:
    """Return the selected session, those of deadlocks in view, and those that use these locks."""
    alone: dict[Session, str] = {}
    for session in _always_shown(state, window, report):
        name = name_in(report, session) or state.tape.tracks.name(session)
        alone.setdefault(session, name)
    waiters: dict[Session, str] = {}
    for record in [report.records[path] for path in paths if path in report.records]:
        for member in record.lock.holders[:MAX_HOLDERS]:
            if member.owner:
                alone.setdefault(member.owner, report.client_names.of(member))
        for member in record.lock.waiters[:MAX_GROUP]:
            if member.owner:
                waiters.setdefault(member.owner, report.client_names.of(member))
    return group_waiters(alone, waiters)


def _always_shown(state: ViewState, window: TimeWindow, report: Report) -> Iterator[Session]:
    """Yield the selected session, and those of deadlocks in view."""
    if state.subject.session:
        yield state.subject.session
    actors = (session_of(actor) for case in _cases(state, window, report) for actor in case.actors)
    yield from (session for session in actors if session is not None)


def _cases(state: ViewState, window: TimeWindow, report: Report) -> Iterator[Deadlock]:
    """Yield the deadlocks of the report, then those that existed in view, the newest first."""
    yield from report.deadlocks
    for record in reversed(state.tape.deadlocks.values()):
        is_over = record.over_at is not None and record.over_at < window.begin
        if not is_over and record.recorded_at < window.end:
            yield record.deadlock
