"""Root blockers: clients that others wait for, and that do not wait themselves.

A deadlock is a root blocker too. Each one has a line with the reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, session_of
from zktop.model.facts import Session
from zktop.model.findings.finding import Finding
from zktop.model.format import several, short
from zktop.model.locks.open_folder import part_held_by
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.root_blockers import RootBlocker
from zktop.ui.inks import Ink
from zktop.ui.past.states import name_in
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.common.lock_status import ink_of, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import TOTAL_WAIT_CELLS, at_least_sign, total_wait
from zktop.ui.styled_text import Line, cut_middle, fitted, joined, line, right_aligned
from zktop.ui.trees.wait_tree import deadlock_of, held_by, node_of
from zktop.ui.view_state import Selection

MAX_NAMES: Final = 4  # clients that wait for each other and are named
PAIR: Final = 2
MIN_NAME_CELLS: Final = 8  # for one name among several
WHO_CELLS: Final = 36
WIDE_WHO_CELLS: Final = 46
NARROW, MEDIUM, WIDE = 38, 76, 100  # widths of the line in cells


class Blocker(NamedTuple):
    """One root blocker as text, and the screen that explains it."""

    root: RootBlocker
    names: Sequence[str]  # some of its clients
    why: str
    ink: Ink
    link: LineLink

    @property
    def number(self) -> int:
        """The number of its clients."""
        return max(len(self.names), len(self.root.actors))

    @property
    def client(self) -> str:
        return several(self.names, self.number)

    def client_in(self, width: int) -> str:
        """Name its clients in this many cells. Names that do not fit are shortened or counted."""
        if cell_len(self.client) <= width:
            return self.client
        if self.number == len(self.names) == PAIR:
            room = (width - len(" and ")) // PAIR
            if room >= MIN_NAME_CELLS:
                return " and ".join(cut_middle(name, room) for name in self.names)
        more = f" and {self.number - 1} more" if self.number > 1 else ""
        if width - len(more) < MIN_NAME_CELLS:
            more = f" +{self.number - 1}" if more else ""
        return cut_middle(self.names[0], max(1, width - len(more))) + more


def blockers(report: Report, at_most: int) -> Iterator[Blocker]:
    """Return the root blockers with the longest total wait behind them."""
    return (_blocker(root, report) for root in report.blockers[:at_most])


def _blocker(root: RootBlocker, report: Report) -> Blocker:
    deadlock = deadlock_of(root, report)
    if deadlock is not None:
        why = "deadlock" if deadlock.is_sure else "likely deadlock"
        link = LineLink("findings", Selection(case=deadlock.id))
        names = [*dict.fromkeys(step.name for step in deadlock.steps)]
        return Blocker(root, names, why, ink_of_deadlock(deadlock), link)
    actor = root.actors[0]
    session = session_of(actor)
    if root.core is not None:
        names = [*dict.fromkeys(_name(actor, report) for actor in root.actors[:MAX_NAMES])]
        subject = Selection(session=session)
        link = LineLink("sessions" if session is not None else "locks", subject)
        return Blocker(root, names, "wait for each other", "warning", link)
    if session is not None:
        return _of_session(root, session, report)
    return _of_node(root, actor, report)


def _name(actor: str, report: Report) -> str:
    session = session_of(actor)
    if session is None:
        return actor.removeprefix(BY_NAME)
    return name_in(report, session) or report.client_names(session, None)


def _of_session(root: RootBlocker, session: Session, report: Report) -> Blocker:
    name = _name(root.actors[0], report)
    about = (finding for finding in report.findings if session in finding.sessions)
    why, ink = _why(about) or _holding(_held(report, session))
    return Blocker(root, [name], why, ink, LineLink("sessions", Selection(session=session)))


def _held(report: Report, session: Session) -> Text | None:
    """Find a lock that a session holds, preferably one that others wait for."""
    without_waiters: Text | None = None
    for path in sorted({*report.locks_of.get(session, ())}):
        lock = report.records[path].lock
        if any(holder.owner == session for holder in lock.holders):
            if part_held_by(lock, session).waiters and not lock.has_standbys:
                return path
            without_waiters = without_waiters or path
    return without_waiters


def _of_node(root: RootBlocker, actor: str, report: Report) -> Blocker:
    """Describe an actor that is not a session: a node, or the label in one."""
    client = Text(_name(actor, report))
    held = next(held_by(actor, report), None)
    if held is None:
        return Blocker(root, [client], "holds", "plain", LineLink("locks", Selection()))
    path, node = held
    if node_of(actor, report) is not None:
        client = Text(f"{short(node)} in {path}")
    about = (finding for finding in report.findings if node in finding.nodes_in(path))
    kind = actor.partition(":")[0] + ":"
    why, ink = _why(about) or _NODE_REASONS.get(kind) or _holding(path)
    return Blocker(root, [client], why, ink, LineLink("lock", Selection(path=path, node=node)))


_NODE_REASONS: Final[dict[str, tuple[str, Ink]]] = {
    UNOWNED: ("persistent node: stays when its client dies", "warning"),
    STRANDED: ("left behind by a failed client: deleted only when its session ends", "warning"),
    UNKNOWN: ("owner unknown", "unknown"),
}


def _holding(path: Text | None) -> tuple[str, Ink]:
    return (f"holds {path}" if path else "is ahead of others in a queue"), "plain"


def _why(findings: Iterable[Finding]) -> tuple[str, Ink] | None:
    """Return the worst finding that is not a note. Findings come worst first."""
    finding = next((finding for finding in findings if finding.severity != "info"), None)
    if finding is None:
        return None
    return f"{finding.words}: {finding.sentence}", ink_of(finding)


def blocker_head(width: int) -> Line:
    """Draw the names of the columns."""
    cells = [fitted(line((" CLIENT", "title")), _client_cells(width) + 4)]
    if width >= NARROW:
        cells.append(line(("BLOCKED", "title")))
    cells.append(line(("TOTAL WAIT", "title")))
    if width >= MEDIUM:
        cells.append(line(("WHY", "title")))
    return joined(cells)


def blocker_line(number: int, blocker: Blocker, width: int, *, is_ascii: bool = False) -> Line:
    bound = at_least_sign(is_ascii=is_ascii) if blocker.root.undated else ""
    name = blocker.client_in(_client_cells(width) - 1)
    client = line((name, "strong" if width >= MEDIUM else blocker.ink))
    cells = [
        line((f" {number:>2}", "strong")),
        fitted(client, _client_cells(width) - 1),
    ]
    if width >= NARROW:
        cells.append(right_aligned(line(str(blocker.root.blocked)), 7))
    total = line(total_wait(blocker.root.blocked_ms, bound))
    cells.append(right_aligned(total, TOTAL_WAIT_CELLS))
    if width >= MEDIUM:
        cells.append(line((blocker.why, blocker.ink)))
    return joined(cells)


def _client_cells(width: int) -> int:
    if width < NARROW:
        return max(8, width - 7 - TOTAL_WAIT_CELLS)
    if width < MEDIUM:
        return width - 16 - TOTAL_WAIT_CELLS
    return WHO_CELLS if width < WIDE else WIDE_WHO_CELLS
