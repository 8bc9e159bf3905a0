"""Whom the timeline shows where there is not room for all: the locks and actors that matter."""

from collections.abc import Iterator, Sequence
from typing import Final

from zktop.model.actors import session_of
from zktop.model.facts import Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.draw.crew import Actor, Called, mustered
from zktop.ui.draw.strips import Window
from zktop.ui.filters import Filter
from zktop.ui.moment import Moment
from zktop.ui.tracks import LARGE, Tracks

HOLDERS: Final = 2  # of one lock


def locks(moment: Moment, seen: Window, report: Report, tracks: Tracks) -> Iterator[Text]:
    """Give the lock that was looked at, then those in deadlocks, then the busiest."""
    told: dict[Text, None] = {}
    if moment.subject.path:
        told[Text(moment.subject.path)] = None
    for case in _cases(moment, report):
        told.update((Text(path), None) for path in case.locks)
    moved = [path for path, known in tracks.locks.items() if len(known) > 1]
    told.update(dict.fromkeys(tracks.busiest(seen.begin, seen.end, moved)))
    told.update(dict.fromkeys(report.paths[: seen.columns]))
    wanted = moment.filter
    return (path for path in told if path in tracks.locks and _passes(path, wanted))


def _passes(path: Text, wanted: Filter) -> bool:
    return not wanted or wanted.passes({"": path, "path": path})


def people(moment: Moment, report: Report, paths: Sequence[Text], called: Called) -> list[Actor]:
    """Give the session that was looked at, those in deadlocks, and those of these locks."""
    alone: dict[Session, None] = {}
    if moment.subject.session:
        alone[moment.subject.session] = None
    for case in _cases(moment, report):
        known = (session_of(actor) for actor in case.actors)
        alone.update((one, None) for one in known if one is not None)
    queues: list[Session] = []
    for path in paths:
        part = report.parts.get(path)
        if part is not None:
            alone.update((one.owner, None) for one in part.lock.holders[:HOLDERS] if one.owner)
            queues += [one.owner for one in part.lock.waiters[:LARGE] if one.owner]
    return mustered(list(alone), queues, called)


def _cases(moment: Moment, report: Report) -> Iterator[Deadlock]:
    yield from report.deadlocks
    yield from (one.deadlock for one in moment.tape.cases.values())
