"""The newest events of all locks, one line each."""

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
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.common.lock_status import ink_of_deadlock
from zktop.ui.styled_text import Ink, Line, line
from zktop.ui.view_state import Selection

SIGNS: Final[dict[EventKind, tuple[str, str, Ink]]] = {
    "lock-appeared": ("+", "lock created", "info"),
    "queued": ("+", "queued", "waits"),
    "acquired": ("*", "acquired it", "holds"),
    "released": ("-", "released it", "plain"),
    "abandoned": ("-", "gave up waiting", "warning"),
    "expired": ("x", "expired", "warning"),
    "reordered": ("~", "moved back in the queue", "warning"),
    "missed": ("?", "missed between two reads:", "unknown"),
    "lock-vanished": ("-", "lock deleted", "info"),
}
PATH_CELLS, WIDE_PATH_CELLS = 24, 56
WIDE: Final = 160  # cells of the line
OTHER_CELLS: Final = 44  # around the path
NO_WAIT_MS: Final = 5  # a shorter wait is not mentioned
ITSELF: Final = "."  # the node of a lock that is a single node
MAX_SEARCHED: Final = 2_000  # events


class EventLine(NamedTuple):
    """One event as a line, and the screen that it opens."""

    at: Millis
    drawn: Line
    link: LineLink


def event_lines(tape: Tape, report: Report, at_most: int, width: int) -> list[EventLine]:
    """Return the newest events before this report: of locks, and of deadlocks."""
    now = report.now
    path = WIDE_PATH_CELLS if width >= WIDE else min(PATH_CELLS, max(8, width - OTHER_CELLS))
    known = _with_owners(islice(tape.events_until(now), MAX_SEARCHED), report)
    lines = (_event_line(one, report.client_names, path) for one in known if one.at <= now)
    deadlocks = sorted(
        _deadlock_lines(tape.deadlocks.values(), now), key=lambda one: one.at, reverse=True
    )
    both = merge(lines, deadlocks, key=lambda one: one.at, reverse=True)
    return list(islice(both, at_most))


def _with_owners(newest_first: Iterable[Event], report: Report) -> Iterator[Event]:
    """Complete events whose owner was read after the event."""
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


def _event_line(event: Event, client_names: ClientNames, width: int) -> EventLine:
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
    return EventLine(
        event.at, drawn, LineLink("lock", Selection(path=event.lock, node=event.node))
    )


def _who(event: Event, client_names: ClientNames) -> str:
    if event.node is None:
        return ""
    if not event.session and not event.owner:
        return f"{short(event.node)} "
    return f"{client_names(event.session or 0, event.owner)} "


def _more(event: Event) -> str:
    if event.event == "missed":
        creates = count(event.creates or 0, "node") + " created"
        return f" {creates}, {event.deletes or 0} deleted"
    if event.held is not None:
        return f" after {span(event.held)}"
    if event.waited is not None and event.event == "acquired" and event.waited.ms < NO_WAIT_MS:
        return ""
    if event.waited is not None and event.event != "queued":
        return f" after {span(event.waited)}"
    return ""


def span(length: Elapsed) -> str:
    """Write how long something lasted; "at least" if its start was not seen."""
    return ("" if length.measure == "exact" else "at least ") + spoken(length.ms / 1000)


def _deadlock_lines(cases: Iterable[DeadlockRecord], now: Millis) -> Iterator[EventLine]:
    """Return lines for the first sight of each deadlock, and for its end."""
    for case in cases:
        where = several(case.deadlock.locks)
        link = LineLink("findings", Selection(case=case.deadlock.id))
        lines: tuple[tuple[Millis | None, str, str, Ink], ...] = (
            (case.first_seen_at, "!!", "DEADLOCK seen: ", ink_of_deadlock(case.deadlock)),
            (case.over_at, "ok", "deadlock over: ", "good"),
        )
        for at, sign, what, ink in lines:
            if at is not None and at <= now:
                drawn = line((f" {time_ms(at)}  ", "dim"), (f"{sign:<3}", ink), (what, ink), where)
                yield EventLine(at, drawn, link)
