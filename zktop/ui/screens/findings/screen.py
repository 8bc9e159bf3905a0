"""Screen 3: deadlocks and findings, worst first, and the selected one with its evidence."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from zktop.model.actors import session_of
from zktop.model.facts import Session
from zktop.model.findings.finding import SEVERITIES
from zktop.model.report import Report
from zktop.ui.messages import ShowPage
from zktop.ui.past.tape import DeadlockRecord
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.common.lock_status import ink_of
from zktop.ui.screens.common.split import SplitPage
from zktop.ui.screens.findings.deadlock_detail import (
    FITTING,
    FOLDABLE_SECTIONS,
    ShownDeadlock,
    ticket_text,
    write_deadlock,
)
from zktop.ui.screens.findings.finding_detail import write_all_blind, write_finding, write_group
from zktop.ui.screens.findings.finding_list import (
    BLOCKING,
    NO_DATA,
    FindingEntry,
    SetAside,
    entries,
    filter_count,
)
from zktop.ui.screens.findings.finding_list import FIELDS as CASE_FIELDS
from zktop.ui.screens.findings.groups import FindingKind, kind_of
from zktop.ui.screens.timeline.last_60_seconds import minute_lines
from zktop.ui.screens.timeline.last_60_seconds_panel import MinutePanel
from zktop.ui.styled_text import Line, text_of
from zktop.ui.trees.tree_lines import write_overview
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import FrameWords, ListPanel, TextPanel
from zktop.ui.widgets.table import cut_last

MAX_LIST_LINES: Final = 9  # when the list is above the explanation
LIST_CELLS: Final = {180: 52, 0: 36}  # minimum width of the screen: width of the list on the left
COPIED_LINE_CELLS: Final = 100


class OpenSections(NamedTuple):
    """The open sections. They were chosen for an entry, a width and a height: the `place`."""

    place: object = None
    names: tuple[str, ...] = ()


class CasesPanel(ListPanel):
    """The list of deadlocks and findings.

    A line that is too long drops some of its locks, never its name.
    """

    def draw(self, index: int, width: int) -> Line:
        return cut_last(super().draw(index, width), width)


class FindingsScreen(SplitPage):
    """All deadlocks and findings, and the evidence for the selected one."""

    FIELDS = CASE_FIELDS
    STATES = SEVERITIES
    SIDE = "#case-column"
    WIDE_FROM = 120  # in a narrower screen, the list is above the explanation
    HELP = (
        "Deadlocks and other findings, worst first. The selected one is explained: what to do, "
        "the diagram, the steps, the evidence.\n\n"
        "A deadlock begins with the client to kill. `y` copies the command that finds its "
        "process, `Y` copies everything as text.\n\n"
        "In the diagram each client points to the one that it waits for; a dotted arrow points to "
        "one that is only queued. The red arrow closed the cycle. The diagram shows the moment "
        "when zktop found or proved it; the line with the dot shows the state now.\n\n"
        "Enter opens a line with `▸`, and `f` opens all of them: groups of similar findings, the "
        "proof, the clients behind a deadlock. Sections that fit are open. In the proof `+` "
        "supports the verdict, `-` contradicts it, `?` is assumed.\n\n"
        "Potential deadlocks: clients acquire locks in different orders, but have not collided "
        "yet. In the pane with the explanation, enter opens the lock or session of the line."
    )
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "open": "open the line",
        "next_alert": "next alert",
        "copy": "copy the command",
        "copy_text": "copy all of it as text",
        "tree": "who waits for whom",
        "fold": "unfold or fold all",
        "acknowledge": "acknowledge the alert",
        "next_pane": "go to the next pane",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("", "#4", "number of the deadlock, or a dot for other findings", "critical"),
        ExampleCell("", "1m12s", "how long it has lasted", "dim"),
        ExampleCell("", "5 stuck", "clients in the cycle and behind it", "strong"),
        ExampleCell("", "orders, stock", "locks"),
    )
    DEFAULT_CSS = """
    FindingsScreen > Horizontal { height: 1fr; layout: vertical; }
    FindingsScreen > Horizontal.-beside { layout: horizontal; }
    FindingsScreen #cases { height: auto; }
    FindingsScreen Vertical { height: 1fr; width: 1fr; }
    FindingsScreen #case { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._subject: Selection | None = None
        self._case: str | None = None
        self._is_held = False  # the user has chosen, so do not jump to a worse one
        self._arranged = ("", "")
        self._open_groups: set[FindingKind] = set()
        self._chosen_sections: set[str] | None = None  # None: as many are open as fit
        self._open_sections = OpenSections()
        self._kinds: dict[str, FindingKind] = {}  # only for entries that stand for a group
        self._list, self._explanation = CasesPanel(id="cases"), TextPanel(id="case")
        self._minute = MinutePanel(id="case-minute")

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._list
            with Vertical(id="case-column"):
                yield self._explanation
                yield self._minute

    # What it shows

    def draw(self, state: ViewState) -> None:
        if state.subject != self._subject:
            self._subject = state.subject
            if state.subject.case is not None:
                self._case, self._is_held = state.subject.case, True
                self._open_around(state)
        report = state.report
        if report is None:
            self._list.display = False
            self._explanation.frame(FrameWords("Deadlocks and findings"))
            self._explanation.show(empty_state(state, self.size.width))
            return
        aside = SetAside(state.acknowledged.covered(report), state.hides_notes)
        self.passed = (
            filter_count(report, state.tape, state.filter, aside) if state.filter else None
        )
        self._show_list(state, report, aside)
        self._show_case()

    def _open_around(self, state: ViewState) -> None:
        """Open the group that the selected finding is in."""
        finding = state.report.finding(self._case) if state.report else None
        if finding is not None:
            self._open_groups.add(kind_of(finding))

    def _show_list(self, state: ViewState, report: Report, aside: SetAside) -> None:
        is_beside = self.columns > 1
        cases = self._list
        listed = entries(
            report, state.tape, state.filter, self._open_groups, aside=aside, chosen=self._case
        )
        self._kinds = {entry.case: entry.kind for entry in listed if entry.case and entry.kind}
        self._choose(listed)
        self._arrange(len(listed), is_beside=is_beside)
        cases.target = self._case
        facts = f"{len(aside.acknowledged)} acknowledged" if aside.acknowledged else ""
        cases.frame(
            FrameWords(
                "Deadlocks and findings", facts, "{acknowledge} acknowledge  {show_notes} notes"
            )
        )
        cases.show([entry.drawn for entry in listed], [entry.case for entry in listed])

    def _choose(self, listed: list[FindingEntry]) -> None:
        """Keep the case while it exists, an entry of the overview only if the user chose it."""
        names = [entry.case for entry in listed if entry.case is not None]
        may_stay = self._is_held or self._case not in (BLOCKING, NO_DATA)
        if self._case not in names or not may_stay:
            self._is_held = False
            self._case = NO_DATA if names == [BLOCKING, NO_DATA] else names[0]

    def _arrange(self, number: int, *, is_beside: bool) -> None:
        cases = self._list
        self.query_one(Horizontal).set_class(is_beside, "-beside")
        cases.display = True
        wanted = (
            ("1fr", str(self.main_cells))
            if is_beside
            else (str(min(number, MAX_LIST_LINES) + cases.gutter.height), "1fr")
        )
        if wanted != self._arranged:
            self._arranged = wanted
            cases.styles.height, cases.styles.width = wanted

    @property
    def usual_side_cells(self) -> int:
        width = self.size.width
        return width - next(cells for least, cells in LIST_CELLS.items() if width >= least)

    @property
    def _explanation_lines(self) -> int:
        """The height of the explanation, even before Textual has laid out a changed list."""
        height = self._arranged[0]
        above = int(height) if height.isdigit() else 0
        return max(0, self.size.height - above - self._explanation.gutter.height)

    def _show_case(self) -> None:
        state, report, pane = self.view_state, self.report, self._explanation
        if state is None or report is None:
            return
        pane.frame(self._frame_words(state, report))
        writer = self._written(state, report)
        pane.show(writer.lines, writer.links)
        self._show_minute(state, report, self._explanation_lines - len(writer.lines))

    def _show_minute(self, state: ViewState, report: Report, left: int) -> None:
        """Show the last minute of the clients in `left` lines, below a short explanation."""
        if self._case == NO_DATA:
            self._minute.hide()
            return
        draw = partial(minute_lines, state, report, self._sessions(state, report))
        chosen = self._case, state.chosen_moment
        self._minute.show_minute(draw, chosen, self.side_cells - 4, left)

    def _sessions(self, state: ViewState, report: Report) -> Sequence[Session]:
        case = self._record(state, report)
        if case is not None:
            return [
                session for session in map(session_of, case.deadlock.actors) if session is not None
            ]
        finding = report.finding(self._case)
        return finding.sessions if finding is not None else ()

    def _written(self, state: ViewState, report: Report) -> LineWriter:
        """Describe the chosen entry, with as many sections open as fit.

        What fits is decided once for each entry and size, so new evidence never closes a section.
        """
        width, room = self.side_cells - 4, self._explanation_lines
        place = self._case, width, room
        for open_sections in self._sections_to_try(place):
            writer = LineWriter(width, open_sections)
            self._write(writer, state, report)
            if len(writer.lines) <= room:
                break
        self._open_sections = OpenSections(place, open_sections)
        return writer

    def _sections_to_try(self, place: object) -> Sequence[tuple[str, ...]]:
        """Return the sets of open sections to try, largest first.

        There is only one if the sections have already been chosen.
        """
        if self._chosen_sections is not None:
            return (tuple(self._chosen_sections),)
        return (self._open_sections.names,) if self._open_sections.place == place else FITTING

    def _frame_words(self, state: ViewState, report: Report) -> FrameWords:
        shown = self._deadlock(state, report)
        if shown is not None:
            return shown.frame
        finding = report.finding(self._case)
        is_alarm = finding is not None and ink_of(finding) == "critical"
        return FrameWords("Explanation", "", "{copy} copy  {open} open", is_alarm=is_alarm)

    def _write(
        self, writer: LineWriter, state: ViewState, report: Report, *, is_copy: bool = False
    ) -> None:
        """Describe the chosen entry. The copy of a deadlock has more in it than the screen."""
        shown = self._deadlock(state, report)
        connection = state.exports.connection if state.exports is not None else ()
        if shown is not None and is_copy:
            ticket_text(writer, shown, connection)
        elif shown is not None:
            write_deadlock(writer, shown)
        elif self._case == BLOCKING:
            write_overview(writer, report, is_ascii=state.is_ascii)
        elif self._case == NO_DATA:
            if not (report.deadlocks or report.findings or report.is_lost or report.no_locks):
                writer.say("✓ No problems found in the data that zktop can read.", "good", " ")
            writer.title("CHECKS WITHOUT DATA")
            write_all_blind(writer, report)
        elif self._kind is not None:
            write_group(writer, self._kind, report)
        else:
            self._write_finding(writer, report, connection)

    def _write_finding(
        self, writer: LineWriter, report: Report, connection: Sequence[str]
    ) -> None:
        finding = report.finding(self._case)
        if finding is not None:
            write_finding(writer, finding, report, connection)
        else:
            writer.say("It is over.", "good")

    def _deadlock(self, state: ViewState, report: Report) -> ShownDeadlock | None:
        """Return the chosen deadlock; None if something else is chosen."""
        case = self._record(state, report) if self._kind is None else None
        if case is None:
            return None
        records = state.tape.deadlocks.values()
        alike = [
            record for record in records if record.deadlock.signature == case.deadlock.signature
        ]
        return ShownDeadlock(case, report, len(alike), state.key_of("copy"))

    def _record(self, state: ViewState, report: Report) -> DeadlockRecord | None:
        case = state.tape.deadlocks.get(self._case or "")
        if case is not None and case.recorded_at <= report.now:
            return case
        deadlock = report.deadlock(self._case)
        return DeadlockRecord(deadlock, report.now, deadlock, report) if deadlock else None

    # The selection

    @property
    def chosen_subject(self) -> Selection:
        return self.subject if self._is_held else Selection()

    @property
    def selected_alerts(self) -> tuple[str, ...]:
        """The chosen finding, or all of the chosen group that are not acknowledged."""
        if self._kind is None:
            return () if self._case is None else (self._case,)
        state, report = self.view_state, self.report
        if state is None or report is None:
            return ()
        acknowledged = state.acknowledged.covered(report)
        alike = (
            finding
            for finding in report.findings
            if kind_of(finding) == self._kind and not finding.cause
        )
        return tuple(finding.id for finding in alike if finding.id not in acknowledged)

    @property
    def subject(self) -> Selection:
        """The chosen finding, and the target of the line under the cursor."""
        link = self._explanation.target if self._explanation.has_focus else None
        subject = link.subject if isinstance(link, LineLink) else Selection()
        is_case = self._case not in (None, BLOCKING, NO_DATA) and self._kind is None
        return subject._replace(case=self._case if is_case else None)

    def on_text_list_moved(self) -> None:
        target = self._list.target
        if isinstance(target, str) and target != self._case:
            self._case, self._is_held = target, True
            self._explanation.target = None
            self._explanation.scroll_to(y=0, animate=False, immediate=True)
            self._show_case()

    @property
    def _kind(self) -> FindingKind | None:
        """The kind of the chosen group; None for a single finding."""
        return self._kinds.get(self._case or "")

    def _open_or_close_group(self, kind: FindingKind, *, opens: bool) -> None:
        self._open_groups = self._open_groups | {kind} if opens else self._open_groups - {kind}
        self.redraw()

    def action_right(self) -> None:
        self._open_or_close(opens=True)

    def action_left(self) -> None:
        self._open_or_close(opens=False)

    def _open_or_close(self, *, opens: bool) -> None:
        """Open or close the group, or the section, under the cursor."""
        head = self._explanation.target
        if self._kind is not None and self._list.has_focus:
            self._open_or_close_group(self._kind, opens=opens)
        elif isinstance(head, FoldLink) and self._explanation.has_focus:
            self._open_or_close_sections({head.section}, opens=opens)

    def _open_or_close_sections(self, sections: Collection[str], *, opens: bool) -> None:
        were_open = set(self._open_sections.names)
        self._chosen_sections = were_open | {*sections} if opens else were_open - {*sections}
        self._show_case()

    def action_fold(self) -> None:
        """Open or close the group in the list, or else all sections of the explanation."""
        if self._kind is not None and self._list.has_focus:
            self._open_or_close_group(self._kind, opens=self._kind not in self._open_groups)
        else:
            self._open_or_close_sections(
                FOLDABLE_SECTIONS,
                opens=not set(FOLDABLE_SECTIONS).issubset(self._open_sections.names),
            )

    def action_open(self) -> None:
        """Follow the link of the line. In the list, focus the explanation or open the group."""
        link = self._explanation.target if self._explanation.has_focus else None
        if self._list.has_focus and self._kind is not None:
            self._open_or_close_group(self._kind, opens=self._kind not in self._open_groups)
        elif self._list.has_focus:
            self._explanation.focus()
        elif isinstance(link, LineLink):
            self.post_message(ShowPage(link.page, link.subject))
        elif isinstance(link, FoldLink):
            self._open_or_close_sections(
                {link.section}, opens=link.section not in self._open_sections.names
            )

    def copied(self) -> str:
        """Return the command that finds the process to stop.

        If the address of that process is not known, return the whole text.
        """
        state, report = self.view_state, self.report
        shown = self._deadlock(state, report) if state is not None and report else None
        return (shown.command if shown else None) or self.copied_text()

    def copied_text(self) -> str:
        state, report = self.view_state, self.report
        if state is None or report is None:
            return ""
        writer = LineWriter(COPIED_LINE_CELLS)
        self._write(writer, state, report, is_copy=True)
        return "\n".join(text_of(line).rstrip() for line in writer.lines)
