"""The sessions in the order that is asked for, worked out a piece at a time.

Fifty thousand of them take long enough for a key press to be felt. So whoever wants them in order
goes on with it between other things, and a row is made when somebody looks at it.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple, overload

from zktop.model.facts import Session
from zktop.ui.draw.sessions import Row, Scene
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.roster import RISKS
from zktop.ui.widgets.table import Column

PIECE: Final = 500  # sessions that are looked at without a break
MANY: Final = 1 << 20  # places; nobody has more
MOST: Final = MANY - 1


class Asked(NamedTuple):
    """Which sessions are wanted, and in which order."""

    is_folded: bool = True  # without those of no lock
    filter: Filter = NO_FILTER
    column: Column[Row] | None = None  # None: who is in most danger comes first
    is_reversed: bool = False

    @property
    def descends(self) -> bool:
        """Tell whether the largest come first in the column."""
        return self.is_reversed != bool(self.column and self.column.descending)

    @property
    def is_turned(self) -> bool:
        """Tell whether the usual order is turned around."""
        return self.column is None and self.is_reversed

    @property
    def words(self) -> tuple[object, ...]:
        """What two of them that ask for the same have in common."""
        column = self.column.name if self.column else ""
        return self.is_folded, self.filter.text, column, self.is_reversed


class Listing(Sequence[Row]):
    """Sessions in an order, seen at one moment."""

    def __init__(self, sessions: Sequence[Session], scene: Scene) -> None:
        """Make no row yet."""
        self.sessions, self._scene = sessions, scene

    def at(self, scene: Scene) -> "Listing":
        """Give the same sessions in the same order at another moment."""
        return self if scene is self._scene else Listing(self.sessions, scene)

    def __len__(self) -> int:
        """Count them."""
        return len(self.sessions)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[Row]": ...
    def __getitem__(self, index: int | slice) -> "Row | Sequence[Row]":
        """Make a row."""
        if isinstance(index, slice):
            return Listing(self.sessions[index], self._scene)
        return row_of(self.sessions[index], self._scene)

    def find(self, session: Session) -> int | None:
        """Find the place of a session."""
        return self._places.get(session)

    @cached_property
    def _places(self) -> dict[Session, int]:
        return {session: at for at, session in enumerate(self.sessions)}


def row_of(session: Session, scene: Scene) -> Row:
    """Make the row of a session."""
    return Row(session, scene, scene.dangers.of(session))


def in_order(scene: Scene, asked: Asked) -> Iterator[list[Session] | None]:
    """Give None as long as there is more to do, and at last the sessions.

    Sorting is stable, and quick where the keys are plain numbers: it is done in several steps.
    """
    column, wanted = asked.column, asked.filter
    chosen: list[Session] = []
    usual: list[int] = []
    keys: list[object] = []
    left = iter(sorted(_sessions(scene, is_folded=asked.is_folded)))
    yield None
    while piece := list(islice(left, PIECE)):
        rows = [row_of(session, scene) for session in piece]
        rows = [row for row in rows if wanted.passes(row.fields)] if wanted else rows
        chosen += [row.session for row in rows]
        usual += map(_usual, rows)
        keys += map(column.key, rows) if column is not None and column.key is not None else ()
        yield None
    places = sorted(range(len(chosen)), key=usual.__getitem__, reverse=asked.is_turned)
    yield None
    if keys:
        places.sort(key=keys.__getitem__, reverse=asked.descends)  # type: ignore[arg-type]  # keys of one column are alike
        yield None
    yield [chosen[place] for place in places]


def _usual(row: Row) -> int:
    """Put those in most danger first, then those with the most places; in one number."""
    places = row.places
    holds, waits = min(len(places.holds), MOST), min(len(places.waits), MOST)
    return (RISKS.index(row.danger.risk) * MANY + MOST - holds) * MANY + MOST - waits


def _sessions(scene: Scene, *, is_folded: bool) -> list[Session]:
    known = scene.roster.places
    extra = dict.fromkeys(scene.dangers.by_session)
    extra |= {} if is_folded else dict.fromkeys(scene.connected)
    return [*known, *(one for one in extra if one and one not in known)]
