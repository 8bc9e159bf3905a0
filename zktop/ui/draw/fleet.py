"""The line of a fleet among the sessions, and what is told of it."""

from collections.abc import Callable, Sequence
from typing import Final

from zktop.model.findings.words import count
from zktop.ui.draw.numbers import grouped
from zktop.ui.draw.sessions import COLUMNS, RISK_INKS, Row, Scene
from zktop.ui.fleets import Fleet
from zktop.ui.ink import NOTHING, Ink, Line, line
from zktop.ui.widgets.column import Column

Entry = Row | Fleet
NAMED: Final = 3
FULL: Final = 100_000  # from here on a number has no room


def _name(fleet: Fleet) -> Line:
    sign = "▾" if fleet.is_open else "▸"
    return line((f"{sign} ", "selected"), (fleet.name, "strong"))


def _size(fleet: Fleet) -> Line:
    return line((f"{grouped(len(fleet.sessions)):>7}", "strong"))


def _sum(number: int, ink: Ink) -> Line:
    told = str(number) if number < FULL else f"{number // 1000}k"
    return line((told, ink if number else "dim"))


CELLS: Final[dict[str, Callable[[Fleet], Line]]] = {
    "RISK": lambda _fleet: line(("LOW", RISK_INKS["LOW"])),
    "SESSION": _size,
    "IDENTITY": _name,
    "HOLDS": lambda fleet: _sum(fleet.holds, "holds"),
    "WAITS": lambda fleet: _sum(fleet.waits, "waits"),
    "NOTE": lambda fleet: line(("unfolded" if fleet.is_open else "folded", "dim")),
}


def _for_both(column: Column[Row]) -> Column[Entry]:
    cell = CELLS.get(column.name)

    def draw(one: Entry) -> Line:
        if isinstance(one, Row):
            return column.draw(one)
        return cell(one) if cell is not None else NOTHING

    return Column(
        column.name,
        column.width,
        draw,
        _no_key if column.key else None,
        at_right=column.at_right,
        rank=column.rank,
        share=column.share,
        descending=column.descending,
        needs=column.needs,
        names=_is_row if column.names else None,
    )


def _is_row(one: Entry) -> bool:
    return isinstance(one, Row)


def _no_key(_one: Entry) -> object:
    """Say that it can be sorted by; the page does it, from the sessions alone."""
    return None


BOTH: Final[Sequence[Column[Entry]]] = tuple(map(_for_both, COLUMNS))


def told(fleet: Fleet, scene: Scene) -> list[Line]:
    """Say who is in it, and what they do together."""
    names = [scene.roster.called(one) for one in fleet.sessions[:NAMED]]
    them = f"{', '.join(names)} and {grouped(len(fleet.sessions) - NAMED)} more"
    return [
        line(
            ("FLEET ", "title"),
            (fleet.name, "strong"),
            f"  {count(len(fleet.sessions), 'session')} called alike, none of them in danger",
        ),
        line(("  they are   ", "dim"), them),
        line(("  holds      ", "dim"), f"{count(fleet.holds, 'place')} in locks"),
        line(("  waits for  ", "dim"), f"{count(fleet.waits, 'place')}"),
        line(
            (
                "  enter unfolds this line, f all of them; whoever gets into danger leaves it",
                "dim",
            )
        ),
    ]
