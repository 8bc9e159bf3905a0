"""What happened lately, a line each, the newest first."""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis
from zktop.model.format import count, several, short, spoken
from zktop.model.history.events import Elapsed, Event, EventKind
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.tape import DeadlockRecord, Tape
from zktop.ui.screens.common.format import time_ms
from zktop.ui.screens.common.status_codes import ink_of_deadlock
from zktop.ui.state import Selection
from zktop.ui.styled_text import Ink, Line, line

SIGNS: Final[dict[EventKind, tuple[str, str, Ink]]] = {
    "lock-appeared": ("+", "the lock is new", "info"),
    "queued": ("+", "queued", "waits"),
    "acquired": ("*", "got it", "holds"),
    "released": ("-", "released it", "plain"),
    "abandoned": ("-", "gave up waiting", "warning"),
    "expired": ("x", "is gone: its session expired", "warning"),
    "reordered": ("~", "lost its place to a lower number", "warning"),
    "missed": ("?", "too quick to be seen:", "unknown"),
    "lock-vanished": ("-", "the lock is gone", "info"),
}
PATH, WIDE_PATH, WIDE = 24, 56, 160  # cells
AT_ONCE_MS: Final = 5
ITSELF: Final = "."  # the node that is the lock: called the same whoever makes it
GLIMPSE: Final = 2_000  # events that are looked through, at most, for the newest before a moment


class EventLine(NamedTuple):
    """One thing that happened, and what it leads to."""

    at: Millis
    drawn: Line
    page: str
    subject: Selection


def event_lines(tape: Tape, report: Report, at_most: int, width: int = 0) -> list[EventLine]:
    """Give the newest of what had happened by the moment of this report."""
    now, path = report.now, WIDE_PATH if width >= WIDE else PATH
    known = _introduced(islice(tape.events_until(now), GLIMPSE), report)
    told = (_entry(one, report.client_names, path) for one in known if one.at <= now)
    rings = sorted(_of_cases(tape.deadlocks.values(), now), key=lambda one: one.at, reverse=True)
    both = merge(told, rings, key=lambda one: one.at, reverse=True)
    return list(islice(both, at_most))


def _introduced(newest_first: Iterable[Event], report: Report) -> Iterator[Event]:
    """Put in whose place it was where that was read later than it happened."""
    later: dict[tuple[Text, Text], Event] = {}
    for one in newest_first:
        if one.node is None or one.node == ITSELF:
            yield one
        elif one.session or one.owner:
            later[one.lock, one.node] = one
            yield one
        elif (known := later.get((one.lock, one.node))) is not None:
            yield replace(one, session=known.session, owner=known.owner)
        else:
            view = report.view(one.lock)
            member = view.lock.member(one.node) if view else None
            yield replace(one, session=member.owner, owner=member.label) if member else one


def _entry(event: Event, client_names: ClientNames, width: int) -> EventLine:
    sign, what, ink = SIGNS[event.event]
    path = event.lock if len(event.lock) <= width else "…" + event.lock[1 - width :]
    drawn = line(
        (f" {time_ms(event.at)}  ", "dim"),
        (f"{sign}  ", ink),
        f"{path:<{width}}  ",
        (_who(event, client_names), "strong"),
        (what, ink),
        _more(event),
    )
    return EventLine(event.at, drawn, "lock", Selection(path=event.lock, node=event.node))


def _who(event: Event, client_names: ClientNames) -> str:
    if event.node is None:
        return ""
    if not event.session and not event.owner:
        return f"{short(event.node)} "
    return f"{client_names(event.session or 0, event.owner)} "


def _more(event: Event) -> str:
    if event.event == "missed":
        creates = count(event.creates or 0, "place was", "places were") + " made"
        return f" {creates}, {event.deletes or 0} taken away"
    if event.held is not None:
        return f" after {span(event.held)}"
    if event.waited is not None and event.event == "acquired" and event.waited.ms < AT_ONCE_MS:
        return " at once"
    if event.waited is not None and event.event != "queued":
        return f" after {span(event.waited)} of waiting"
    return ""


def span(length: Elapsed) -> str:
    """Write how long something lasted, and how well that is known."""
    return ("" if length.measure == "exact" else "at least ") + spoken(length.ms / 1000)


def _of_cases(cases: Iterable[DeadlockRecord], now: Millis) -> Iterator[EventLine]:
    """Tell of deadlocks: when they were seen for the first time, and when they were over."""
    for case in cases:
        where, subject = several(case.deadlock.locks), Selection(case=case.deadlock.id)
        told: tuple[tuple[Millis | None, str, str, Ink], ...] = (
            (case.confirmed_at, "!!", "DEADLOCK seen: ", ink_of_deadlock(case.deadlock)),
            (case.over_at, "ok", "deadlock is over: ", "good"),
        )
        for at, sign, what, ink in told:
            if at is not None and at <= now:
                drawn = line((f" {time_ms(at)}  ", "dim"), (f"{sign:<3}", ink), (what, ink), where)
                yield EventLine(at, drawn, "findings", subject)
