"""The alerts of screen 1: a numbered line for each, worst first. The worst one has its sentence.

Acknowledged alerts fold into one line at the end; notes may be hidden.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.actors import session_of
from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.format import count, several, unblocks
from zktop.model.report import Report
from zktop.model.waits.confidence import CONFIDENCE_WORD, CONFIRMED, Confidence
from zktop.model.waits.deadlock import Deadlock, DeadlockStep
from zktop.model.waits.ways_out import kill_or_wait
from zktop.ui.inks import Ink
from zktop.ui.screens.common.lock_status import ink_of, ink_of_deadlock, no_locks
from zktop.ui.screens.common.numbers_and_times import elapsed
from zktop.ui.screens.findings.groups import FindingGroup, FindingKind, group_alike, kind_of
from zktop.ui.styled_text import Line, Run, fitted, joined, line, width_of, wrapped
from zktop.ui.widgets.panel import FrameWords

KEYS: Final = (
    "{next_alert} next  {acknowledge} acknowledge  {acknowledge_all} all  {show_notes} notes  "
    "{open} explain"
)
MAX_ALERTS: Final = 50
MAX_SENTENCE_LINES: Final = 2
MAX_DRAWN_STEPS: Final = 3  # clients of a ring that is drawn
ACKNOWLEDGED: Final = FindingKind("acknowledged", "info", is_sure=True)  # all acknowledged alerts


class AlertPicture(NamedTuple):
    """A ring with a line for each client, and the client to kill. Both may be empty."""

    ring: tuple[Line, ...] = ()
    answer: tuple[Line, ...] = ()

    def fits(self, room: int) -> bool:
        """True if the ring and the answer fit into this many lines."""
        return bool(self.ring) and len(self.ring) + len(self.answer) <= room

    def lines(self, head: Line, room: int) -> tuple[Line, ...]:
        """Return the ring, or only `head` if it does not fit, and then the answer."""
        return (*(self.ring if self.fits(room) else (head,)), *self.answer)


NO_PICTURE: Final = AlertPicture()


class Alert(NamedTuple):
    """A deadlock, or a finding that is not the consequence of another one."""

    case: str
    title: str
    ink: Ink
    severity: str
    where: str
    since: Millis | None
    sentence: str
    more: str = ""
    confidence: Confidence = "C4"
    pictures: tuple[AlertPicture, ...] = ()  # widest first; only a deadlock has pictures
    kind: FindingKind | None = None  # None: a deadlock, which is never grouped

    @property
    def is_sure(self) -> bool:
        """True if it is confirmed."""
        return self.confidence in CONFIRMED

    def picture_in(self, width: int) -> AlertPicture:
        """Return the widest picture that fits. If none fits, drop the ring of the narrowest."""
        for picture in self.pictures:
            if max(map(width_of, (*picture.ring, *picture.answer)), default=0) <= width:
                return picture
        return self.pictures[-1]._replace(ring=()) if self.pictures else NO_PICTURE


class AlertList(NamedTuple):
    """The alerts of one moment: to list, acknowledged, and the number of hidden ones."""

    new: Sequence[Alert] = ()
    acknowledged: Sequence[Alert] = ()
    hidden_notes: int = 0


def alert_list(
    all_alerts: Sequence[Alert], acknowledged: Collection[str], *, hides_notes: bool
) -> AlertList:
    """Separate the alerts to list from acknowledged alerts and hidden notes."""
    set_aside = [alert for alert in all_alerts if alert.case in acknowledged]
    others = [alert for alert in all_alerts if alert.case not in acknowledged]
    new = [alert for alert in others if not (hides_notes and alert.severity == "info")]
    return AlertList(new, set_aside, len(others) - len(new))


def alerts(report: Report, acknowledged: Collection[str] = ()) -> Iterator[Alert]:
    """Yield all alerts, worst first, including deadlocks that are not findings yet.

    The first deadlock that is not in `acknowledged` has a picture.
    """
    findings = {finding.id: finding for finding in report.findings}
    new = (deadlock.id for deadlock in report.deadlocks if deadlock.id not in acknowledged)
    with_picture = next(new, None)
    for deadlock in report.deadlocks:
        alert = _deadlock(deadlock, findings.get(deadlock.id))
        if deadlock.id == with_picture:
            pictures = (_picture(deadlock, report, is_wide=is_wide) for is_wide in (True, False))
            alert = alert._replace(pictures=tuple(pictures))
        yield alert
    ids = {deadlock.id for deadlock in report.deadlocks}
    for finding in report.findings:
        if finding.id not in ids and finding.cause is None:
            yield _finding(finding)


def _deadlock(deadlock: Deadlock, finding: Finding | None) -> Alert:
    behind = f"{deadlock.behind} more behind" if deadlock.behind and finding is None else ""
    return Alert(
        case=deadlock.id,
        title="deadlock",
        ink=ink_of_deadlock(deadlock),
        severity="critical",
        where=several(deadlock.locks),
        since=deadlock.since_ms,
        sentence=finding.sentence if finding else deadlock.sentence,
        more=behind,
        confidence=deadlock.confidence,
    )


def _picture(deadlock: Deadlock, report: Report, *, is_wide: bool) -> AlertPicture:
    """Draw a small ring, and which client to kill.

    Each line names a client, a lock that it holds or queues for, and the client that wants that
    lock. If there is room, the address of the first client is there too.
    """
    is_small = len(deadlock.steps) <= MAX_DRAWN_STEPS
    ring = _ring(deadlock, report, has_address=is_wide) if is_small else ()
    return AlertPicture(tuple(ring), tuple(_answer(deadlock, is_wide=is_wide)))


def _answer(deadlock: Deadlock, *, is_wide: bool) -> Iterator[Line]:
    for way in deadlock.ways_out[:1]:
        if is_wide:
            name = line((way.process, "strong"))
        else:
            client = f" {way.client}" if way.client and way.client != way.owner else ""
            name = line((way.owner, "strong"), (client, "address"))
        yield (
            Run(f" {kill_or_wait(way.why).capitalize()} ", "warning"),
            *name,
            Run(f": {unblocks(way.frees, deadlock.actors)}"),
        )


def _ring(deadlock: Deadlock, report: Report, *, has_address: bool) -> list[Line]:
    """Return a line for each client, in columns."""
    pairs = [
        (step, other)
        for step in deadlock.steps
        for other in deadlock.steps
        if other.blocker == step.actor
    ]
    clients = [_client(step, report, has_address=has_address) for step, _ in pairs]
    client_cells = max(map(width_of, clients), default=0)
    lock_cells = max((cell_len(other.waits.lock) for _, other in pairs), default=0)
    return [
        (
            *fitted(client, client_cells),
            Run(" ──holds─▶ " if other.edge == "hard" else " ─queued─▶ ", "dim"),
            *fitted(line((other.waits.lock, "strong")), lock_cells),
            Run(" ◀──wants── ", "critical"), Run(other.name, "strong"),
        )
        for client, (_, other) in zip(clients, pairs, strict=True)
    ]  # fmt: skip


def _client(step: DeadlockStep, report: Report, *, has_address: bool) -> Line:
    address = report.address(session_of(step.actor), step.name) if has_address else ""
    return line(" ", (step.name, "strong"), (f" {address}" if address else "", "address"))


def _finding(finding: Finding) -> Alert:
    more = (
        f"{count(finding.folded, 'more follows', 'more follow')} from it" if finding.folded else ""
    )
    return Alert(
        case=finding.id,
        title=finding.words,
        ink=ink_of(finding),
        severity=finding.severity,
        where=finding.lock or several(finding.locks),
        since=finding.since,
        sentence=finding.sentence,
        more=more,
        confidence=finding.confidence,
        kind=kind_of(finding),
    )


def alert_frame(listed: AlertList, now: Millis) -> FrameWords:
    """Return the title of the pane, and how many alerts there are of each severity."""
    counts = Counter(alert.severity for alert in listed.new)
    acknowledged, hidden = len(listed.acknowledged), listed.hidden_notes
    words = (
        (counts["critical"], f"{counts['critical']} critical"),
        (counts["warning"], count(counts["warning"], "warning")),
        (counts["info"], count(counts["info"], "note")),
        (acknowledged, f"{acknowledged} acknowledged"),
        (hidden, f"{count(hidden, 'note')} hidden"),
    )
    facts = " · ".join(text for number, text in words if number)
    if not listed.new:
        return FrameWords("Alerts", facts, KEYS if facts else "")
    first = listed.new[0]
    title = [
        f"{first.title[:1].upper()}{first.title[1:]}",
        CONFIDENCE_WORD[first.confidence],
    ]
    title += [] if first.since is None else [elapsed(now - first.since)]
    return FrameWords(" · ".join(title), facts, KEYS, is_alarm=first.ink == "critical")


class AlertLine(NamedTuple):
    """A line, and the alert or group that it opens."""

    drawn: Line
    opens: str | FindingKind | None = None


def alert_lines(
    all_alerts: Sequence[Alert],
    now: Millis,
    width: int,
    *,
    room: int = MAX_ALERTS,
    open_groups: Collection[FindingKind] = (),
) -> list[AlertLine]:
    """Draw the worst alert in several lines, each other one in one. Alerts of one kind share one.

    A deadlock whose ring does not fit into `room` lines shows its sentence instead, below the
    client to kill.
    """
    grouped = list(group_alike(all_alerts, lambda alert: alert.kind, open_groups))
    lines: list[AlertLine] = []
    for number, item in enumerate(grouped[:MAX_ALERTS], start=1):
        head = _listed(f"{number:>2}", item, now, has_sentence=number > 1)
        lines += [head] if number > 1 else _worst(item, head, width, room)
    if len(grouped) > MAX_ALERTS:
        more = len(grouped) - MAX_ALERTS
        lines.append(AlertLine(line((f"   and {more} more on screen 3", "dim"))))
    return lines


def _worst(
    item: Alert | FindingGroup[Alert], head: AlertLine, width: int, room: int
) -> Iterator[AlertLine]:
    """Yield the picture of an alert, with its sentence unless the ring is drawn."""
    alert = item.members[0] if isinstance(item, FindingGroup) else item
    picture = alert.picture_in(width)
    drawn = picture.lines(head.drawn, room)
    yield from (AlertLine(piece, head.opens) for piece in drawn)
    if not picture.fits(room):
        left = min(MAX_SENTENCE_LINES, room - len(drawn))
        yield from map(AlertLine, _sentence(alert, width, left))


def _listed(
    number: str, item: Alert | FindingGroup[Alert], now: Millis, *, has_sentence: bool
) -> AlertLine:
    if isinstance(item, FindingGroup):
        return AlertLine(_group_line(number, item, now), item.kind)
    return AlertLine(_head(number, item, now, has_sentence=has_sentence), item.case)


def acknowledged_lines(listed: AlertList, now: Millis, *, is_open: bool) -> Iterator[AlertLine]:
    """Draw the line of all acknowledged alerts. When it is open, list each of them below it."""
    acknowledged = listed.acknowledged
    if not acknowledged:
        return
    sign = "▾" if is_open else "▸"
    prefix = "" if listed.new else "No new alerts · "
    head = line(f" {sign} {prefix}", (f"{len(acknowledged)} acknowledged", "dim"))
    yield AlertLine(head, ACKNOWLEDGED)
    if not is_open:
        return
    for alert in acknowledged[:MAX_ALERTS]:
        drawn = _head("  ", alert, now, has_sentence=True)
        yield AlertLine(tuple(run._replace(ink="dim") for run in drawn), alert.case)
    if len(acknowledged) > MAX_ALERTS:
        yield AlertLine(line((f"   and {len(acknowledged) - MAX_ALERTS} more", "dim")))


def _since(at: Millis | None, now: Millis) -> Line:
    return () if at is None else line(f"for {elapsed(now - at)}")


def _group_line(number: str, group: FindingGroup[Alert], now: Millis) -> Line:
    """Draw the line of a group: the number of alerts, and some of their locks."""
    first = group.members[0]
    starts = (member.since for member in group.members if member.since is not None)
    return joined(
        [
            line((number, "strong")),
            line((f"{_title(first)} {group.tally}", first.ink)),
            _since(min(starts, default=None), now),
            line((several(member.where for member in group.members), "dim")),
        ]
    )


def _head(number: str, alert: Alert, now: Millis, *, has_sentence: bool) -> Line:
    return joined(
        [
            line((number, "strong")),
            line((_title(alert), alert.ink)),
            _since(alert.since, now),
            line((alert.more, "warning")) if alert.more else (),
            line(alert.sentence if has_sentence else (alert.where, "strong")),
        ]
    )


def _title(alert: Alert) -> str:
    doubt = {"C1": "hint: ", "C2": "likely "}.get(alert.confidence, "")
    return f"{doubt}{alert.title.upper()}"


def _sentence(alert: Alert, width: int, room: int) -> list[Line]:
    """Wrap the sentence of an alert. A long one is truncated, but screen 3 shows it in full."""
    lines = wrapped(alert.sentence, width - 4, indent="   ")
    if len(lines) <= room or room <= 0:
        return lines[: max(0, room)]
    *kept, last = lines[:room]
    return [*kept, (*last, Run(" …", "dim"))]


def no_problems(report: Report, *, is_now: bool) -> Line:
    """Return the line for no alerts, with the number of checks that had no data."""
    if not is_now:
        if report.is_lost:
            return line((" No problems were known when the connection dropped.", "unknown"))
        return line((" No problems were known at that time.", "dim"))
    if wrong := no_locks(report):
        return line((f" No problems found, but {wrong}", "unknown"))
    if report.blind:
        blind = len({spot.rule for spot in report.blind})
        return line(
            (" ✓ No problems found", "good"),
            (f" · {count(blind, 'check')} had no data: see screen 3", "unknown"),
        )
    return line((" ✓ No problems found", "good"))
