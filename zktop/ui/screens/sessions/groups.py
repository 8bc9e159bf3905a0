"""Fleets: of many sessions that are called alike, those in no danger are one line.

A service of a thousand processes is one thing to look at until one of them is in trouble; that one
leaves the line and is listed by itself.

The line of a fleet among the sessions, and what is told of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.format import count
from zktop.model.waits.lock_order import fold_name
from zktop.ui.screens.common.format import with_spaces
from zktop.ui.screens.sessions.rows import COLUMNS, RISK_INKS, SessionRow, SessionsSnapshot
from zktop.ui.styled_text import NOTHING, Ink, Line, line
from zktop.ui.widgets.table import Column

MANY: Final = 12  # sessions that are called alike


class SessionGroup(msgspec.Struct, frozen=True, eq=False):
    """Many sessions of one name but for its numbers, none of them in danger."""

    name: str
    sessions: tuple[Session, ...]
    holds: int  # places of all of them
    waits: int
    is_open: bool = False


class SessionSummary(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What counts of a session when it is looked for others like it."""

    session: Session
    name: str | None
    is_well: bool
    holds: int
    waits: int


Item = Session | SessionGroup


def gathered(
    ships: Iterable[SessionSummary], opened: AbstractSet[str], apart: AbstractSet[Session]
) -> list[Item]:
    """Put a line in place of those that are alike and well, but not of those wanted apart.

    Who is in danger comes first, as before; then come the fleets by name, with their sessions
    where they are opened, and then who is well and has no fleet.
    """
    ships = list(ships)
    families = _families(ship for ship in ships if ship.session not in apart)
    fleets = [_fleet(name, family, opened) for name, family in sorted(families.items())]
    at_sea = {ship.session for family in families.values() for ship in family}
    return [
        *(ship.session for ship in ships if not ship.is_well),
        *(ship.session for ship in ships if ship.is_well and ship.session in apart),
        *_unfolded(fleets),
        *(
            ship.session
            for ship in ships
            if ship.is_well and ship.session not in at_sea and ship.session not in apart
        ),
    ]


def _families(ships: Iterable[SessionSummary]) -> dict[str, list[SessionSummary]]:
    found: dict[str, list[SessionSummary]] = {}
    for ship in ships:
        if ship.is_well and ship.name:
            found.setdefault(fold_name(ship.name), []).append(ship)
    return {name: family for name, family in found.items() if len(family) >= MANY}


def _fleet(name: str, family: Sequence[SessionSummary], opened: AbstractSet[str]) -> SessionGroup:
    return SessionGroup(
        name,
        tuple(ship.session for ship in family),
        sum(ship.holds for ship in family),
        sum(ship.waits for ship in family),
        name in opened,
    )


def _unfolded(fleets: Iterable[SessionGroup]) -> Iterator[Item]:
    for fleet in fleets:
        yield fleet
        yield from fleet.sessions if fleet.is_open else ()


Entry = SessionRow | SessionGroup
NAMED: Final = 3
FULL: Final = 100_000  # from here on a number has no room


def _name(fleet: SessionGroup) -> Line:
    sign = "▾" if fleet.is_open else "▸"
    return line((f"{sign} ", "selected"), (fleet.name, "strong"))


def _size(fleet: SessionGroup) -> Line:
    return line((f"{with_spaces(len(fleet.sessions)):>7}", "strong"))


def _sum(number: int, ink: Ink) -> Line:
    told = str(number) if number < FULL else f"{number // 1000}k"
    return line((told, ink if number else "dim"))


CELLS: Final[dict[str, Callable[[SessionGroup], Line]]] = {
    "RISK": lambda _fleet: line(("LOW", RISK_INKS["LOW"])),
    "SESSION": _size,
    "IDENTITY": _name,
    "HOLDS": lambda fleet: _sum(fleet.holds, "holds"),
    "WAITS": lambda fleet: _sum(fleet.waits, "waits"),
    "NOTE": lambda fleet: line(("unfolded" if fleet.is_open else "folded", "dim")),
}


def _for_both(column: Column[SessionRow]) -> Column[Entry]:
    cell = CELLS.get(column.name)

    def draw(one: Entry) -> Line:
        if isinstance(one, SessionRow):
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
    return isinstance(one, SessionRow)


def _no_key(_one: Entry) -> object:
    """Say that it can be sorted by; the page does it, from the sessions alone."""
    return None


BOTH: Final[Sequence[Column[Entry]]] = tuple(map(_for_both, COLUMNS))


def told(fleet: SessionGroup, scene: SessionsSnapshot) -> list[Line]:
    """Say who is in it, and what they do together."""
    names = [scene.roster.called(one) for one in fleet.sessions[:NAMED]]
    them = f"{', '.join(names)} and {with_spaces(len(fleet.sessions) - NAMED)} more"
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
