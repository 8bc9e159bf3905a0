"""The newest events of all locks, of one lock or of one session, one line each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace
from rich.cells import cell_len, set_cell_size

from zktop.model.actors import session_of
from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session, last_name
from zktop.model.format import count, several, short, spoken, whole_names
from zktop.model.history.events import Elapsed, Event, EventKind
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.inks import Ink
from zktop.ui.past.tape import DeadlockRecord, Tape
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.common.lock_status import ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import time_ms, time_s, with_date_if_needed
from zktop.ui.styled_text import Line, end_of, line
from zktop.ui.view_state import Selection

SIGNS: Final[dict[EventKind, tuple[str, str, Ink]]] = {
    "lock-appeared": ("+", "lock created", "info"),
    "queued": ("+", "queued", "waits"),
    "acquired": ("*", "acquired", "holds"),
    "released": ("-", "released", "plain"),
    "abandoned": ("-", "gave up waiting", "warning"),
    "expired": ("x", "expired", "warning"),
    "reordered": ("~", "moved back in the queue", "warning"),
    "missed": ("?", "missed between two reads:", "unknown"),
    "lock-vanished": ("-", "lock deleted", "info"),
}
LEFT_UNSEEN: Final[tuple[str, str, Ink]] = ("?", "left unseen", "unknown")
LEFT_UNCLEARLY: Final[tuple[str, str, Ink]] = ("-", "left, may have held it", "unknown")
LEASE_ENDED: Final[tuple[str, str, Ink]] = ("-", "let its lease end", "plain")
LOST_ITS_NODE: Final[tuple[str, str, Ink]] = ("-", "lost its node", "warning")
MIN_PATH_CELLS, PATH_CELLS, WIDE_PATH_CELLS = 8, 24, 56
MONTH_TO_MINUTE: Final = slice(5, 16)  # in a date and time
EXACT_FROM_CELLS: Final = 60  # narrower lines have no milliseconds, and smaller gaps
WIDE_FROM_CELLS: Final = 160
AROUND_PATH_CELLS: Final = 44
NO_WAIT_MS: Final = 5  # a shorter wait is not mentioned
ITSELF: Final = "."  # the node of a lock that is a single node
MAX_EVENTS_SEARCHED: Final = 2_000


class EventLine(NamedTuple):
    """One event as a line, and the screen that it opens."""

    at: Millis
    drawn: Line
    link: LineLink


class About(NamedTuple):
    """The lock or the session whose events are listed. Without either, all events are listed."""

    lock: Text | None = None
    session: Session | None = None

    def may_have(self, event: Event) -> bool:
        """True unless an event is about another lock. Its session may not be known yet."""
        return self.lock is None or self.lock == event.lock

    def has(self, event: Event) -> bool:
        return self.may_have(event) and self.session in (None, event.session)

    def has_deadlock(self, deadlock: Deadlock) -> bool:
        if self.session is not None:
            return self.session in map(session_of, deadlock.actors)
        return self.lock is None or self.lock in deadlock.locks


EVERYTHING: Final = About()


def event_lines(
    tape: Tape,
    report: Report,
    at_most: int,
    width: int,
    about: About = EVERYTHING,
    *,
    shown_at: Millis | None = None,
) -> list[EventLine]:
    """Return the newest events up to this report. The last 2,000 events of locks are searched.

    `shown_at` is the moment that the user went to. In a gap, the report precedes the gap.
    """
    now, is_narrow = report.now, width < EXACT_FROM_CELLS
    room = (
        WIDE_PATH_CELLS if width >= WIDE_FROM_CELLS else min(PATH_CELLS, width - AROUND_PATH_CELLS)
    )
    path_cells = max(MIN_PATH_CELLS, room) if about.lock is None else 0
    today = now if shown_at is None else shown_at
    writer = _EventWriter(report.client_names, path_cells, today, is_narrow)
    newest = islice(tape.events_until(now), MAX_EVENTS_SEARCHED)
    with_owners = _with_owners(filter(about.may_have, newest), report)
    lines = (writer.event(event) for event in with_owners if about.has(event))
    cases = [case for case in tape.deadlocks.values() if about.has_deadlock(case.deadlock)]
    deadlocks = sorted(writer.deadlocks(cases, now), key=lambda drawn: drawn.at, reverse=True)
    both = merge(lines, deadlocks, key=lambda drawn: drawn.at, reverse=True)
    return list(islice(both, at_most))


def _with_owners(newest_first: Iterable[Event], report: Report) -> Iterator[Event]:
    """Add the owner to events whose owner was only read later.

    Node names start over in a lock that was deleted and recreated.
    """
    later: dict[tuple[Text, Text, int], Event] = {}
    lives = Counter[Text]()  # later creations and deletions of each lock
    for event in newest_first:
        lives[event.lock] += event.event in ("lock-appeared", "lock-vanished")
        if event.node is None or event.node == ITSELF:
            yield event
        elif event.session or event.owner:
            later[event.lock, event.node, lives[event.lock]] = event
            yield event
        elif (later_event := later.get((event.lock, event.node, lives[event.lock]))) is not None:
            yield replace(event, session=later_event.session, owner=later_event.owner)
        else:
            view = None if lives[event.lock] else report.view(event.lock)
            member = view.lock.member(event.node) if view else None
            yield replace(event, session=member.owner, owner=member.label) if member else event


class _EventWriter(NamedTuple):
    """Writes events as lines. If there are no cells for the path, it is left out."""

    client_names: ClientNames
    path_cells: int
    today: Millis
    is_narrow: bool

    def event(self, event: Event) -> EventLine:
        """Return what happened to a lock or a request."""
        sign, what, ink = _sign(event)
        drawn = line(
            *self._head(event.at, sign, ink),
            f"{_cut(event.lock, self.path_cells)}{self._gap}" if self.path_cells else "",
            (_client_name(event, self.client_names), "strong"),
            (what, ink),
            _more(event),
        )
        link = LineLink("lock", Selection(path=event.lock, node=event.node))
        return EventLine(event.at, drawn, link)

    @property
    def _gap(self) -> str:
        return " " if self.is_narrow else "  "

    def _head(self, at: Millis, sign: str, ink: Ink) -> Line:
        cells = 2 if self.is_narrow else 3
        return line((f" {self._time(at)}{self._gap}", "dim"), (f"{sign:<{cells}}", ink))

    def _time(self, at: Millis) -> str:
        """The time of an event, with its date if it is not today. A narrow line has no year."""
        time = time_s(at) if self.is_narrow else time_ms(at)
        dated = with_date_if_needed(time, at, self.today)
        return dated[MONTH_TO_MINUTE] if self.is_narrow and dated != time else dated

    def deadlocks(self, cases: Iterable[DeadlockRecord], now: Millis) -> Iterator[EventLine]:
        """Return a line for when each deadlock was recorded, and one for its end."""
        for case in cases:
            names = case.deadlock.locks
            where = several(names if self.path_cells > MIN_PATH_CELLS else map(last_name, names))
            link = LineLink("findings", Selection(case=case.deadlock.id))
            lines: tuple[tuple[Millis | None, str, str, Ink], ...] = (
                (case.recorded_at, "!", "DEADLOCK: ", ink_of_deadlock(case.deadlock)),
                (case.over_at, "✓", "deadlock over: ", "good"),
            )
            for at, sign, what, ink in lines:
                if at is not None and at <= now:
                    drawn = line(*self._head(at, sign, ink), (what, ink), where)
                    yield EventLine(at, drawn, link)


def _cut(path: str, width: int) -> str:
    """Shorten a path from the left, if possible to whole names, and pad it to `width`.

    >>> _cut("/locks/shop/orders", 12), _cut("/locks/a-very-long-name", 12), _cut("/a", 4)
    ('…/orders    ', '…y-long-name', 'a   ')
    >>> _cut("/漢字漢字/訂單", 12), _cut("/漢字漢字漢字漢字", 12)
    ('…/訂單      ', '…字漢字漢字 ')
    """
    if width <= MIN_PATH_CELLS:
        path = last_name(path)
    if cell_len(path) > width:
        path = f"…{whole_names(end_of(path, width - 1))}"
    return set_cell_size(path, width)


def _client_name(event: Event, client_names: ClientNames) -> str:
    if event.node is None:
        return ""
    if not event.session and not event.owner:
        return f"{short(event.node)} "
    return f"{client_names(event.session or 0, event.owner)} "


def _sign(event: Event) -> tuple[str, str, Ink]:
    if event.is_unseen:
        return LEFT_UNSEEN
    if event.is_lease_end:
        return LEASE_ENDED
    if event.was_deleted:
        return LOST_ITS_NODE
    return LEFT_UNCLEARLY if event.may_have_held else SIGNS[event.event]


def _more(event: Event) -> str:
    if event.event == "missed":
        creates = count(event.creates or 0, "node") + " created"
        return f" {creates}, {event.deletes or 0} deleted"
    lasted = event.held or event.waited
    if event.is_unseen:
        did = "held" if event.held else "waited"
        return f", {did} {bounded_span(lasted, '≥')}" if lasted else ""
    if event.was_deleted:
        return f"{_after(lasted)}: {event.why}"
    is_immediate = event.event == "acquired" and lasted is not None and lasted.ms < NO_WAIT_MS
    return "" if is_immediate or event.event == "queued" else _after(lasted)


def _after(lasted: Elapsed | None) -> str:
    return "" if lasted is None else f" after {bounded_span(lasted, '≥')}"


def bounded_span(length: Elapsed, at_least: str = "at least ") -> str:
    """Return how long something lasted, as a lower bound if its start was not seen."""
    return ("" if length.bound == "exact" else at_least) + spoken(length.ms / 1000)
