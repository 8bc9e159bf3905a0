"""One deadlock: which client to kill, the ring and its steps, and the foldable sections."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Final

from rich.cells import cell_len

from zktop.model.actors import session_of
from zktop.model.format import clock, count, unblocks
from zktop.model.freeing.commands_to_copy import find_command, free_command
from zktop.model.freeing.ways import NEVER
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.confidence import CONFIDENCE_WORD
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.ways_out import WayOut, kill_or_wait
from zktop.ui.past.tape import DeadlockRecord
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of_deadlock, pill
from zktop.ui.screens.common.numbers_and_times import frequent_names
from zktop.ui.screens.findings.deadlock_steps import (
    SHORT_VERBS,
    VERBS,
    StepRow,
    brief_paths,
    brief_steps,
    step_link,
    step_rows,
    write_steps,
)
from zktop.ui.screens.findings.finding_detail import write_blind, write_reasons
from zktop.ui.screens.findings.finding_list import deadlock_age
from zktop.ui.screens.findings.ring_drawing import (
    RingClient,
    can_be_drawn,
    draw_ring,
    list_ring,
    ring_clients,
)
from zktop.ui.styled_text import Line, Run, fitted, line, width_of, wrapped
from zktop.ui.view_state import Selection
from zktop.ui.widgets.panel import FrameWords

FOLDABLE_SECTIONS: Final = ("proof", "behind", "sentence")
# Open sections to try, until all lines fit; the proof is the longest.
FITTING: Final[tuple[tuple[str, ...], ...]] = (FOLDABLE_SECTIONS, FOLDABLE_SECTIONS[1:], ())
GAP_CELLS: Final = 3  # between the ring and its steps
MAX_OTHER_WAYS: Final = 2
MAX_NAMES_COUNTED: Final = 500  # among the waiters of one lock
MAX_NAMES: Final = 4
KINDS: Final = {
    "cycle": "Each client waits for a lock the next one holds.",
    "fairness": "The cycle exists only because another request is queued in between.",
    "knot": "No lease of the pool can be returned.",
    "upgrade": "A reader wants to write and waits for itself.",
    "upgraders": "Several readers all want to write.",
    "watches": "Each client waits for a watch on another client's node.",
    "election": "The leader waits for a client that waits to lead.",
}


class ShownDeadlock:
    """A deadlock as it was recorded, and the verdict of the displayed report on it."""

    def __init__(
        self, case: DeadlockRecord, displayed: Report, times: int = 1, copy_key: str = "y"
    ) -> None:
        self.case, self.displayed, self.times, self.copy_key = case, displayed, times, copy_key
        self.first = case.deadlock
        self.now = displayed.deadlock(self.first.id)  # None: it is over
        self.judged = self.now or case.verdict
        last = None if self.now else case.last
        # The last report that contained it proves the most.
        self.report = displayed if last is None else last
        self.ink = ink_of_deadlock(self.judged)

    @property
    def ways(self) -> tuple[WayOut, ...]:
        """Which clients to stop, the cheapest first. Once it is over, there are none."""
        return self.now.ways_out if self.now else ()

    @property
    def command(self) -> str | None:
        """The command line that finds the process to stop."""
        return find_command(self.ways[0].client) if self.ways else None

    @property
    def frame(self) -> FrameWords:
        """The title of the pane: the deadlock's number, confidence and size."""
        confidence = CONFIDENCE_WORD[self.judged.confidence]
        state = confidence if self.now else "over"
        copies = (
            "{copy} copy command  {copy_text} copy text" if self.command else "{copy} copy text"
        )
        return FrameWords(
            f"Deadlock {deadlock_name(self.first)} · {state}",
            _size(self.first),
            f"{copies}  {{fold}} fold  {{open}} open",
            is_alarm=self.now is not None and self.ink == "critical",
        )


def _size(dead: Deadlock) -> str:
    queued = sum(not step.holds for step in dead.steps)
    size = [count(len(dead.actors) - queued, "client"), count(len(dead.locks), "lock")]
    size += [f"{queued} queued"] if queued else []
    size += [f"formed {clock(dead.since_ms)}"] if dead.since_ms is not None else []
    return " · ".join(size)


