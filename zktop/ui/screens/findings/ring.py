"""A deadlock as a ring: each client waits for the next, and the last one for the first."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from zktop.model.actors import session_of
from zktop.model.facts import Millis
from zktop.model.format import clock, middle
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, DeadlockStep
from zktop.ui.screens.common.format import MODE_LETTERS, short_id
from zktop.ui.styled_text import Ink, Line, Run, fitted, line, width_of

MIN_BOXES_CELLS: Final = 76  # cells that two boxes with arrows need
MAX_ACTORS: Final = 6  # actors; of more only the first and the last are drawn
FIRST, LAST = 3, 2


def letters(deadlock: Deadlock) -> dict[str, str]:
    """Letters A, B, C for the actors, in the order of the ring."""
    names = [step.actor for step in ring_order(deadlock.steps)]
    return {actor: letter(at) for at, actor in enumerate(dict.fromkeys(names))}


def letter(at: int) -> str:
    """Letter of the actor at an index of the ring.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    again, place = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(again + 1) if again else "")


def ring_order(steps: Sequence[DeadlockStep]) -> list[DeadlockStep]:
    """Steps ordered so that each one waits for the actor of the next."""
    waiting = {step.actor: step for step in steps}
    ring, at = [steps[0]], steps[0].blocker
    while at in waiting and at != steps[0].actor and len(ring) < len(steps):
        ring.append(waiting[at])
        at = waiting[at].blocker
    return ring if len(ring) == len(waiting) else list(steps)


def draw_ring(deadlock: Deadlock, width: int, ink: Ink = "critical") -> list[Line]:
    """Draw the ring; the request that closes it gets this ink."""
    if not deadlock.steps:
        return []
    ring = ring_order(deadlock.steps)
    if len(ring) == 2 and width >= MIN_BOXES_CELLS:  # noqa: PLR2004  two stand face to face
        return _boxes(ring, letters(deadlock), width, ink)
    return _list(ring, letters(deadlock), ink)


def place_name(place: DeadlockPlace) -> str:
    """A lock with the mode in which it is held or wanted."""
    return f"{MODE_LETTERS[place.mode]}:{place.lock}"


def since(at: Millis | None) -> str:
    return "" if at is None else f"since {clock(at)}"


def _list(ring: Sequence[DeadlockStep], names: dict[str, str], ink: Ink) -> list[Line]:
    """Draw a list with an arrow from its end to its beginning; it fits any width."""
    lines: list[Line] = []
    hidden = len(ring) - FIRST - LAST
    for at, step in enumerate(ring):
        if len(ring) > MAX_ACTORS and FIRST <= at < FIRST + hidden:
            if at == FIRST:
                lines.append(line((" │    ", "waits"), (f"… {hidden} more …", "dim")))
            continue
        lines += _entry(step, names, ink, is_first=at == 0)
    return [
        *lines,
        line((" └─── ", "waits"), ("back to ", "dim"), (names[ring[0].actor], "strong")),
    ]


def _entry(step: DeadlockStep, names: dict[str, str], ink: Ink, *, is_first: bool) -> list[Line]:
    arrow = " ┌─▶ " if is_first else " │   "
    held = ", ".join(place_name(place) for place in step.holds)
    holds = line("  holds ", (held, "holds")) if held else line(("  only queues", "dim"))
    who = line((arrow, "waits"), (f"{names[step.actor]} ", "strong"), (step.name, "strong"))
    bar = " │      " if step.edge == "hard" else " ┊      "
    return [(*who, *holds), (Run(bar, "waits"), *_wait(step, ink))]


def _wait(step: DeadlockStep, ink: Ink) -> Line:
    """Say what it waits for, since when, and whether the client before it holds the lock."""
    is_hard = step.edge == "hard"
    edge: tuple[str, Ink] = (
        ("hard", "dim") if is_hard else ("soft: who is before it only queues", "warning")
    )
    closing: tuple[str, Ink] = ("  CLOSES THE CYCLE" if step.closing else "", ink)
    drawn = line("waits for ", (place_name(step.waits), "waits"))
    return (*drawn, *line((f"  {since(step.since_ms)}  ", "dim"), edge, closing))


def _boxes(
    ring: Sequence[DeadlockStep], names: dict[str, str], width: int, ink: Ink
) -> list[Line]:
    boxes = [_box(step, names, max(16, min(30, width // 4))) for step in ring]
    room = width - width_of(boxes[0][0]) - width_of(boxes[1][0]) - 4
    there, back = ring
    middle = [
        _label(there, room, ink),
        line((_shaft(there) * (room - 1) + "▶", "waits")),
        (),
        line(("◀" + _shaft(back) * (room - 1), "waits")),
        _label(back, room, ink),
    ]
    return [
        (Run(" "), *left, Run(" "), *fitted(between, room), Run(" "), *right)
        for left, between, right in zip(boxes[0], middle, boxes[1], strict=True)
    ]


def _shaft(step: DeadlockStep) -> str:
    """Line of an arrow: dotted where the one ahead only queues."""
    return "─" if step.edge == "hard" else "┄"


def _box(step: DeadlockStep, names: dict[str, str], most: int) -> list[Line]:
    session = session_of(step.actor)
    brief = short_id(session) if session is not None else "actor"
    held = ", ".join(place.lock.rpartition("/")[2] for place in step.holds)
    name = middle(step.name, most - len(names[step.actor]) - 2)
    lines = [f"{names[step.actor]}  {name}", brief, f"holds {held}" if held else "only queues"]
    inner = min(most, max(len(one) for one in lines))
    inks: list[Ink] = ["strong", "dim", "holds"]
    rows = [
        (Run("│ "), *fitted(line((one, ink)), inner), Run(" │"))
        for one, ink in zip(lines, inks, strict=True)
    ]
    return [line("┌" + "─" * (inner + 2) + "┐"), *rows, line("└" + "─" * (inner + 2) + "┘")]


def _label(step: DeadlockStep, room: int, ink: Ink) -> Line:
    closing: tuple[str, Ink] = ("  CLOSES" if step.closing else "", ink)
    soft: tuple[str, Ink] = ("" if step.edge == "hard" else "  behind the queue", "warning")
    text = line((f"waits for {place_name(step.waits)}", "waits"), soft, closing)
    when = line((f"  {since(step.since_ms)}", "dim"))
    whole = (*text, *when)
    drawn = whole if width_of(whole) <= room else text
    left = max(0, (room - width_of(drawn)) // 2)
    return (Run(" " * left), *drawn)
