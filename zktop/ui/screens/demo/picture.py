"""The picture of a scene: its queues, with an arrow from each waiter to the znode that it watches.

The queues come from the report, so they show what ZooKeeper knows. The arrows come from the
contenders, which report each watch at once; no server lists watches on the children of a lock.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.demo_types.contender_state import ContenderState, Watched
from zktop.demo_types.lesson import DemoDeparture, SceneCount
from zktop.model.facts import Millis, Session, last_name, split
from zktop.model.format import millis, short
from zktop.model.lock_view import Contender, LockView
from zktop.model.report import Report
from zktop.ui.inks import Ink
from zktop.ui.screens.common.arrows import margin
from zktop.ui.screens.demo.counters import deadlocks_below, locks_below
from zktop.ui.screens.findings.ring_drawing import is_ring, ring_order
from zktop.ui.screens.lock.lock_detail import ShownQueue
from zktop.ui.styled_text import (
    NOTHING,
    Line,
    Run,
    fitted,
    line,
    side_by_side,
    stacked_lines,
    width_of,
    wrapped,
)

MAX_ROWS_OF_LOCK: Final = 12
MAX_LANES: Final = 4
MARK_CELLS: Final = 3
MIN_NAME_CELLS: Final = 8
MIN_STATE_CELLS: Final = 8
BETWEEN_CELLS: Final = 2
MIN_COLUMN_CELLS: Final = 36  # if there is less, two locks are not side by side
GAP_CELLS: Final = 3
LASTING_MS: Final = 1_000  # a shorter state may be part of a change
HOLDS: Final = {
    "exclusive": "holds",
    "read": "reads",
    "write": "writes",
    "lease": "has a lease",
    "candidate": "leads",
}
WAITS: Final = {
    "exclusive": "waits",
    "read": "waits to read",
    "write": "waits to write",
    "lease": "waits for a lease",
    "candidate": "stands by",
}


class Picture(NamedTuple):
    """Lines, and the name of the contender that each is about. Other lines have None."""

    lines: list[Line]
    targets: list[str | None]


class _Row(NamedTuple):
    """One client in a queue, with the state that its demo contender reports."""

    contender: Contender
    reported: ContenderState | None
    is_unaware: bool  # it is its turn, but it still waits
    is_lone: bool  # its session has only this znode in the lock

    @property
    def is_waiting(self) -> bool:
        return self.contender.state != "holds"

    @property
    def name(self) -> str:
        return self.reported.name if self.reported else self.contender.name

    @property
    def state(self) -> str:
        if self.is_unaware and self.is_lone:
            return "its turn"
        return (WAITS if self.is_waiting else HOLDS)[self.contender.mode]


def draw_scene(
    report: Report | None,
    folder: str,
    states: Sequence[ContenderState],
    count: SceneCount,
    width: int,
) -> Picture:
    """Draw all locks below a folder, in two columns if they fit."""
    if report is None:
        return Picture([], [])
    reported = {state.session: state for state in states if state.session is not None}
    locks, ring = locks_below(report, folder), _ring(report, folder, width)
    column = (width - GAP_CELLS) // 2
    is_paired = len(locks) > 1 and column >= MIN_COLUMN_CELLS
    cells = column if is_paired else width
    blocks = [
        _draw_lock(report, view, reported, _latest_departure(count, view), cells) for view in locks
    ]
    if is_paired:
        pairs = zip_longest(blocks[::2], blocks[1::2], fillvalue=Picture([], []))
        drawn = [side_by_side(left.lines, right.lines, column) for left, right in pairs]
        return Picture([*stacked_lines(drawn), *ring], [])  # no line is about one contender
    targets = [target for block in blocks for target in (None, *block.targets)]
    lines = stacked_lines(block.lines for block in blocks)
    return Picture([*lines, *ring], [*targets[1:], *(None for _ in ring)])


def _latest_departure(count: SceneCount, view: LockView) -> DemoDeparture | None:
    """Return the last departure from a lock, unless a client has joined since."""
    from_lock = (departure for departure in count.departures if departure.lock == view.lock.path)
    return next((departure for departure in from_lock if departure.is_latest), None)


def _draw_lock(
    report: Report,
    view: LockView,
    reported: Mapping[Session, ContenderState],
    departure: DemoDeparture | None,
    width: int,
) -> Picture:
    queue = ShownQueue.of(view)
    rows = _rows(report, view, queue, reported)
    arrows = margin([[], *(_watched(view, queue, row) for row in rows)], MAX_LANES)
    arrow_cells = max((len(arrow) for arrow in arrows), default=0)
    head = line(" ", (last_name(view.lock.path), "title"))
    if any(_watches_children(view, row) for row in rows):
        head = (*head, Run("  its children", "dim"))
    cells = _cells(rows, width_of(head))
    lines = [(*fitted(head, MARK_CELLS + sum(cells)), Run(arrows[0], "key"))]
    names: list[str | None] = [None]
    for row, arrow in zip(rows, arrows[1:], strict=True):
        note = _note(report, view, row, departure)
        lines.append(
            fitted((*_client(row, *cells), Run(arrow.ljust(arrow_cells), "key"), *note), width)
        )
        names.append(row.reported.name if row.reported else None)
    if len(queue) > MAX_ROWS_OF_LOCK:
        lines.append(line((f"   and {len(queue) - MAX_ROWS_OF_LOCK} more", "dim")))
        names.append(None)
    for state in _believers(report, queue, view, reported.values()):
        lines.append(_believer(state, cells[0]))
        names.append(state.name)
    return Picture(lines, names)


def _rows(
    report: Report,
    view: LockView,
    queue: ShownQueue,
    reported: Mapping[Session, ContenderState],
) -> list[_Row]:
    nodes = Counter(member.owner for member in queue.members)
    rows = []
    for place in range(min(len(queue), MAX_ROWS_OF_LOCK)):
        client = queue.contender(view, place)
        session = client.session or 0
        state = reported.get(session)
        is_unaware = state is not None and _is_unaware(report, view, client, state)
        rows.append(_Row(client, state, is_unaware, is_lone=nodes[session] == 1))
    return rows


def _is_unaware(
    report: Report, view: LockView, client: Contender, reported: ContenderState
) -> bool:
    """True if it is the client's turn, but it still waits."""
    return (
        client.state == "holds"
        and reported.state == "waits"
        and view.lock.path not in reported.holds
        and _is_lasting(reported, report.now)
    )