def write_deadlock(writer: LineWriter, shown: ShownDeadlock) -> None:
    """Write what to do, then the picture of when it was recorded, then the foldable sections."""
    again = f"   seen {shown.times} times" if shown.times > 1 else ""
    age = deadlock_age(shown.case, shown.now, shown.displayed)
    writer.write((*age, *line((again, "dim"))))
    if shown.now:
        _write_ways(writer, shown)
    else:
        _write_end(writer, shown)
    writer.write()
    when = clock(shown.case.recorded_at)
    writer.say(f"{KINDS[shown.first.kind]} Diagram of {when}.", "dim", " ")
    rows = step_rows(shown.first, shown.report)
    lock_names = brief_paths(shown.first.locks)
    _write_picture(writer, shown, rows, lock_names)
    writer.write()
    _write_proof(writer, shown, rows, lock_names)
    _write_behind(writer, shown.judged, shown.report)
    if writer.fold("sentence", "Full sentence"):
        writer.say(shown.judged.sentence, "strong")


def ticket_text(writer: LineWriter, shown: ShownDeadlock, connection: Sequence[str] = ()) -> None:
    """Write everything for a ticket: the sentence first, and all sections open."""
    dead = shown.first
    writer.write(line((f"DEADLOCK {deadlock_name(dead)}", shown.ink), f"  {_size(dead)}"))
    writer.say(shown.judged.sentence, "strong", "")
    if shown.now:
        command = free_command(shown.first.locks[0], connection)
        writer.write(line(f"All ways out, with commands: {command}"))
    writer.write()
    write_deadlock(writer, shown)


# What to do


def _write_ways(writer: LineWriter, shown: ShownDeadlock) -> None:
    others = shown.ways[1 : 1 + MAX_OTHER_WAYS]
    name_cells = min(20, max((cell_len(way.owner) for way in others), default=0))
    if shown.ways:
        _write_first(writer, shown.ways[0], shown)
    for way in others:
        link = _session_link(way)
        name = fitted(line((way.owner, "strong")), name_cells)
        drawn = line(
            ("   or ", "dim"), *name, (_address(way), "address"),
            f"  {unblocks(way.frees, shown.judged.actors)}", (f"  {way.why}", "dim"),
        )  # fmt: skip
        writer.write(drawn, link)
    finding = shown.report.finding(shown.first.id)
    advice = finding.advice.partition(" Cheapest: ")[0] if finding else ""  # the rest is above
    if advice:
        writer.item((" → ", "good"), advice, "dim")
    else:
        writer.item((" - ", "warning"), NEVER, "dim")


def _write_first(writer: LineWriter, way: WayOut, shown: ShownDeadlock) -> None:
    """Describe the client to stop: its address, and how many clients that unblocks."""
    name = Run(f" {way.owner} ", pill(shown.ink))
    freed = unblocks(way.frees, shown.judged.actors)
    session = f"session {way.actor}" if session_of(way.actor) is not None else ""
    about = ", ".join(filter(None, (session, way.why)))
    head = line(
        (f" {kill_or_wait(way.why).capitalize()} ", shown.ink),
        name,
        (_address(way), "address"),
        f"  {freed}",
    )
    is_short = width_of(head) + len(about) + 2 <= writer.width
    writer.write((*head, *line((f"  {about}" if is_short else "", "dim"))), _session_link(way))
    if not is_short:
        writer.write_all(wrapped(about, writer.width - 1, "dim", " " * 6))
    copies = f" {shown.copy_key} copies "
    if shown.command is not None:
        writer.write(line((copies, "key"), (shown.command, "strong")))
    else:
        writer.write(line((copies, "key"), "this text: the client's address is unknown"))


def _address(way: WayOut) -> str:
    return f"  {way.client}" if way.client and way.client != way.owner else ""


def _session_link(way: WayOut) -> LineLink | None:
    session = session_of(way.actor)
    subject = Selection(session=session)
    return None if session is None else LineLink("sessions", subject, f"way {way.actor}")


def _write_end(writer: LineWriter, shown: ShownDeadlock) -> None:
    case = shown.case
    if not case.is_over_at(shown.displayed.now):
        return
    ending = case.ending
    writer.title("HOW IT ENDED", "" if ending is None else clock(ending.at))
    writer.say("unknown, as zktop did not see it end." if ending is None else f"{ending.how}.")


