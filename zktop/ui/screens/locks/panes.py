"""The panes around the table of all locks: alerts, root blockers, events, health, description."""

from collections.abc import Callable, Sequence
from functools import partial

from textual.actions import SkipAction
from textual.widget import Widget

from zktop.model.facts import Cost
from zktop.model.findings.finding import Finding
from zktop.model.history.last_minute import SECOND_MS
from zktop.model.report import Report
from zktop.model.world.server_tables import ServerTables
from zktop.ui.messages import ShowPage
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.findings.groups import FindingKind
from zktop.ui.screens.locks.alerts import Alert, alert_counts, alert_lines, alerts, no_problems
from zktop.ui.screens.locks.blockers import blocker_head, blocker_line, blockers
from zktop.ui.screens.locks.events import event_lines
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.styled_text import Line, joined, line
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.text_view import TextView


class Pane(TextView):
    """A text view as high as its text, up to a limit; enter opens the line under the cursor."""

    DEFAULT_CSS = """
    Pane { height: 0; scrollbar-size-vertical: 0; }
    """
    keeps_cursor = False
    held = False  # the user has put the cursor on a line

    def moved(self) -> None:
        super().moved()
        self.held = True

    @property
    def is_cursor_placed(self) -> bool:
        return self.held

    @property
    def subject(self) -> Selection:
        return self.target.subject if isinstance(self.target, LineLink) else Selection()

    def action_open(self) -> None:
        if not isinstance(self.target, LineLink):
            raise SkipAction
        self.post_message(ShowPage(self.target.page, self.target.subject))

    def put(
        self,
        lines: Sequence[Line],
        targets: Sequence[LineLink | FindingKind | None],
        heads: Sequence[Line],
        height: int,
    ) -> None:
        """Show these lines, at most `height`; each opens its target."""
        set_height(self, min(height, len(lines) + len(heads)))
        self.can_focus = any(targets)
        self.show(lines, targets, heads)


class AlertsPane(Pane):
    """What is wrong, the worst first and with its sentence."""

    def __init__(self) -> None:
        super().__init__(id="alerts")
        self.found: list[Alert] = []
        self._found_in: tuple[object, object] = (None, None)
        self._opened: set[FindingKind] = set()
        self._redraw: Callable[[], None] | None = None

    def show_report(
        self, state: ViewState, report: Report, height: int, *, is_short: bool
    ) -> None:
        """Show the alerts of this report."""
        self._redraw = partial(self.show_report, state, report, height, is_short=is_short)
        deadlocks = tuple((one.id, one.confidence, one.behind) for one in report.deadlocks)
        if self._found_in[0] is not report.findings or self._found_in[1] != deadlocks:
            self.found, self._found_in = list(alerts(report)), (report.findings, deadlocks)
        if not self.found:
            is_now = state.is_newest and not state.is_stale
            self.put([no_problems(report, is_now=is_now)], [None], (), height)
            return
        width = self.app.size.width  # this pane may not have its width yet
        lines, cases = alert_lines(
            self.found, report.now, width, is_short=is_short, opened=self._opened
        )
        heads = () if is_short else (alert_counts(self.found, width),)
        self.put(lines, [_target_of(case) for case in cases], heads, height)

    def action_open(self) -> None:
        if isinstance(self.target, FindingKind):
            self._list(self.target, opens=self.target not in self._opened)
        else:
            super().action_open()

    def action_right(self) -> None:
        if isinstance(self.target, FindingKind):
            self._list(self.target, opens=True)

    def action_left(self) -> None:
        if isinstance(self.target, FindingKind):
            self._list(self.target, opens=False)

    def _list(self, kind: FindingKind, *, opens: bool) -> None:
        (self._opened.add if opens else self._opened.discard)(kind)
        if self._redraw is not None:
            self._redraw()


def _target_of(case: str | FindingKind | None) -> LineLink | FindingKind | None:
    return LineLink("findings", Selection(case=case)) if isinstance(case, str) else case


class BlockersPane(Pane):
    """The root blockers."""

    def __init__(self) -> None:
        super().__init__(id="blockers")
        self._findings: Sequence[Finding] | None = None
        self._shown_for: tuple[object, ...] = ()

    def show_report(self, state: ViewState, report: Report, height: int) -> None:
        """Show the root blockers of this report.

        Finding the lock that a named actor holds takes a walk along all locks. So while only
        the time passes, the pane is drawn once a second.
        """
        width, is_ascii, most = self.app.size.width, state.is_ascii, max(0, height - 1)
        who = [(one.actors, one.core, one.blocked) for one in report.blockers[:most]]
        shown_for = who, report.now // SECOND_MS, height, width, is_ascii
        if shown_for == self._shown_for and report.findings is self._findings:
            return
        self._shown_for, self._findings = shown_for, report.findings
        found = list(blockers(report, most))
        lines = [
            blocker_line(number, one, width, is_ascii=is_ascii)
            for number, one in enumerate(found, start=1)
        ]
        targets = [one.link for one in found]
        self.put(lines, targets, (blocker_head(width),) if lines else (), height)


class EventsPane(Pane):
    """The newest events."""

    def __init__(self) -> None:
        super().__init__(id="events")

    def show_report(self, state: ViewState, report: Report, height: int) -> None:
        """Show the newest events before this report."""
        found = event_lines(state.tape, report, max(0, height - 1), self.app.size.width)
        heads = (line((" EVENTS", "title"), ("  newest first, UTC", "dim")),) if found else ()
        targets = [one.link for one in found]
        self.put([one.drawn for one in found], targets, heads, height)


def set_height(widget: Widget, height: int) -> None:
    """Set the height of a widget; without a change, Textual need not lay out the screen."""
    known = widget.styles.height
    if known is None or known.cells != height:
        widget.styles.height = height


def health(report: Report, notes: Sequence[str] = ()) -> Line:
    """Return one line: which server tables were read, zktop's own load, and notes."""
    tables = report.ensemble.tables
    return joined(
        [
            line((" HEALTH", "title")),
            *(_tables(tables) if tables else [line(("no server asked yet", "unknown"))]),
            line(("own load ", "dim"), _load(report.cost)),
            *(line((note, "warning")) for note in notes),
        ]
    )


def _tables(tables: Sequence[ServerTables]) -> list[Line]:
    return [
        _count("watch tables", tables, lambda one: one.watches is not None),
        _count("connection tables", tables, lambda one: one.connections is not None),
        _expiry(tables),
    ]


def _count(name: str, tables: Sequence[ServerTables], has: Callable[[ServerTables], bool]) -> Line:
    read = sum(map(has, tables))
    is_all = read == len(tables)
    text = f"{read}/{len(tables)}"
    return line((f"{name} ", "dim"), (text, "good") if is_all else (f"{text} !", "unknown"))


def _expiry(tables: Sequence[ServerTables]) -> Line:
    is_read = any(one.expiry.expires_in_ms for one in tables)
    return line(("expiry table ", "dim"), ("yes", "good") if is_read else ("no !", "unknown"))


def _load(cost: Cost | None) -> str:
    if cost is None:
        return "not counted"
    rate = "?" if cost.requests_per_s is None else f"{cost.requests_per_s:g}"
    return f"{rate} req/s, {cost.watches} watch{'' if cost.watches == 1 else 'es'}"


def about(row: LockRow) -> Line:
    """Describe a lock in one line: its full path, its layout, and what is wrong."""
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
