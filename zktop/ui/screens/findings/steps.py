"""The steps that led to a deadlock, in the order of their transactions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Millis
from zktop.model.format import short
from zktop.model.locks.lock import Member
from zktop.model.report import LockView, Report
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.ui.screens.common.format import MODE_LETTERS, time_ms, time_s
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.findings.ring import letters
from zktop.ui.styled_text import Ink, Line, Run, fitted, line, right
from zktop.ui.view_state import Selection

MAX_STEPS: Final = 24
EXACT_FROM_CELLS: Final = 84  # cells; narrower tables have neither milliseconds nor zxids
WIDE_FROM_CELLS: Final = 116  # cells; narrower tables have no node names
MAX_STEP_CELLS: Final = 30  # the widest column of steps
SOON_MS: Final = 50  # a grant this soon after its request was immediate
WATCHING: Final = {
    "missing": "watches nothing of this lock",
    "elsewhere": "watches something else",
    "invisible": "watch not listed",
    "unknown": "watch unknown",
    "confirmed": "watch OK",
    "none-needed": "",
}


class StepRow(NamedTuple):
    """One actor got a lock, or asked for one."""

    czxid: int
    at: Millis | None
    step: DeadlockStep
    place: DeadlockPlace
    verb: str
    proof: str


class StepColumns(NamedTuple):
    """Widths of the table, and of its column of steps."""

    width: int
    step: int


def step_rows(deadlock: Deadlock, report: Report) -> list[StepRow]:
    """All steps that led to the deadlock, oldest first."""
    views = {path: report.view(path) for path in deadlock.locks}
    found = {(move.place, move.step.actor, move.verb): move for move in _moves(deadlock, views)}
    return sorted(found.values(), key=lambda move: (move.czxid, move.verb == "asked"))


def _moves(deadlock: Deadlock, views: dict[str, LockView | None]) -> Iterator[StepRow]:
    for step in deadlock.steps:
        for place in step.holds:
            view = views.get(place.lock)
            if view is not None and (member := view.lock.member(place.node)) is not None:
                yield StepRow(member.czxid, member.ctime, step, place, "got", _grant(view, member))
        proof = _watch(views.get(step.waits.lock), step.waits.node)
        yield StepRow(step.czxid, step.since_ms, step, step.waits, "asked", proof)


def _grant(view: LockView, member: Member) -> str:
    """How the holder got the lock."""
    granted, queued = view.history.granted(member.node), view.history.queued(member)
    if granted.how != "seen" or granted.at is None or queued.at is None:
        return "held before zktop started"
    if granted.at - queued.at <= SOON_MS:
        return "acquired immediately"
    return "acquired after those ahead had left"


def _watch(view: LockView | None, node: str) -> str:
    member = view.lock.member(node) if view else None
    return "" if view is None or member is None else WATCHING[view.watch_check.of(member).verdict]


def write_steps(writer: LineWriter, deadlock: Deadlock, report: Report, ink: Ink) -> None:
    """Write the steps as a table; each line links to its lock."""
    names, found = letters(deadlock), step_rows(deadlock, report)
    called = brief_paths(deadlock.locks)
    writer.title("STEPS", "in zxid order")
    step_width = max(len(f"asked X:{name}") for name in called.values())
    layout = StepColumns(writer.width, min(MAX_STEP_CELLS, step_width))
    writer.write(_row(("#", "WHEN", "ZXID", "WHO", "STEP", "NODE", "EDGE", "PROOF"), layout))
    when = time_ms if writer.width >= EXACT_FROM_CELLS else time_s
    for number, move in enumerate(found[:MAX_STEPS], start=1):
        cells = (
            str(number),
            "?" if move.at is None else when(move.at),
            f"{move.czxid:x}",
            names[move.step.actor],
            f"{move.verb:<5} {MODE_LETTERS[move.place.mode]}:{called[move.place.lock]}",
            short(move.place.node),
            move.step.edge if move.verb == "asked" else "-",
            move.proof,
        )
        closing = move.step.closing and move.verb == "asked"
        writer.write(_row(cells, layout, ink if closing else None), _link(move))
    if len(found) > MAX_STEPS:
        writer.say(f"… and {len(found) - MAX_STEPS} more steps", "dim")


def _row(cells: tuple[str, ...], layout: StepColumns, closing: Ink | None = None) -> Line:
    """One line of the table; a narrow table has fewer columns."""
    number, when, zxid, who, step, node, edge, proof = cells
    width = layout.width
    ink: Ink = "title" if number == "#" else closing or "plain"
    kept = [
        right(line((number, ink)), 3),
        fitted(line((when, ink)), 12 if width >= EXACT_FROM_CELLS else 8),
        fitted(line((zxid, "dim")), 9) if width >= EXACT_FROM_CELLS else (),
        fitted(line((who, "strong")), 3),
        fitted(line((step, ink)), layout.step),
        fitted(line((node, "dim")), 24) if width >= WIDE_FROM_CELLS else (),
        fitted(line((edge, ink)), 4),
        line(("CLOSES THE CYCLE", closing)) if closing else (),
        line((proof, "dim")),
    ]
    made: list[Run] = []
    for piece in kept:
        if piece:
            made += [*piece, Run(" ")]
    return tuple(made)


def brief_paths(paths: Sequence[str]) -> dict[str, str]:
    """Last part of each path where that is unique, else the whole path.

    >>> brief_paths(["/a/orders", "/a/stock"]), brief_paths(["/a/x", "/b/x"])
    ({'/a/orders': 'orders', '/a/stock': 'stock'}, {'/a/x': '/a/x', '/b/x': '/b/x'})
    """
    ends = Counter(path.rpartition("/")[2] for path in paths)
    return {
        path: end if end and ends[end] == 1 else path
        for path in paths
        for end in [path.rpartition("/")[2]]
    }


def _link(move: StepRow) -> LineLink:
    place = move.place
    subject = Selection(path=place.lock, node=place.node, session=session_of(move.step.actor))
    return LineLink("lock", subject, f"{move.verb} {place.lock}/{place.node}")