# The picture


def _write_picture(
    writer: LineWriter, shown: ShownDeadlock, rows: Sequence[StepRow], lock_names: dict[str, str]
) -> None:
    """Draw the ring, with the steps to its right if they fit, else below it."""
    drawings = _drawings(shown, lock_names) if can_be_drawn(shown.first) else []
    fitting = [drawing for drawing in drawings if _width(drawing) + 1 <= writer.width]
    for verbs, drawn in product((VERBS, SHORT_VERBS), fitting):
        room = writer.width - 1 - _width(drawn) - GAP_CELLS - 1
        steps = brief_steps(rows, lock_names, room, shown.ink, verbs)
        if steps is not None:
            _beside(writer, drawn, steps, rows)
            return
    ring = fitting[0] if fitting else list_ring(shown.first, lock_names, shown.ink)
    writer.write_all((Run(" "), *drawn) for drawn in ring)
    writer.write()
    width = writer.width - 2
    steps = brief_steps(rows, lock_names, width, shown.ink)
    for row, step in zip(rows, steps or [], strict=False):
        writer.write((Run("  "), *step), step_link(row))


def _drawings(shown: ShownDeadlock, lock_names: dict[str, str]) -> list[list[Line]]:
    """Return the ring with addresses, and a narrower one without."""
    chosen = shown.ways[0].actor if shown.ways else None
    clients = ring_clients(shown.first, lock_names, _addresses(shown), chosen)
    bare: list[RingClient] = [client._replace(address="") for client in clients]
    return [draw_ring(clients, shown.ink), draw_ring(bare, shown.ink)]


def _addresses(shown: ShownDeadlock) -> dict[str, str]:
    """Return the addresses of the clients, except where the name is the address."""
    return {
        step.actor: shown.report.address(session_of(step.actor), step.name)
        for step in shown.first.steps
    }


def _width(drawn: Sequence[Line]) -> int:
    return max(map(width_of, drawn), default=0)


def _beside(
    writer: LineWriter, drawn: Sequence[Line], steps: Sequence[Line], rows: Sequence[StepRow]
) -> None:
    left = _width(drawn) + GAP_CELLS
    for at in range(max(len(drawn), len(steps))):
        ring = drawn[at] if at < len(drawn) else ()
        step = steps[at] if at < len(steps) else ()
        link = step_link(rows[at]) if at < len(steps) else None
        writer.write((Run(" "), *fitted(ring, left), *step), link)


# Foldable sections


def _write_proof(
    writer: LineWriter, shown: ShownDeadlock, rows: Sequence[StepRow], lock_names: dict[str, str]
) -> None:
    evidence = shown.judged.evidence
    numbers = Counter(reason.supports for reason in evidence)
    parts = [f"{numbers[True]} for"]
    parts += [f"{numbers[False]} against"] if numbers[False] else []
    parts += [count(numbers[None], "assumption")] if numbers[None] else []
    if writer.fold("proof", "Proof", ", ".join(parts)):
        write_reasons(writer, shown.judged.confidence, evidence)
        write_steps(writer, rows, lock_names, shown.ink)
        write_blind(writer, shown.first.rule, shown.displayed.blind)
        writer.write()


def _write_behind(writer: LineWriter, dead: Deadlock, report: Report) -> None:
    """Write the requests that are queued behind the deadlock, lock by lock."""
    behind = count(dead.behind, "client") if dead.behind else "no other client waits behind it"
    if not writer.fold("behind", "Behind it", behind) or not dead.behind:
        return
    for path in dead.locks:
        record = report.records.get(Text(path))
        if record is None:
            continue
        own = {step.waits.node for step in dead.steps if step.waits.lock == path}
        others = [member for member in record.lock.waiters if member.node not in own]
        if others:
            named = [
                report.owner_name(member.owner, member.label)
                for member in others[:MAX_NAMES_COUNTED]
            ]
            names = frequent_names([name for name in named if name], MAX_NAMES)
            drawn = line(("    ", "plain"), (path, "strong"), " ◀ ", (str(len(others)), "waits"),
                         (f"  {names}", "dim"))  # fmt: skip
            writer.write(drawn, LineLink("lock", Selection(path=path), f"behind {path}"))