def _cells(rows: Sequence[_Row], head_cells: int) -> tuple[int, int]:
    """Return the widths of the columns for names and states. Arrows begin to their right."""
    names = max((cell_len(row.name) for row in rows), default=0)
    states = max((cell_len(row.state) for row in rows), default=0)
    name_cells = max(MIN_NAME_CELLS, names + BETWEEN_CELLS)
    head_rest = head_cells + 1 - MARK_CELLS - name_cells
    return name_cells, max(MIN_STATE_CELLS, states + BETWEEN_CELLS, head_rest)


def _client(row: _Row, name_cells: int, state_cells: int) -> Line:
    ink: Ink = "waits" if row.is_waiting else "holds"
    mark = Run(" │ " if row.is_waiting else " ● ", ink)
    if row.contender.state == "standby":
        ink = "standby"
    name = fitted(line((row.name, "strong")), name_cells)
    return (mark, *name, *fitted(line((row.state, ink)), state_cells))


# Watches


def _watched(view: LockView, queue: ShownQueue, row: _Row) -> list[int]:
    """Return the lines that a waiter watches: 0 is the lock, then come the clients."""
    if not row.is_waiting:
        return []
    if _watches_children(view, row):
        return [0]
    paths: Sequence[str]
    if row.reported is None:
        paths = row.contender.actual or ()
    else:
        paths = [row.reported.watches.path] if row.reported.watches else []
    members = [view.watch_check.member_at(path) for path in paths]
    places = queue.places_of(member.node for member in members if member is not None)
    return [place + 1 for place in places if place < MAX_ROWS_OF_LOCK]


