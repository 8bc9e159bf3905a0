"""A deadlock as a ring: each client waits for the next, and the last one for the first."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.facts import Millis
from zktop.model.format import clock
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.ui.inks import Ink
from zktop.ui.screens.common.lock_status import pill
from zktop.ui.screens.common.numbers_and_times import MODE_WORDS
from zktop.ui.screens.findings.boxes_and_arrows import HARD, SOFT, CellGrid, Point
from zktop.ui.styled_text import Line, Run, cut_middle, line

MIN_CLIENTS: Final = 2
MAX_CLIENTS: Final = 6  # a longer ring is drawn as a list
FIRST, LAST = 3, 2  # clients of a long list
MAX_TEXT_CELLS: Final = 24  # for a name or a lock in the drawing
MIN_GAP_CELLS: Final = 10  # between the two columns of boxes
BORDERS_CELLS: Final = 4  # the borders of a box, with a blank on each side
CORNER_CELLS: Final = 4  # from the corner of a box to an outgoing arrow
QUEUES: Final = "only queued"
CLOSES: Final = "completes the deadlock"  # the newest request; a knot has no single cycle


class RingClient(NamedTuple):
    """One client of the ring: its box, and the arrow to the next client."""

    name: str
    has: str
    wants: str
    address: str = ""
    is_hard: bool = True  # the next client holds the lock; otherwise it is only queued
    closes: bool = False  # its request came last
    is_chosen: bool = False  # the one to stop


def ring_order(steps: Sequence[DeadlockStep]) -> list[DeadlockStep]:
    """Sort steps so that each waits for the actor of the next, if they form one ring."""
    if not steps:
        return []
    waiting = {step.actor: step for step in steps}
    ring, blocker = [steps[0]], steps[0].blocker
    while blocker in waiting and blocker != steps[0].actor and len(ring) < len(steps):
        ring.append(waiting[blocker])
        blocker = waiting[blocker].blocker
    return ring if len(ring) == len(waiting) else list(steps)


def is_ring(steps: Sequence[DeadlockStep]) -> bool:
    """Return whether each step waits for the actor of the next, and the last one for the first."""
    following = [*steps[1:], *steps[:1]]
    pairs = zip(steps, following, strict=True)
    return bool(steps) and all(step.blocker == after.actor for step, after in pairs)


def ring_clients(
    deadlock: Deadlock,
    lock_names: Mapping[str, str],
    addresses: Mapping[str, str],
    chosen: str | None = None,
) -> list[RingClient]:
    """Return the clients in the order of the ring. `lock_names` has the short names of locks."""
    return [
        RingClient(
            step.name,
            _has(step, lock_names),
            lock_words(step.waits, lock_names),
            addresses.get(step.actor, ""),
            step.edge == "hard",
            step.closing,
            step.actor == chosen,
        )
        for step in ring_order(deadlock.steps)
    ]


def _has(step: DeadlockStep, lock_names: Mapping[str, str]) -> str:
    held = ", ".join(lock_words(place, lock_names) for place in step.holds)
    return f"has {held}" if held else QUEUES


def lock_words(place: DeadlockPlace, lock_names: Mapping[str, str]) -> str:
    """Return the short name of a lock, with the mode unless that is exclusive."""
    return f"{lock_names.get(place.lock, place.lock)}{MODE_WORDS[place.mode]}"


def can_be_drawn(deadlock: Deadlock) -> bool:
    """Return whether this is a ring of a few clients."""
    steps = deadlock.steps
    return MIN_CLIENTS <= len(steps) <= MAX_CLIENTS and is_ring(ring_order(steps))


def draw_ring(clients: Sequence[RingClient], ink: Ink = "critical") -> list[Line]:
    """Draw two to six boxes in two columns, with arrows clockwise.

    The arrow of the last request has this ink, and the client to stop is a pill of this ink.
    """
    return _Drawing(clients, ink).lines()


class _Drawing:
    """Boxes down the right column and up the left. An odd one is below, between them."""

    def __init__(self, clients: Sequence[RingClient], ink: Ink) -> None:
        self.clients, self.ink = clients, ink
        self.is_pair = len(clients) == MIN_CLIENTS
        self.box_width = self._box_width()
        self.box_height = 4 if any(client.address for client in clients) else 3
        self.gap = self._gap()
        rows = (len(clients) + 1) // 2
        height = max(4, self.box_height) if self.is_pair else rows * (self.box_height + 1) - 1
        self.grid = CellGrid(2 * self.box_width + self.gap, height)
        self.places = [self._place(at) for at in range(len(clients))]

    def lines(self) -> list[Line]:
        for client, place in zip(self.clients, self.places, strict=True):
            self._box(client, place)
        for at, client in enumerate(self.clients):
            self._arrow(client, self.places[at], self.places[(at + 1) % len(self.places)])
        return list(self.grid.lines())

    def _box_width(self) -> int:
        room_for_arrow = 0 if self.is_pair else CORNER_CELLS  # an arrow enters next to the name
        texts = [cell_len(client.has) for client in self.clients]
        texts += [cell_len(client.address) for client in self.clients]
        texts += [cell_len(client.name) + 2 + room_for_arrow for client in self.clients]
        return min(MAX_TEXT_CELLS, max(texts)) + BORDERS_CELLS

    def _gap(self) -> int:
        wanted = [min(MAX_TEXT_CELLS, cell_len(client.wants)) for client in self.clients]
        if self.is_pair:
            return max(MIN_GAP_CELLS, max(wanted) + 4)
        down = 2 * max(wanted) + 8 - self.box_width  # two of them share a line
        return max(MIN_GAP_CELLS, wanted[0] + 4, down)

    def _place(self, at: int) -> Point:
        """Return the upper left corner of a box."""
        number, right = len(self.clients), self.box_width + self.gap
        pitch = self.box_height + 1
        rows = (number + 1) // 2
        if number % 2 and at == rows:  # between the columns
            return Point(right // 2, (rows - 1) * pitch)
        if at == 0:
            return Point(0, 0)
        if at <= number // 2:
            return Point(right, (at - 1) * pitch)
        return Point(0, (number - at) * pitch)

    def _box(self, client: RingClient, place: Point) -> None:
        x, y = place
        inner = self.box_width - BORDERS_CELLS
        self.grid.box(x, y, self.box_width, self.box_height)
        room = inner - 2 - (0 if self.is_pair else CORNER_CELLS)
        ink: Ink = pill(self.ink) if client.is_chosen else "strong"
        self.grid.write(x + 2, y, f" {cut_middle(client.name, room)} ", ink)
        if self.box_height > 3:  # noqa: PLR2004  there is a line for addresses
            self.grid.write(x + 2, y + 1, cut_middle(client.address, inner), "address")
        held: Ink = "dim" if client.has == QUEUES else "holds"
        self.grid.write(x + 2, y + self.box_height - 2, cut_middle(client.has, inner), held)

    def _arrow(self, client: RingClient, start: Point, end: Point) -> None:
        ink: Ink = self.ink if client.closes else "waits"
        strokes = HARD if client.is_hard else SOFT
        if start.y == end.y and abs(start.x - end.x) == self.box_width + self.gap:
            self._across(client.wants, start, end, ink, strokes)
        elif start.x == end.x:
            self._along(client.wants, start, end, ink, strokes)
        else:
            self._round(client.wants, start, end, ink, strokes)

    def _across(self, wants: str, start: Point, end: Point, ink: Ink, strokes: str) -> None:
        """Draw an arrow from one column to the other. A pair has one in each direction."""
        goes_right = start.x < end.x
        is_back = self.is_pair and not goes_right
        y = start.y + (2 if is_back else 1)
        begin, last = self.box_width + 1, self.box_width + self.gap - 2
        points = [Point(begin, y), Point(last, y)]
        self.grid.arrow(points if goes_right else points[::-1], ink, strokes)
        text = cut_middle(wants, self.gap - 2)
        x = self.box_width + (self.gap - cell_len(text)) // 2
        self.grid.write(x, y + 1 if is_back else y - 1, text, ink)

    def _along(self, wants: str, start: Point, end: Point, ink: Ink, strokes: str) -> None:
        """Draw an arrow down the right column, or up the left one."""
        x = start.x + self.box_width - CORNER_CELLS
        room = (self.box_width + self.gap - 6) // 2
        text = cut_middle(wants, room)
        if end.y > start.y:
            low = start.y + self.box_height - 1
            self.grid.arrow([Point(x, low), Point(x, end.y)], ink, strokes)
            self.grid.write(x, low, "┬", ink)
            self.grid.write(x - 1 - cell_len(text), low + 1, text, ink)
        else:
            low = end.y + self.box_height - 1
            self.grid.arrow([Point(x, start.y), Point(x, low)], ink, strokes)
            self.grid.write(x, start.y, "┴", ink)
            self.grid.write(x + 2, low + 1, text, ink)

    def _round(self, wants: str, start: Point, end: Point, ink: Ink, strokes: str) -> None:
        """Draw an arrow around a corner: to the box between the columns, or from it."""
        width, height = self.box_width, self.box_height
        if end.x < start.x and end.y > start.y:
            x, y = start.x + width - CORNER_CELLS, end.y + 1
            low = start.y + height - 1
            points = [Point(x, low), Point(x, y), Point(end.x + width + 1, y)]
            text = cut_middle(wants, x - end.x - width - 3)
            self.grid.arrow(points, ink, strokes)
            self.grid.write(x, low, "┬", ink)
            self.grid.write(x - 1 - cell_len(text), end.y, text, ink)
        else:
            x, y = CORNER_CELLS - 1, start.y + 1
            low = end.y + height - 1
            text = cut_middle(wants, start.x - x - 3)
            self.grid.arrow([Point(start.x - 2, y), Point(x, y), Point(x, low)], ink, strokes)
            self.grid.write(x + 2, start.y, text, ink)


def list_ring(
    deadlock: Deadlock, lock_names: Mapping[str, str], ink: Ink = "critical"
) -> list[Line]:
    """Draw a list for any width. A ring has an arrow from its end back to its beginning."""
    steps = ring_order(deadlock.steps)
    is_closed = is_ring(steps)
    is_cut = len(steps) > MAX_CLIENTS
    shown = [*steps[:FIRST], *steps[-LAST:]] if is_cut else steps
    lines: list[Line] = []
    for at, step in enumerate(shown):
        if is_cut and at == FIRST:
            more = f"… {len(steps) - len(shown)} more …"
            lines.append(line((" │    " if is_closed else "      ", "waits"), (more, "dim")))
        arrow = "  "
        if is_closed:
            arrow = " ┌─▶ " if at == 0 else " │   "
        lines += _entry(step, lock_names, ink, arrow)
    if is_closed:
        end = line((" └─── ", "waits"), ("back to ", "dim"), (steps[0].name, "strong"))
        lines.append(end)
    return lines


def _entry(step: DeadlockStep, lock_names: Mapping[str, str], ink: Ink, arrow: str) -> list[Line]:
    has = _has(step, lock_names)
    held: Ink = "dim" if has == QUEUES else "holds"
    head = line((arrow, "waits"), (step.name, "strong"), "  ", (has, held))
    indent = "     "
    if arrow.strip():
        indent = " │      " if step.edge == "hard" else " ┊      "
    return [head, (Run(indent, "waits"), *_wait(step, lock_names, ink))]


def _wait(step: DeadlockStep, lock_names: Mapping[str, str], ink: Ink) -> Line:
    """Return what a client waits for, since when, and whether it completed the deadlock."""
    behind = "" if step.edge == "hard" else "  behind a queued request"
    closing: tuple[str, Ink] = (f"  ← {CLOSES}" if step.closing else "", ink)
    drawn = line("waits for ", (lock_words(step.waits, lock_names), "waits"))
    return (*drawn, *line((f"  {since(step.since_ms)}", "dim"), (behind, "warning"), closing))


def since(at: Millis | None) -> str:
    return "" if at is None else f"since {clock(at)}"
