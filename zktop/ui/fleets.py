"""Fleets: of many sessions that are called alike, those in no danger are one line.

A service of a thousand processes is one thing to look at until one of them is in trouble; that one
leaves the line and is listed by itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.waits.order_classes import fold_name

MANY: Final = 12  # sessions that are called alike


class Fleet(msgspec.Struct, frozen=True, eq=False):
    """Many sessions of one name but for its numbers, none of them in danger."""

    name: str
    sessions: tuple[Session, ...]
    holds: int  # places of all of them
    waits: int
    is_open: bool = False


class Ship(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What counts of a session when it is looked for others like it."""

    session: Session
    name: str | None
    is_well: bool
    holds: int
    waits: int


Item = Session | Fleet


def gathered(
    ships: Iterable[Ship], opened: AbstractSet[str], apart: AbstractSet[Session]
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


def _families(ships: Iterable[Ship]) -> dict[str, list[Ship]]:
    found: dict[str, list[Ship]] = {}
    for ship in ships:
        if ship.is_well and ship.name:
            found.setdefault(fold_name(ship.name), []).append(ship)
    return {name: family for name, family in found.items() if len(family) >= MANY}


def _fleet(name: str, family: Sequence[Ship], opened: AbstractSet[str]) -> Fleet:
    return Fleet(
        name,
        tuple(ship.session for ship in family),
        sum(ship.holds for ship in family),
        sum(ship.waits for ship in family),
        name in opened,
    )


def _unfolded(fleets: Iterable[Fleet]) -> Iterator[Item]:
    for fleet in fleets:
        yield fleet
        yield from fleet.sessions if fleet.is_open else ()
