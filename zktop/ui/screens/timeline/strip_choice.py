"""Which locks and sessions get strips on the timeline when there is not room for all.

Waiters with similar names, like forty processes of one service, share a strip. The selected
session, holders, and sessions in a deadlock keep strips of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Session, session_text
from zktop.model.format import fold_name
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.past.states import busiest, name_at
from zktop.ui.screens.timeline.strips import TimeWindow
from zktop.ui.view_state import ViewState

MIN_GROUP: Final = 3  # waiters; fewer get a strip each
MAX_GROUP: Final = 100  # waiters of one lock that are grouped
MAX_HOLDERS: Final = 2  # of one lock


class StripSubject(NamedTuple):
    """A session, or several waiters whose names differ only in their numbers."""

    name: str
    sessions: tuple[Session, ...]

    @property
    def session(self) -> Session | None:
        """The session; None for a group."""
        return self.sessions[0] if len(self.sessions) == 1 else None


def group_waiters(
    alone: Mapping[Session, str], waiters: Mapping[Session, str]
) -> Iterator[StripSubject]:
    """Sessions with strips of their own, then waiters, grouped where three or more are similar.

    >>> waiters = {1: "api-1", 7: "boss", 2: "pick-2", 3: "api-3", 4: "api-5"}
    >>> [(one.name, one.sessions) for one in group_waiters({7: "boss"}, waiters)]
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


def strip_locks(state: ViewState, seen: TimeWindow, report: Report) -> Iterator[Text]:
    """The selected lock, then locks in deadlocks, then the busiest ones."""
    busy = busiest(state.tape, seen.begin, seen.end)
    selected = Text(state.subject.path or "")
    paths = [selected] if selected in report.parts or selected in busy else []
    paths += [Text(path) for case in _cases(state, report) for path in case.locks]
    paths += [*busy, *report.paths[: seen.columns]]
    wanted = state.filter
    return (
        path
        for path in dict.fromkeys(paths)
        if not wanted or wanted.passes({"": path, "path": path})
    )


def strip_sessions(
    state: ViewState, report: Report, paths: Sequence[Text]
) -> Iterator[StripSubject]:
    """The selected session, those in deadlocks, and those that use these locks."""
    alone: dict[Session, str] = {}
    for session in _always_shown(state, report):
        name = name_at(state.tape, session, report.now)
        alone.setdefault(session, name or session_text(session))
    waiters: dict[Session, str] = {}
    for record in [report.parts[path] for path in paths if path in report.parts]:
        for one in record.lock.holders[:MAX_HOLDERS]:
            if one.owner:
                alone.setdefault(one.owner, report.client_names(one.owner, one.label))
        for one in record.lock.waiters[:MAX_GROUP]:
            if one.owner:
                waiters.setdefault(one.owner, report.client_names(one.owner, one.label))
    return group_waiters(alone, waiters)


def _always_shown(state: ViewState, report: Report) -> Iterator[Session]:
    """The selected session, and those in deadlocks."""
    if state.subject.session:
        yield state.subject.session
    actors = (session_of(actor) for case in _cases(state, report) for actor in case.actors)
    yield from (one for one in actors if one is not None)


def _cases(state: ViewState, report: Report) -> Iterable[Deadlock]:
    return (*report.deadlocks, *(one.deadlock for one in state.tape.deadlocks.values()))
