"""What happens, one event after the other: what two reports in a row differ in.

What happened to locks a report knows itself. Deadlocks, findings and our own connection are
states, and it is their beginning and their end that is told. A look may come between the news of a
znode and the answer to who made it: then what happened to it is told a moment later, and by whom.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Literal, TypeVar

from msgspec.structs import replace

from zktop.model.facts import Link, Session, session_text
from zktop.model.findings.finding import Finding
from zktop.model.format import iso
from zktop.model.history import events as history
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.output.schema import EVENT, EventJson

Told = TypeVar("Told")

PATIENCE_MS: Final = 1000  # with a newcomer that has not been read; then it is nobody's


class EventStream:
    """Told of every report, in order; says what is new."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._link: Link | None = None
        self._deadlocks: dict[str, Deadlock] = {}
        self._findings: dict[str, Finding] = {}
        self._held: deque[history.Event] = deque()

    def events(self, report: Report) -> Iterator[EventJson]:
        """Give the events since the report before."""
        yield from self._connection(report)
        yield from self._of_locks(report)
        yield from self._of_deadlocks(report)
        yield from self._of_findings(report)

    def rest(self) -> Iterator[EventJson]:
        """Give what was held back, when no report comes any more."""
        while self._held:
            yield lock_event(self._held.popleft())

    def _of_locks(self, report: Report) -> Iterator[EventJson]:
        """Give what happened in its order, up to a newcomer that will be known in a moment."""
        self._held.extend(report.events)
        while self._held and (event := _introduced(self._held[0], report)) is not None:
            self._held.popleft()
            yield lock_event(event)

    def _connection(self, report: Report) -> Iterator[EventJson]:
        link, before = report.world.link, self._link
        if link is not None and link != before:
            self._link = link
            yield EventJson(
                schema=EVENT,
                at=iso(link.at),
                event="connection",
                zxid=_hexadecimal(link.zxid or None),
                session=_session(link.session),
                sentence=link.why,
                state=link.state,
            )

    def _of_deadlocks(self, report: Report) -> Iterator[EventJson]:
        now = {deadlock.id: deadlock for deadlock in report.deadlocks}
        before, self._deadlocks = self._deadlocks, now
        for deadlock in _missing_in(now, before):
            yield _deadlock("deadlock-resolved", deadlock, report)
        for deadlock in _missing_in(before, now):
            yield _deadlock("deadlock", deadlock, report)

    def _of_findings(self, report: Report) -> Iterator[EventJson]:
        """Leave deadlocks out: they are findings too, and told already."""
        now = {one.id: one for one in report.findings if one.id not in self._deadlocks}
        before, self._findings = self._findings, now
        for finding in _missing_in(now, before):
            if finding.id not in self._deadlocks:
                yield _finding("finding-cleared", finding, report)
        for finding in _missing_in(before, now):
            yield _finding("finding", finding, report)


def _introduced(event: history.Event, report: Report) -> history.Event | None:
    """Put in whose place it is, if that was not known yet; None while it may still be."""
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


def lock_event(event: history.Event) -> EventJson:
    """Put what happened to a lock into the public shape."""
    waited, held = event.waited, event.held
    return EventJson(
        schema=EVENT,
        at=iso(event.at),
        event=event.event,
        zxid=_hexadecimal(event.zxid),
        lock=event.lock,
        node=event.node,
        session=_session(event.session),
        owner=event.owner,
        waited_s=waited.ms / 1000 if waited else None,
        waited_is=waited.measure if waited else None,
        held_s=held.ms / 1000 if held else None,
        held_is=held.measure if held else None,
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
        lock=closing,
        id=deadlock.id,
        rule=deadlock.rule,
        confidence=deadlock.confidence,
        sentence=deadlock.sentence,
        number=deadlock.number,
        how=next((one.how for one in reversed(report.over) if one.deadlock == deadlock), None),
    )


def _finding(
    what: Literal["finding", "finding-cleared"], finding: Finding, report: Report
) -> EventJson:
    return EventJson(
        schema=EVENT,
        at=iso(report.now),
        event=what,
        lock=finding.lock,
        node=_only(finding.nodes),
        session=_session(_only(finding.sessions)),
        id=finding.id,
        rule=finding.rule,
        confidence=finding.confidence,
        sentence=finding.sentence,
    )


def _missing_in(there: dict[str, Told], here: dict[str, Told]) -> list[Told]:
    return [one for key, one in here.items() if key not in there]


def _only(some: tuple[Told, ...]) -> Told | None:
    return some[0] if len(some) == 1 else None


def _hexadecimal(zxid: int | None) -> str | None:
    return None if zxid is None else f"{zxid:#x}"


def _session(session: Session | None) -> str | None:
    return session_text(session) if session else None
