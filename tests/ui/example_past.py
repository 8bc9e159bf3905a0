"""A past in which two clients deadlock, and the deadlock ends."""

from collections.abc import Sequence

from model.make_facts import NOW, ZK1, connections, figures, own, row, session, watches
from output.stories import facts
from ui.fake_feed import Moment, frames

from zktop.model.facts import AnyFact, Gone
from zktop.model.text import Text
from zktop.ui.interfaces import Frame

BEGIN = NOW + 1_000_000
A, B = session("A"), session("B")


def moments() -> Sequence[Moment]:
    """The facts: A and B queue crosswise, wait for a while, then B leaves."""
    crossed = facts("X x: A B ; Y x: B A", at=BEGIN + 2_000, zxid=200)
    table = connections(ZK1, row("A", 3_000), row("B", 8_000), row("idle", 100), at=BEGIN + 2_000)
    seen = watches(ZK1, {"A": (), "B": ()}, at=BEGIN + 2_000)
    tables: list[AnyFact] = [own(at=BEGIN), figures(ZK1), table, seen]
    return (
        (BEGIN, facts("X x: A", at=BEGIN)),
        (BEGIN + 2_000, [*crossed, *tables]),
        (BEGIN + 5_000, []),
        (BEGIN + 6_000, []),
        (BEGIN + 20_000, _left(crossed)),
        (BEGIN + 21_000, []),
    )


def _left(crossed: Sequence[AnyFact]) -> list[AnyFact]:
    """B abandons everything."""
    nodes = [one for one in crossed if getattr(getattr(one, "stat", None), "owner", 0) == B]
    return [
        Gone(path=Text(one.path), zxid=900 + n, at=BEGIN + 20_000) for n, one in enumerate(nodes)
    ]


def past() -> list[Frame]:
    """The frames of that past."""
    return frames(*moments())
