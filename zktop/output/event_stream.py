"""The events of `zktop events`: what changed from one report to the next.

A report contains the events of its locks. Deadlocks, findings and the connection are states: an
event marks when one begins or ends, or when a deadlock or finding becomes more certain or severe.
If a znode is listed but not read yet, its event is held back until its owner is known, for at
most PATIENCE_MS.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from zktop.model.facts import Link, Millis, Session
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.format import iso
from zktop.model.history import events as history
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.output.schema import EVENT, EventJson
from zktop.output.snapshot_json import session_or_null

T = TypeVar("T")
State = TypeVar("State", Deadlock, Finding)

PATIENCE_MS: Final = 1000  # after that, an event is printed without the owner


class EventStream:
    """Takes every report in order and yields the events since the previous one."""

    def __init__(self) -> None:
        self._link: Link | None = None
        self._deadlocks: dict[str, Deadlock] = {}
        self._findings: dict[str, Finding] = {}
        self._owners: dict[str, str | None] = {}  # of findings, whose locks may vanish first
        self._yielded: dict[str, Weight] = {}  # the highest severity and confidence so far
        self._held_back: deque[history.Event] = deque()

    def events(self, report: Report) -> Iterator[EventJson]:
        """Yield the events since the last report."""
        yield from self._connection_events(report)
        yield from self._lock_events(report)
        yield from self._deadlock_events(report)
        yield from self._finding_events(report)

    def rest(self) -> Iterator[EventJson]:
        """Yield the events still held back after the last report."""
        while self._held_back:
            yield lock_event(self._held_back.popleft(), None)

    def _lock_events(self, report: Report) -> Iterator[EventJson]:
        """Yield events in order, up to the first whose owner is not known yet."""
        self._held_back.extend(report.events)
        while self._held_back and (event := _with_owner(self._held_back[0], report)) is not None:
            self._held_back.popleft()
            yield lock_event(event, _mode(event, report))

    def _connection_events(self, report: Report) -> Iterator[EventJson]:
        link, previous_link = report.world.link, self._link
        if link is not None and link != previous_link:
            self._link = link
            yield EventJson(
                schema=EVENT,
                at=iso(link.at),
                event="connection",
                zxid=_hexadecimal(link.zxid or None),
                session=session_or_null(link.session),
                sentence=link.why,
                state=link.state,
            )

    def _deadlock_events(self, report: Report) -> Iterator[EventJson]:
        now = {deadlock.id: deadlock for deadlock in report.deadlocks}
        previous, self._deadlocks = self._deadlocks, now
        for deadlock in _gone(previous, now):
            yield _deadlock("deadlock-resolved", deadlock, report)
        for deadlock in self._risen(now, previous):
            yield _deadlock("deadlock", deadlock, report)

    def _finding_events(self, report: Report) -> Iterator[EventJson]:
        """Yield findings that began or ended. Deadlocks have their own events."""
        now = {
            finding.id: finding for finding in report.findings if finding.id not in self._deadlocks
        }
        previous, self._findings = self._findings, now
        for finding in _gone(previous, now):
            owner = self._owners.pop(finding.id, None) or _owner(finding, report)
            if finding.id not in self._deadlocks:
                yield _finding("finding-cleared", finding, owner, report)
        for finding in self._risen(now, previous):
            owner = self._owners[finding.id] = _owner(finding, report)
            yield _finding("finding", finding, owner, report)
        self._yielded = {key: self._yielded[key] for key in (*self._deadlocks, *now)}

    def _risen(self, now: dict[str, State], previous: dict[str, State]) -> Iterator[State]:
        """Yield the states that are new, or more certain or severe than ever before."""
        for key, state in now.items():
            so_far = self._yielded.get(key) if key in previous else None
            weight = _weight(state)
            highest = weight if so_far is None else Weight(*map(max, weight, so_far))
            if highest != so_far:
                yield state
            self._yielded[key] = highest


class Weight(NamedTuple):
    """The severity and confidence of a deadlock or finding, as numbers."""

    severity: int
    confidence: int


def _weight(state: Deadlock | Finding) -> Weight:
    severity = state.severity if isinstance(state, Finding) else "critical"
    return Weight(-SEVERITIES.index(severity), int(state.confidence[1:]))


def _with_owner(event: history.Event, report: Report) -> history.Event | None:
    """Return an event with its owner, or None while the owner may still become known."""
    if event.session or event.event not in ("queued", "acquired"):
        return event
    view = report.view(event.lock)
    member = view.lock.member(event.node) if view and event.node else None
    if member is None or report.now - event.at > PATIENCE_MS:
        return event
    if member.znode.stat is None:
        return None
    zxid = event.zxid if event.event == "acquired" else member.czxid
    return replace(event, session=member.owner or None, owner=member.label, zxid=zxid)


def _mode(event: history.Event, report: Report) -> str | None:
    """Return the mode of a contender, which may have left."""
    view = report.view(event.lock)
    if view is None or event.node is None:
        return None
    members = (view.lock.member(event.node), *reversed(view.history.former_members))
    return next((member.mode for member in members if member and member.node == event.node), None)


def lock_event(event: history.Event, mode: str | None) -> EventJson:
    waited, held = event.waited, event.held
    return EventJson(
        schema=EVENT,
        at=iso(event.at),
        event=event.event,
        zxid=_hexadecimal(event.zxid),
        lock=event.lock,
        node=event.node,
        session=session_or_null(event.session),
        owner=event.owner,
        mode=mode,
        waited_s=waited.ms / 1000 if waited else None,
        waited_is=waited.bound if waited else None,
        held_s=held.ms / 1000 if held else None,
        held_is=held.bound if held else None,
        creates=event.creates,
        deletes=event.deletes,
        sentence=event.why,
    )


def _deadlock(
    what: Literal["deadlock", "deadlock-resolved"], deadlock: Deadlock, report: Report
) -> EventJson:
    closing = deadlock.steps[-1].waits.lock if deadlock.steps else None
    return EventJson(
        schema=EVENT,
        at=iso(report.now),
        event=what,
        zxid=_hexadecimal(report.world.zxid or None),
        lock=closing,
        id=deadlock.id,
        rule=deadlock.rule,
        confidence=deadlock.confidence,
        sentence=deadlock.sentence,
        number=deadlock.number,
        how=next((over.how for over in reversed(report.over) if over.deadlock == deadlock), None),
    )


def _finding(
    what: Literal["finding", "finding-cleared"],
    finding: Finding,
    owner: str | None,
    report: Report,
) -> EventJson:
    at = report.now
    if report.is_lost:  # report.now is before the loss; only servers' tables may be newer
        at = max(at, finding.as_of if what == "finding" else _newest_answer(report))
    return EventJson(
        schema=EVENT,
        at=iso(at),
        event=what,
        zxid=_hexadecimal(report.world.zxid or None),
        lock=finding.lock,
        node=_only(finding.nodes),
        session=session_or_null(_only(finding.sessions)),
        owner=owner,
        severity=finding.severity,
        id=finding.id,
        rule=finding.rule,
        confidence=finding.confidence,
        sentence=finding.sentence,
    )


def _newest_answer(report: Report) -> Millis:
    """Return when a server was last asked for its state, whether it answered or not."""
    asked = (tables.server.at for tables in report.world.tables.values() if tables.server)
    return max(asked, default=0)


def _owner(finding: Finding, report: Report) -> str | None:
    """Return the label of the only session of a finding."""
    session = _only(finding.sessions)
    if session is None:
        return None
    return report.owner_name(session, _label(finding, session, report))


def _label(finding: Finding, session: Session, report: Report) -> Text | None:
    """Return the label of the first node of a finding, which is in its lock or has left it."""
    view = report.view(finding.lock) if finding.lock else None
    node = next(iter(finding.nodes), None)
    if view is None or node is None:
        return None
    member = view.lock.member(node)
    if member is not None and member.owner == session:
        return member.label
    for gone in reversed(view.history.all_former_members):
        if gone.node == node and gone.session == session:
            return gone.label
    return None


def _gone(previous: dict[str, T], now: dict[str, T]) -> list[T]:
    return [value for key, value in previous.items() if key not in now]


def _only(items: tuple[T, ...]) -> T | None:
    """Return the item if there is exactly one."""
    return items[0] if len(items) == 1 else None


def _hexadecimal(zxid: int | None) -> str | None:
    return None if zxid is None else f"{zxid:#x}"
