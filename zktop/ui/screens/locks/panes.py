"""The panes around the table of all locks: alerts, root blockers, events, pulse, description."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from textual import events

from zktop.model.facts import SECOND_MS
from zktop.model.findings.finding import Finding
from zktop.model.format import count, middle
from zktop.model.report import Report
from zktop.model.waits.root_blockers import MAX_LISTED
from zktop.ui.screens.common.event_lines import event_lines
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.findings.groups import FindingKind
from zktop.ui.screens.locks.alerts import (
    ACKNOWLEDGED,
    AlertLine,
    AlertList,
    acknowledged_lines,
    alert_frame,
    alert_lines,
    alert_list,
    alerts,
    no_problems,
)
from zktop.ui.screens.locks.blockers import blocker_head, blocker_line, blockers
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.preview import preview_lines
from zktop.ui.screens.locks.pulse_graphs import GRAPHS, SHOWN_S, pulse_lines
from zktop.ui.screens.timeline.last_60_seconds import minute_lines
from zktop.ui.styled_text import Line, joined, line
from zktop.ui.trees.tree_lines import MAX_TREE_LOCKS, WaitTreeLines
from zktop.ui.trees.wait_tree import overview
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import MIN_FACTS_CELLS, FrameWords, LinkPanel, set_height

NO_EVENTS: Final = line((" No lock has changed hands yet.", "dim"))
NO_LOCK: Final = line((" No lock is selected.", "dim"))


class Pane(LinkPanel):
    """A panel as high as its text, up to a limit. Enter opens the line under the cursor."""

    DEFAULT_CSS = """
    Pane { height: 0; scrollbar-size-vertical: 0; display: none; }
    """
    held = False  # the user has put the cursor on a line
    wanted_height = 0  # in lines, frame included; Textual applies it at its next layout

    def moved(self) -> None:
        super().moved()
        self.held = True

    @property
    def is_cursor_placed(self) -> bool:
        return self.held

    @property
    def subject(self) -> Selection:
        return self.target.subject if isinstance(self.target, LineLink) else Selection()

    def put(
        self,
        lines: Sequence[Line],
        targets: Sequence[LineLink | FindingKind | None],
        heads: Sequence[Line],
        height: int,
        *,
        fills: bool = False,
    ) -> None:
        """Show these lines in at most `height` lines, frame included. Each opens its target."""
        needed = len(lines) + len(heads) + self.gutter.height if lines else 0
        wanted = height if fills else min(height, needed)
        self.display = wanted > self.gutter.height
        self.wanted_height = wanted if self.display else 0
        set_height(self, wanted)
        self.can_focus = any(targets)
        self.show(lines, targets, heads)


class AlertsPane(Pane):
    """The alerts, worst first. The worst one has its sentence."""

    def __init__(self) -> None:
        super().__init__(id="alerts")
        self._listed = AlertList()
        self._open_groups: set[FindingKind] = set()
        self._redraw: Callable[[], None] | None = None

    def show_report(self, state: ViewState, report: Report, height: int, width: int) -> None:
        self._redraw = partial(self.show_report, state, report, height, width)
        acknowledged = state.acknowledged.covered(report)
        all_alerts = [*alerts(report, acknowledged)]
        listed = alert_list(all_alerts, acknowledged, hides_notes=state.hides_notes)
        self._listed = listed
        shown = alert_lines(
            listed.new,
            report.now,
            width,
            room=height - self.gutter.height,
            open_groups=self._open_groups,
        )
        if not shown and not listed.acknowledged:
            is_now = state.is_newest and not state.is_stale
            shown = [AlertLine(no_problems(report, is_now=is_now))]
        is_open = ACKNOWLEDGED in self._open_groups
        shown += acknowledged_lines(listed, report.now, is_open=is_open)
        self.frame(alert_frame(listed, report.now))
        targets = [_target_of(alert_line.opens) for alert_line in shown]
        self.put([alert_line.drawn for alert_line in shown], targets, (), height)

    @property
    def selected(self) -> tuple[str, ...]:
        """The ids of the alerts under the cursor. Without the focus, that is the first line."""
        first = next(filter(None, self._targets), None)
        target = self.target if self.has_focus else first
        if target == ACKNOWLEDGED:
            return tuple(alert.case for alert in self._listed.acknowledged if self.has_focus)
        if isinstance(target, FindingKind):
            return tuple(alert.case for alert in self._listed.new if alert.kind == target)
        case = target.subject.case if isinstance(target, LineLink) else None
        return (case,) if case is not None else ()

    def action_open(self) -> None:
        if isinstance(self.target, FindingKind):
            self._set_open(self.target, opens=self.target not in self._open_groups)
        else:
            super().action_open()

    def action_right(self) -> None:
        if isinstance(self.target, FindingKind):
            self._set_open(self.target, opens=True)

    def action_left(self) -> None:
        if isinstance(self.target, FindingKind):
            self._set_open(self.target, opens=False)

    def _set_open(self, kind: FindingKind, *, opens: bool) -> None:
        self._open_groups = self._open_groups | {kind} if opens else self._open_groups - {kind}
        if self._redraw is not None:
            self._redraw()


def _target_of(case: str | FindingKind | None) -> LineLink | FindingKind | None:
    return LineLink("findings", Selection(case=case)) if isinstance(case, str) else case


class BlockersPane(Pane):
    """The root blockers."""

    _findings: Sequence[Finding] | None = None
    _shown_for: tuple[object, ...] = ()

    def show_report(self, state: ViewState, report: Report, height: int, width: int) -> None:
        """Show the root blockers of this report.

        Finding the lock that a named actor holds means searching all locks, so while only the time
        changes, the pane is drawn once a second.
        """
        is_ascii, most = state.is_ascii, max(0, height - 1 - self.gutter.height)
        shown = [
            (blocker.actors, blocker.core, blocker.blocked) for blocker in report.blockers[:most]
        ]
        shown_for = shown, report.now // SECOND_MS, height, width, is_ascii
        if shown_for == self._shown_for and report.findings is self._findings:
            return
        self._shown_for, self._findings = shown_for, report.findings
        shown_blockers = list(blockers(report, most))
        lines = [
            blocker_line(number, blocker, width, is_ascii=is_ascii)
            for number, blocker in enumerate(shown_blockers, start=1)
        ]
        targets = [blocker.link for blocker in shown_blockers]
        bound = "at least " if len(report.blockers) >= MAX_LISTED else ""
        facts = f"{bound}{count(len(report.blockers), 'root blocker')}"
        self.frame(FrameWords("Who is blocking", facts))
        self.put(lines, targets, (blocker_head(width),) if lines else (), height)


class WaitsPane(Pane):
    """Who waits for whom, in an ensemble with few locks."""

    def show_report(self, state: ViewState, report: Report, height: int, width: int) -> None:
        """Show the trees of the root blockers, at most `height` lines."""
        writer = LineWriter(width)
        if height and report.blockers and len(report.paths) <= MAX_TREE_LOCKS:
            trees = WaitTreeLines(report, is_ascii=state.is_ascii)
            trees.write(writer, overview(report))
        self.frame(FrameWords("Who waits for whom", "", "{tree} tree"))
        links = [link if isinstance(link, LineLink) else None for link in writer.links]
        self.put(writer.lines, links, (), height)


class EventsPane(Pane):
    """The newest events."""

    def show_report(
        self, state: ViewState, report: Report, height: int, width: int, *, fills: bool
    ) -> None:
        at_most, moment = max(0, height - self.gutter.height), state.chosen_moment
        newest = event_lines(state.tape, report, at_most, width, shown_at=moment)
        self.frame(FrameWords("Events", "newest first, UTC"))
        targets = [event.link for event in newest]
        lines = [event.drawn for event in newest] or ([NO_EVENTS] if fills else [])
        self.put(lines, targets or [None] * len(lines), (), height, fills=fills)


class PulsePane(Pane, can_focus=False):
    """Graphs of the last minute."""

    def show_state(self, state: ViewState, height: int, width: int) -> None:
        """Show the minute before the moment of this state."""
        seconds = state.pulse.until(state.at or 0, SHOWN_S)
        is_live = state.feed.is_live
        graph_height = max(1, (height - self.gutter.height) // GRAPHS)
        lines = pulse_lines(seconds, width, graph_height, has_load=is_live)
        self.frame(FrameWords("Pulse", f"{SHOWN_S} s"))
        self.put(lines, (), (), height)


class MinutePane(Pane):
    """What the most important clients did in the last minute, and how many waited."""

    def show_state(self, state: ViewState, report: Report, height: int, width: int) -> None:
        room = height - self.gutter.height
        lines = minute_lines(state, report, (), width, room) if height else []
        self.frame(FrameWords(f"Last {SHOWN_S} s", f"{self.key_of('page_5')} timeline"))
        links = [minute_line.link for minute_line in lines]
        self.put([minute_line.drawn for minute_line in lines], links, (), height)


class PreviewPane(Pane, can_focus=False):
    """The lock under the cursor."""

    _draw_again: Callable[[], None] | None = None

    def show_lock(self, state: ViewState, report: Report, row: LockRow | None) -> None:
        """Show the queue of a lock, as much as fits."""
        self._draw_again = partial(self.show_lock, state, report, row)
        self.display = True
        width, height = self.room
        if row is None:
            self.frame(FrameWords("Lock"))
            self.show([NO_LOCK])
            return
        if not height:
            return
        lines = preview_lines(state, report, row.path, width, height)
        facts = min(len(row.lock.layout), MIN_FACTS_CELLS)  # the path matters more than the layout
        title = middle(row.path, max(8, width - facts - 10))
        self.frame(FrameWords(title, row.lock.layout, "{open} open"))
        self.show(lines)

    def on_resize(self, _event: events.Resize) -> None:
        """Draw for the new size."""
        if self._draw_again is not None:
            self._draw_again()


def lock_summary(row: LockRow) -> Line:
    """Describe a lock in one line: its full path, its layout, and its worst problem."""
    lock, status = row.lock, row.status
    if row.gone_at is not None:
        text = "deleted: the lock's nodes, or its root, are gone"
    else:
        text = status.sentence or lock.error or ""
    return joined(
        [
            line((f" {row.path}", "strong")),
            line((lock.layout, "dim")),
            line((text, status.ink if status.sentence else "unknown")) if text else (),
        ]
    )
