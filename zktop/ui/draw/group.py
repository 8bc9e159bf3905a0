"""The cells of the line that stands for quiet siblings, and what it says of itself."""

from typing import Final

from zktop.model.facts import Millis
from zktop.model.findings.words import count
from zktop.ui.draw.cells import KINDS, number
from zktop.ui.folds import RESTS_MS, Group
from zktop.ui.ink import NOTHING, Line, Run, joined, line

CLOSED: Final = "▸"
OPEN: Final = "▾"


def sign(group: Group) -> Run:
    """Show whether it is open."""
    return Run(OPEN if group.is_open else CLOSED, "selected")


def state(_group: Group) -> Line:
    """Say that they are well."""
    return line(("ok", "good"))


def path(group: Group) -> Line:
    """Name them all, and count them."""
    return line((f"{group.path} ({group.count})", "plain"))


def kind(group: Group) -> Line:
    """Say what sort of locks they are, where they are of one sort."""
    return line((KINDS.get(group.kind, group.kind) or "mixed", "dim"))


def holder(group: Group) -> Line:
    """Count those that are held."""
    return line((f"{group.held} held", "holds" if group.held else "dim"))


def queue(group: Group) -> Line:
    """Nobody waits, as far as that can be seen."""
    return line(("?", "unknown") if group.unknown else ("0", "dim"))


def blocked(group: Group) -> Line:
    """Add up what was waited for them before."""
    return number(group.blocked_ms)


def nothing(_group: Group) -> Line:
    """Say nothing, where there is a value for each of them but none for all."""
    return NOTHING


def about(group: Group) -> Line:
    """Say what the line is, and how it is opened."""
    waits = "nobody is seen to wait" if group.unknown else "nobody waits"
    rest: Millis = RESTS_MS // 1000
    said = f"{count(group.count, 'quiet lock')}: nothing is wrong, {waits} (for {rest} s)"
    how = "enter folds them again" if group.is_open else "enter opens them, f opens all such lines"
    return joined([line((f" {group.path}", "strong")), line(said), line((how, "dim"))])