def _watches_children(view: LockView, row: _Row) -> bool:
    watched = row.reported.watches if row.reported and row.is_waiting else None
    return watched == Watched(view.lock.path, "children")


# Notes


def _note(report: Report, view: LockView, row: _Row, departure: DemoDeparture | None) -> Line:
    """Return a few words about a client: trouble, wake-ups, polling."""
    reported = row.reported
    if reported is None:
        no_owner = line((" no session owns its znode", "critical"))
        return no_owner if row.contender.is_ownerless else ()
    trouble = _trouble(report, view, row, reported)
    if trouble:
        return line((f" {trouble}", "critical"))
    if departure is not None and reported.name in departure.woken:
        return _wake_up(departure, reported.name)
    if reported.claim.recipe == "poll" and row.is_waiting and reported.watches is None:
        return line((f" asks every {reported.claim.poll_s:g} s", "dim"))
    return ()


def _wake_up(departure: DemoDeparture, name: str) -> Line:
    if name in departure.went_on:
        return line((" woken, goes on", "good"))
    if departure.how == "left":  # not for nothing: it must watch another node now
        return line((" woken, not its turn yet", "dim"))
    return line((" woken for nothing", "warning"))


def _trouble(report: Report, view: LockView, row: _Row, reported: ContenderState) -> str:
    """Return what is wrong with a client; empty if nothing is."""
    path = view.lock.path
    if reported.is_gone or reported.frozen or reported.connection_loss:
        word = "killed" if reported.is_gone else reported.state
        return f"{word}{_time_left(report, row.contender)}"
    if row.is_waiting:
        if path in reported.holds and row.is_lone and _is_lasting(reported, report.now):
            return "believes that it holds"
        watched = reported.watches
        folder, node = split(watched.path) if watched else ("", "")
        is_gone = watched is not None and watched.part == "absent" and folder == path
        return f"watches {short(node)}, which is gone" if is_gone else ""
    if row.is_unaware:
        return "but does not know it" if row.is_lone else "an older znode: it waits for itself"
    return ""


def _time_left(report: Report, client: Contender) -> str:
    """Return when the session of a silent client ends."""
    if client.is_ownerless:
        return "; no session owns its znode"
    window = report.ensemble.expires_in(client.session, report.now) if client.session else None
    return "" if window is None else f"; its session ends in {-(-window.high // 1000)} s"


def _is_lasting(reported: ContenderState, now: Millis) -> bool:
    """True if nothing was reported for a while."""
    return reported.last is not None and now - millis(reported.last.at) > LASTING_MS


def _believers(
    report: Report, queue: ShownQueue, view: LockView, states: Iterable[ContenderState]
) -> list[ContenderState]:
    """Return the contenders that believe they hold the lock but have no znode in it."""
    owners = {member.owner for member in queue.members}
    return [
        state
        for state in states
        if view.lock.path in state.holds
        and state.session not in owners
        and _is_lasting(state, report.now)
    ]


def _believer(reported: ContenderState, name_cells: int) -> Line:
    name = fitted(line((reported.name, "strong")), name_cells)
    says = Run("believes that it holds, but its znode is gone", "critical")
    return (Run(" ✗ ", "critical"), *name, says)


def _ring(report: Report, folder: str, width: int) -> list[Line]:
    """Draw each deadlock with a single cycle as a chain of names that ends where it begins."""
    lines: list[Line] = []
    for deadlock in deadlocks_below(report, folder):
        ring = ring_order(deadlock.steps)
        if is_ring(ring):
            chain = " ─▶ ".join(step.name for step in (*ring, ring[0]))
            lines += [NOTHING, *wrapped(chain, width - 1, "critical", " ")]
    return lines
