"""The steps that led to a deadlock, in the order of their transactions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.actors import session_of
from zktop.model.facts import Millis, last_name
from zktop.model.format import middle, short
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.ui.inks import Ink
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.numbers_and_times import time_ms, time_s
from zktop.ui.screens.findings.ring_drawing import CLOSES, lock_words
from zktop.ui.styled_text import Line, Run, fitted, line, right_aligned, width_of
from zktop.ui.view_state import Selection

MAX_STEPS: Final = 24
EXACT_FROM_CELLS: Final = 84  # narrower tables have neither milliseconds nor zxids
WIDE_FROM_CELLS: Final = 116  # narrower tables have no node names
MAX_STEP_CELLS: Final = 30
MAX_NAME_CELLS: Final = 20
SOON_MS: Final = 50  # a grant this soon after its request counts as immediate
VERBS: Final = {"got": "acquired", "asked": "requested"}
SHORT_VERBS: Final = {"got": "got", "asked": "wants"}  # used where there is little room
WATCHING: Final = {
    "missing": "watches nothing of this lock",
    "elsewhere": "watches something else",
    "invisible": "watch not listed",
    "unknown": "watch unknown",
    "confirmed": "watch OK",
    "none-needed": "",
}


class StepRow(NamedTuple):
    """One actor acquired a lock, or requested one."""

    czxid: int
    at: Millis | None
    step: DeadlockStep
    place: DeadlockPlace
    verb: str
    proof: str

    @property
    def is_closing(self) -> bool:
        """Whether this request completed the deadlock."""
        return self.step.closing and self.verb == "asked"


class StepColumns(NamedTuple):
    """Widths of the table, and of its columns of names and of steps."""

    width: int
    name: int
    step: int


def step_rows(deadlock: Deadlock, report: Report) -> list[StepRow]:
    """Return all steps that led to the deadlock, oldest first."""
    views = {path: report.view(path) for path in deadlock.locks}
    by_request = {(row.place, row.step.actor, row.verb): row for row in _rows(deadlock, views)}
    return sorted(by_request.values(), key=lambda row: (row.czxid, row.verb == "asked"))


def _rows(deadlock: Deadlock, views: dict[str, LockView | None]) -> Iterator[StepRow]:
    for step in deadlock.steps:
        for place in step.holds:
            view = views.get(place.lock)
            if view is not None and (member := view.lock.member(place.node)) is not None:
                yield StepRow(member.czxid, member.ctime, step, place, "got", _grant(view, member))
        proof = _watch(views.get(step.waits.lock), step.waits.node)
        yield StepRow(step.czxid, step.since_ms, step, step.waits, "asked", proof)


def _grant(view: LockView, member: Member) -> str:
    """Return how the holder got the lock."""
    granted, queued = view.history.granted(member), view.history.queued(member)
    if granted.bound != "seen" or granted.at is None or queued.at is None:
        return "acquired unseen"
    if granted.at - queued.at <= SOON_MS:
        return "acquired immediately"
    return "acquired when the clients ahead had left"


def _watch(view: LockView | None, node: str) -> str:
    member = view.lock.member(node) if view else None
    return "" if view is None or member is None else WATCHING[view.watch_check.of(member).verdict]


# Beside the ring


def brief_steps(
    rows: Sequence[StepRow],
    lock_names: Mapping[str, str],
    room: int,
    ink: Ink,
    verbs: Mapping[str, str] = VERBS,
) -> list[Line] | None:
    """Return a line for each step (when, who, what); None if a line is wider than the room.

    If necessary, milliseconds are dropped, then the note on the last step shrinks to its arrow.
    """
    for note in (f" ← {CLOSES}", " ←"):
        for when in (time_ms, time_s):
            lines: list[Line] = []
            for row in rows:
                drawn = _brief(row, lock_names, when, verbs[row.verb])
                lines.append((*drawn, Run(note, ink)) if row.is_closing else drawn)
            if max(map(width_of, lines), default=0) <= room:
                return lines
    return None


def _brief(
    row: StepRow, lock_names: Mapping[str, str], when: Callable[[Millis], str], verb: str
) -> Line:
    held: Ink = "holds" if row.verb == "got" else "waits"
    return line(
        (f"{'?' if row.at is None else when(row.at)} ", "dim"),
        (middle(row.step.name, MAX_NAME_CELLS), "strong"),
        f" {verb} ",
        (middle(lock_words(row.place, lock_names), MAX_STEP_CELLS), held),
    )


# The whole table


def write_steps(
    writer: LineWriter, rows: Sequence[StepRow], lock_names: Mapping[str, str], ink: Ink
) -> None:
    """Write the steps with zxids, nodes and watches. Each line links to its lock."""
    writer.title("STEPS", "in zxid order")
    texts = [f"{VERBS[row.verb]} {lock_words(row.place, lock_names)}" for row in rows]
    layout = StepColumns(
        writer.width,
        min(MAX_NAME_CELLS, max((cell_len(row.step.name) for row in rows), default=3)),
        min(MAX_STEP_CELLS, max(map(cell_len, texts), default=4)),
    )
    writer.write(_table_line(("#", "WHEN", "ZXID", "WHO", "STEP", "NODE", "PROOF"), layout))
    when = time_ms if writer.width >= EXACT_FROM_CELLS else time_s
    shown = zip(rows[:MAX_STEPS], texts[:MAX_STEPS], strict=True)
    for number, (row, text) in enumerate(shown, start=1):
        cells = (
            str(number),
            "?" if row.at is None else when(row.at),
            f"{row.czxid:x}",
            middle(row.step.name, layout.name),
            middle(text, layout.step),
            short(row.place.node),
            _proof(row),
        )
        writer.write(_table_line(cells, layout, ink if row.is_closing else None), step_link(row))
    if len(rows) > MAX_STEPS:
        writer.say(f"… and {len(rows) - MAX_STEPS} more steps", "dim")


def _proof(row: StepRow) -> str:
    """Return the proof of the step, and whether the request is only behind another one."""
    is_soft = row.verb == "asked" and row.step.edge != "hard"
    parts = ("behind a queued request" if is_soft else "", row.proof)
    return ", ".join(filter(None, parts))


def _table_line(cells: tuple[str, ...], layout: StepColumns, closing: Ink | None = None) -> Line:
    """Return one line of the table. A narrow table has fewer columns."""
    number, when, zxid, client, step, node, proof = cells
    width = layout.width
    ink: Ink = "title" if number == "#" else closing or "plain"
    cells_of_line = [
        right_aligned(line((number, ink)), 3),
        fitted(line((when, ink)), 12 if width >= EXACT_FROM_CELLS else 8),
        fitted(line((zxid, "dim")), 9) if width >= EXACT_FROM_CELLS else (),
        fitted(line((client, "strong")), layout.name),
        fitted(line((step, ink)), layout.step),
        fitted(line((node, "dim")), 24) if width >= WIDE_FROM_CELLS else (),
        line((f"{CLOSES}, " if proof else CLOSES, closing)) if closing else (),
        line((proof, "dim")),
    ]
    runs: list[Run] = []
    for cell in cells_of_line:
        if cell:
            runs += [*cell, Run("" if cell[-1].text.endswith(", ") else " ")]
    return tuple(runs)


def brief_paths(paths: Sequence[str]) -> dict[str, str]:
    """Shorten each path to its last part if that is unique.

    >>> brief_paths(["/a/orders", "/a/stock"]), brief_paths(["/a/x", "/b/x"])
    ({'/a/orders': 'orders', '/a/stock': 'stock'}, {'/a/x': '/a/x', '/b/x': '/b/x'})
    """
    last_parts = {path: last_name(path) for path in paths}
    counts = Counter(last_parts[path] for path in paths)
    return {
        path: last if last and counts[last] == 1 else path for path, last in last_parts.items()
    }


def step_link(row: StepRow) -> LineLink:
    place = row.place
    subject = Selection(path=place.lock, node=place.node, session=session_of(row.step.actor))
    return LineLink("lock", subject, f"{row.verb} {place.lock}/{place.node}")
