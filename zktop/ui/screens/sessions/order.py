"""The sessions in the order that is asked for, worked out a piece at a time.

Fifty thousand of them take long enough for a key press to be felt. So whoever wants them in order
goes on with it between other things, and a row is made when somebody looks at it.

Puts the sessions in order between other things, and not more often than it is worth.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple, overload

from zktop.model.facts import Session
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.screens.common.session_index import RISKS, SessionRisk
from zktop.ui.screens.sessions.groups import Entry, Item, SessionGroup, SessionSummary, gathered
from zktop.ui.screens.sessions.rows import SessionRow, SessionsSnapshot
from zktop.ui.widgets.table import Column

PIECE: Final = 500  # sessions that are looked at without a break
MANY: Final = 1 << 20  # places; nobody has more
MOST: Final = MANY - 1
WELL: Final = SessionRisk("LOW")


class SessionQuery(NamedTuple):
    """Which sessions are wanted, and in which order."""

    is_folded: bool = True  # without those of no lock
    filter: Filter = NO_FILTER
    column: Column[SessionRow] | None = None  # None: who is in most danger comes first
    is_reversed: bool = False
    opened: frozenset[str] = frozenset()  # fleets that are unfolded
    apart: frozenset[Session] = frozenset()  # who is listed without a fleet

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
        which = self.is_folded, self.opened, self.apart
        return which, self.filter.text, column, self.is_reversed

    @property
    def has_fleets(self) -> bool:
        """Tell whether sessions that are alike are one line; who seeks or sorts wants them all."""
        return self.is_folded and not self.filter and self.column is None and not self.is_reversed


class Listing(Sequence[Entry]):
    """Sessions and fleets in an order, seen at one moment."""

    def __init__(self, sessions: Sequence[Item], scene: SessionsSnapshot) -> None:
        """Make no row yet."""
        self.sessions, self._scene = sessions, scene

    def at(self, scene: SessionsSnapshot) -> "Listing":
        """Give the same sessions in the same order at another moment."""
        return self if scene is self._scene else Listing(self.sessions, scene)

    def __len__(self) -> int:
        """Count them."""
        return len(self.sessions)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[Entry]": ...
    def __getitem__(self, index: int | slice) -> "Entry | Sequence[Entry]":
        """Make a row."""
        if isinstance(index, slice):
            return Listing(self.sessions[index], self._scene)
        one = self.sessions[index]
        return one if isinstance(one, SessionGroup) else row_of(one, self._scene)

    def find(self, name: Hashable) -> int | None:
        """Find the place of a session, or of a fleet by its name."""
        return self._places.get(name)

    def is_folded(self, session: Session) -> bool:
        """Tell whether a session is in a fleet that is folded."""
        return any(
            isinstance(one, SessionGroup) and not one.is_open and session in one.sessions
            for one in self.sessions
        )

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {
            one.name if isinstance(one, SessionGroup) else one: at
            for at, one in enumerate(self.sessions)
        }


def row_of(session: Session, scene: SessionsSnapshot) -> SessionRow:
    """Make the row of a session."""
    return SessionRow(session, scene, scene.dangers.of(session))


def in_order(scene: SessionsSnapshot, asked: SessionQuery) -> Iterator[list[Item] | None]:
    """Give None as long as there is more to do, and at last the sessions and fleets.

    Sorting is stable, and quick where the keys are plain numbers: it is done in several steps.
    """
    column, wanted = asked.column, asked.filter
    chosen: list[Session] = []
    usual: list[int] = []
    keys: list[object] = []
    ships: list[SessionSummary] = []
    left = iter(sorted(sessions_of(scene, is_folded=asked.is_folded)))
    yield None
    while piece := list(islice(left, PIECE)):
        rows = [row_of(session, scene) for session in piece]
        rows = [row for row in rows if wanted.passes(row.fields)] if wanted else rows
        chosen += [row.session for row in rows]
        usual += map(_usual, rows)
        ships += map(_ship, rows) if asked.has_fleets else ()
        keys += map(column.key, rows) if column is not None and column.key is not None else ()
        yield None
    places = sorted(range(len(chosen)), key=usual.__getitem__, reverse=asked.is_turned)
    yield None
    if keys:
        places.sort(key=keys.__getitem__, reverse=asked.descends)  # type: ignore[arg-type]  # keys of one column are alike
        yield None
    if asked.has_fleets:
        yield gathered((ships[place] for place in places), asked.opened, asked.apart)
    else:
        yield [chosen[place] for place in places]


def _ship(row: SessionRow) -> SessionSummary:
    places, is_well = row.places, row.danger == WELL and not row.is_ours
    name = row.name if is_well else None
    return SessionSummary(row.session, name, is_well, len(places.holds), len(places.waits))


def _usual(row: SessionRow) -> int:
    """Put those in most danger first, then those with the most places; in one number."""
    places = row.places
    holds, waits = min(len(places.holds), MOST), min(len(places.waits), MOST)
    return (RISKS.index(row.danger.risk) * MANY + MOST - holds) * MANY + MOST - waits


def sessions_of(scene: SessionsSnapshot, *, is_folded: bool) -> list[Session]:
    """Give the sessions that are listed without a filter; folded, those in no lock are not."""
    known = scene.roster.places
    extra = dict.fromkeys(scene.dangers.by_session)
    extra |= {} if is_folded else dict.fromkeys(scene.connected)
    return [*known, *(one for one in extra if one and one not in known)]


PART: Final = 20  # of all time, what may be spent on one thing
OFTEN_S: Final = 0.25  # nobody reads faster
BREATH_S: Final = 0.01  # after so long, whatever else has come is done first

Clock = Callable[[], float]


class Rest:
    """Says when something may be done again: what takes long has to rest long."""

    def __init__(self, clock: Clock) -> None:
        """Begin rested."""
        self._clock, self._began_at, self._took = clock, 0.0, 0.0

    def begin(self) -> None:
        """Take note that it begins."""
        self._began_at, self._took = self._clock(), 0.0

    def spend(self, seconds: float) -> None:
        """Take note of how long it takes; it may be told in parts."""
        self._took += seconds

    @property
    def is_over(self) -> bool:
        """Tell whether it may be done again."""
        passed = self._clock() - self._began_at
        return not self._began_at or passed >= max(OFTEN_S, PART * self._took)


class Ordering:
    """The newest order that is known, and the work on the next one."""

    def __init__(self, clock: Clock) -> None:
        """Begin with none."""
        self.listing: Listing | None = None
        self._clock, self._rest = clock, Rest(clock)
        self._scene: SessionsSnapshot | None = None
        self._asked: tuple[object, ...] = ()
        self._work: Iterator[list[Item] | None] = iter(())
        self.is_working = False

    def look(self, scene: SessionsSnapshot, asked: SessionQuery, *, at_once: bool) -> None:
        """See this scene from now on; begin anew where something else is asked for."""
        is_due = scene is not self._scene and (at_once or self._rest.is_over)
        if asked.words != self._asked or (is_due and not self.is_working):
            self._asked, self._scene = asked.words, scene
            self._work, self.is_working = in_order(scene, asked), True
            self._rest.begin()
            self.go_on()
        if self.listing is not None:
            self.listing = self.listing.at(scene)

    def go_on(self) -> None:
        """Do some more of it; few sessions are in order before anything else happens."""
        began, passed = self._clock(), 0.0
        while self.is_working and passed <= BREATH_S:
            sessions = next(self._work)
            if sessions is not None and self._scene is not None:
                self.listing, self.is_working = Listing(sessions, self._scene), False
            passed = self._clock() - began
        self._rest.spend(passed)
