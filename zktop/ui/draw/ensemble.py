"""What the head says of the ensemble and of what is in it: as much as there is room for.

What is wrong, and what cannot be seen, is said on any terminal; a long name makes room for it.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from zktop.ui.ink import Line, fitted, joined, line, width_of

if TYPE_CHECKING:  # the first frame has no report
    from zktop.model.report import Report
    from zktop.ui.draw.standing import Piece

SHARE: Final = 3  # the name may have this part of the room, where nothing urgent needs it
LEAST_NAME: Final = 9
GAP: Final = 2


def ensemble(name: str, report: "Report | None", width: int) -> Line:
    """Say where we are, and how it stands there, in at most so many cells."""
    begin = line((" zktop", "title"))
    pieces = _standing(report) if report is not None else ()
    room = width - width_of(begin) - GAP
    least = min(width // SHARE, room - _width(one for one in pieces if one.rank == 0))
    named = line((_short(name, max(LEAST_NAME, least, room - _width(pieces))), "strong"))
    kept = _fitting(pieces, room - width_of(named))
    return fitted(joined([begin, named, *kept]), width) if width > 0 else ()


def _standing(report: "Report") -> Sequence["Piece"]:
    from zktop.ui.draw.standing import pieces  # noqa: PLC0415  comes with the first report

    return tuple(pieces(report))


def _short(name: str, room: int) -> str:
    """Leave out the middle of what is too long: its end tells the chroot.

    >>> _short("zk1:2181,zk2:2181,zk3:2181/app", 16)
    'zk1:2181…181/app'
    """
    if len(name) <= room:
        return name
    end = (room - 1) // 2
    return f"{name[: room - 1 - end]}…{name[len(name) - end :]}"


def _width(pieces: Iterable["Piece"]) -> int:
    return sum(width_of(one.drawn) + GAP for one in pieces)


def _fitting(pieces: Sequence["Piece"], room: int) -> list[Line]:
    """Choose what matters most, in the order in which it is told."""
    kept = set()
    for one in sorted(pieces, key=lambda one: one.rank):
        needed = width_of(one.drawn) + GAP
        if one.rank == 0 or needed <= room:
            kept.add(one)
            room -= needed
    return [one.drawn for one in pieces if one in kept]
