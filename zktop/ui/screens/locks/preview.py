"""The lock under the cursor next to the table: its queue with arrows, and what happened to it."""

from typing import Final

from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.screens.common.arrows import LANE
from zktop.ui.screens.common.event_lines import About, event_lines
from zktop.ui.screens.common.numbers_and_times import age, with_spaces
from zktop.ui.screens.lock.compatibility_matrix import may_enter, modes_of
from zktop.ui.screens.lock.histograms import histograms
from zktop.ui.screens.lock.if_it_releases import release_sentence
from zktop.ui.screens.lock.lock_detail import LockDetail, child_watchers
from zktop.ui.screens.lock.rows import QueueRow, folded_rows
from zktop.ui.screens.lock.table import MAX_LANES, STATES, arrow_rows, client_line
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, line, width_of, wrapped
from zktop.ui.view_state import ViewState
from zktop.ui.widgets.table import shortened

MAX_MEMBERS: Final = 1_000  # a longer queue is only counted
NAME_CELLS: Final = 16
STATE_CELLS: Final = 14
BELOW_LINES: Final = 7  # who may enter, and what a release does
MAX_EVENTS: Final = 10
PAST_HEAD_LINES: Final = 2


def preview_lines(
    state: ViewState, report: Report, path: Text, width: int, height: int
) -> list[Line]:
    """Draw the queue of a lock in at most this many lines."""
    watchers = child_watchers(state, path)
    detail = LockDetail.of(report, path, is_ascii=state.is_ascii, child_watchers=watchers)
    if detail is None:
        return []
    lock = detail.view.lock
    if lock.error is not None:
        return wrapped(lock.error, width - 1, "unknown", " ")
    if lock.size > MAX_MEMBERS:
        return [line(f" {with_spaces(lock.size)} clients; enter opens the queue")]
    if not len(detail.queue):
        return [line((" The lock is free.", "good"))]
    rows = folded_rows(detail)
    room = max(3, height - BELOW_LINES)
    shown = rows if len(rows) <= room else rows[: room - 1]
    arrows = arrow_rows(shown, _lanes(width))
    lines = [_row(row, arrows.get(row.name, ""), width) for row in shown]
    if len(shown) < len(rows):
        left = sum(row.size for row in rows[len(shown) :])
        lines.append(line((f"   and {with_spaces(left)} more", "dim")))
    lines += [NOTHING, *_who_may_enter(detail, width)]
    return [*lines, *_past(state, detail, width, height - len(lines))]


def _row(row: QueueRow, arrow: str, width: int) -> Line:
    detail, is_holder = row.detail, row.place < row.detail.queue.holder_count
    mark = Run("● " if is_holder else "│ ", "holds" if is_holder else "waits")
    letters = {MODE_LETTERS[member.mode] for member in row.members} or {"-"}
    letter = Run(f"{letters.pop() if len(letters) == 1 else '*'} ", "strong")
    if row.is_group:
        drawn = line((f"{with_spaces(row.size)} clients", "strong"))
        return fitted((Run(" "), mark, letter, *drawn), width)
    client = row.contender
    word, ink = STATES[client.state]
    since = age(client.since, client.since_is, detail.report.now, is_ascii=detail.is_ascii)
    name, cells = client_line(client), _name_cells(width)
    if width_of(name) > cells:  # all are cut alike, so their ends tell them apart
        name = shortened(name[:1], cells)
    state = fitted(line((f"{word.lower()} ", ink), since), STATE_CELLS)
    drawn = (*fitted(name, cells), Run(" "), *state, Run(arrow, "key"))
    return fitted((Run(" "), mark, letter, *drawn), width)


def _lanes(width: int) -> int:
    """Return how many columns of arrows fit on the right."""
    return max(1, min(MAX_LANES, (width - _name_cells(width) - STATE_CELLS - 6) // LANE))


def _name_cells(width: int) -> int:
    return min(NAME_CELLS, max(6, width - STATE_CELLS - 12))


def _who_may_enter(detail: LockDetail, width: int) -> list[Line]:
    matrix = may_enter(detail.queue) if len(modes_of(detail.queue)) > 1 else []
    tiles = [*matrix, NOTHING] if matrix and max(map(width_of, matrix)) <= width else []
    return [*tiles, *release_sentence(detail, None, width)]


def _past(state: ViewState, detail: LockDetail, width: int, room: int) -> list[Line]:
    """Return the newest events of this lock, and the histograms of its holds and waits."""
    about, moment = About(detail.path), state.chosen_moment
    newest = event_lines(state.tape, detail.report, MAX_EVENTS, width, about, shown_at=moment)
    events = [event.drawn for event in newest[: max(0, room - PAST_HEAD_LINES)]]
    lines = [NOTHING, line((" HISTORY", "title")), *events] if events else []
    graphs = [(Run(" "), *graph) for graph in histograms(detail, width - 1)]
    return [*lines, NOTHING, *graphs] if len(lines) + 1 + len(graphs) <= room else lines
