"""The panes around the table of all locks: what is wrong, who blocks, what happened.

How much of the ensemble can be seen, and what looking costs it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from textual.widget import Widget

from zktop.model.facts import Cost
from zktop.model.findings.finding import Finding
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.world.server_tables import ServerTables
from zktop.ui.messages import ShowPage
from zktop.ui.screens.findings.groups import FindingKind
from zktop.ui.screens.locks.alerts import Alert, alert_counts, alert_lines, alerts, no_problems
from zktop.ui.screens.locks.blockers import blocker_head, blocker_line, blockers
from zktop.ui.screens.locks.events import event_lines
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.state import Selection, ViewState
from zktop.ui.styled_text import Line, joined, line
from zktop.ui.widgets.text_view import TextView


class LineTarget(NamedTuple):
    """Where a line leads."""

    page: str
    subject: Selection


class Pane(TextView):
    """A sheet that is as high as what it has to say, up to its room; enter opens a line of it."""

    DEFAULT_CSS = """
    Pane { height: 0; scrollbar-size-vertical: 0; }
    """
    keeps_cursor = False
    held = False  # the user has put the cursor on a line

    def moved(self) -> None:
        """Take note that the user did it."""
        super().moved()
        self.held = True

    @property
    def is_cursor_placed(self) -> bool:
        """Tell whether a click on the line under the cursor is the second one."""
        return self.held

    @property
    def subject(self) -> Selection:
        """What the line under the cursor is about."""
        return self.target.subject if isinstance(self.target, LineTarget) else Selection()

    def do_open(self) -> bool:
        """Open what the line under the cursor is about."""
        if not isinstance(self.target, LineTarget):
            return False
        self.post_message(ShowPage(self.target.page, self.target.subject))
        return True

    def put(
        self,
        lines: Sequence[Line],
        ways: Sequence[LineTarget | FindingKind | None],
        heads: Sequence[Line],
        room: int,
    ) -> None:
        """Show these lines in at most so much room."""
        set_height(self, min(room, len(lines) + len(heads)))
        self.can_focus = any(ways)
        self.show(lines, ways, heads)


class AlertsPane(Pane):
    """What is wrong, the worst first, with its sentence."""

    def __init__(self) -> None:
        super().__init__(id="alerts")
        self.found: list[Alert] = []
        self._of: tuple[object, object] = (None, None)
        self._opened: set[FindingKind] = set()
        self._tell: Callable[[], None] | None = None  # the same once more

    def tell(self, moment: ViewState, report: Report, room: int, *, is_short: bool) -> None:
        """Say what is wrong in this report."""
        self._tell = partial(self.tell, moment, report, room, is_short=is_short)
        known = tuple((one.id, one.confidence, one.behind) for one in report.deadlocks)
        if self._of[0] is not report.findings or self._of[1] != known:
            self.found, self._of = list(alerts(report)), (report.findings, known)
        if not self.found:
            is_now = moment.is_newest and not moment.is_stale
            self.put([no_problems(report, is_now=is_now)], [None], (), room)
            return
        width = self.app.size.width  # ours may not be laid out yet
        lines, cases = alert_lines(
            self.found, report.now, width, is_short=is_short, opened=self._opened
        )
        heads = () if is_short else (alert_counts(self.found, width),)
        self.put(lines, [_way(case) for case in cases], heads, room)

    def do_open(self) -> bool:
        """Open what the line is about; of many of one kind, list them, or fold them again."""
        if not isinstance(self.target, FindingKind):
            return super().do_open()
        self._turn(self.target, opens=self.target not in self._opened)
        return True

    def do_right(self) -> bool:
        """List those of one kind."""
        return isinstance(self.target, FindingKind) and self._turn(self.target, opens=True)

    def do_left(self) -> bool:
        """Fold them again."""
        return isinstance(self.target, FindingKind) and self._turn(self.target, opens=False)

    def _turn(self, kind: FindingKind, *, opens: bool) -> bool:
        (self._opened.add if opens else self._opened.discard)(kind)
        if self._tell is not None:
            self._tell()
        return True


def _way(case: str | FindingKind | None) -> LineTarget | FindingKind | None:
    return LineTarget("findings", Selection(case=case)) if isinstance(case, str) else case


class BlockersPane(Pane):
    """Who stands at the root of all waiting."""

    def __init__(self) -> None:
        super().__init__(id="blockers")
        self._findings: Sequence[Finding] | None = None  # None: nothing was told yet
        self._of: tuple[object, ...] = ()

    def tell(
        self,
        moment: ViewState,
        report: Report,
        locks: Callable[[], Iterable[Lock]],
        room: int,
        age: int,
    ) -> None:
        """Say who blocks in this report; `locks` gives those that may be held, the worst first.

        Within a step of time, what only grows older is not told again.
        """
        width, is_ascii, most = self.app.size.width, moment.is_ascii, max(0, room - 1)
        who = [(one.actors, one.core, one.blocked) for one in report.blockers[:most]]
        of = who, age, room, width, is_ascii
        if of == self._of and report.findings is self._findings:
            return
        self._of, self._findings = of, report.findings
        told = list(blockers(report, locks(), most))
        lines = [
            blocker_line(number, one, width, is_ascii=is_ascii)
            for number, one in enumerate(told, start=1)
        ]
        ways = [LineTarget(one.page, one.subject) for one in told]
        heads = (blocker_head(width),) if lines else ()
        self.put(lines, ways, heads, room)


class EventsPane(Pane):
    """What happened lately."""

    def __init__(self) -> None:
        super().__init__(id="events")

    def tell(self, moment: ViewState, report: Report, room: int) -> None:
        """Say what had happened by the moment of this report."""
        told = event_lines(moment.tape, report, max(0, room - 1), self.app.size.width)
        heads = (line((" EVENTS", "title"), ("  newest first, UTC", "dim")),) if told else ()
        ways = [LineTarget(one.page, one.subject) for one in told]
        self.put([one.drawn for one in told], ways, heads, room)


def set_height(widget: Widget, height: int) -> None:
    """Make it so high; a layout costs too much to have one for nothing."""
    known = widget.styles.height
    if known is None or known.cells != height:
        widget.styles.height = height


def health(report: Report, notes: Sequence[str] = ()) -> Line:
    """Say it in one line: tables that were read, our own load, what is followed less closely."""
    tables = report.ensemble.tables
    return joined(
        [
            line((" HEALTH", "title")),
            *(_tables(tables) if tables else [line(("no server was asked", "unknown"))]),
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
    there = sum(map(has, tables))
    is_all = there == len(tables)
    told = f"{there}/{len(tables)}"
    return line((f"{name} ", "dim"), (told, "good") if is_all else (f"{told} !", "unknown"))


def _expiry(tables: Sequence[ServerTables]) -> Line:
    is_there = any(one.expiry.expires_in_ms for one in tables)
    return line(("expiry table ", "dim"), ("yes", "good") if is_there else ("no !", "unknown"))


def _load(cost: Cost | None) -> str:
    if cost is None:
        return "not counted"
    rate = "?" if cost.requests_per_s is None else f"{cost.requests_per_s:g}"
    return f"{rate} req/s, {cost.watches} watch{'' if cost.watches == 1 else 'es'}"


def about(row: LockRow) -> Line:
    """Say what does not fit into the row: the whole path, the layout, and what is wrong."""
    lock, mark = row.lock, row.mark
    if row.gone_at is not None:
        said = "is gone: all its nodes, or its root, were deleted"
    else:
        said = mark.sentence or lock.error or ""
    return joined(
        [
            line((f" {row.path}", "strong")),
            line((lock.layout, "dim")),
            line((said, mark.ink if mark.sentence else "unknown")) if said else (),
        ]
    )
