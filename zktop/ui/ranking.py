"""All rows in the usual order: the worst first, and of equals the one with the first path.

Ten thousand rows are put in order a few times a second, while few of them have changed. So each
has one number that says how urgent it is, and no two have the same; the numbers are made and
compared without a line of Python for each row, and sorting begins with the order of before.
"""

from collections.abc import Iterable, Sequence
from itertools import count, repeat
from operator import add, gt, mul

from zktop.model.facts import Millis
from zktop.model.text import Text
from zktop.ui.row import Row


class Ranking:
    """The order of rows, told of every row that is another one now."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        """Begin with these rows, in the order of their paths."""
        self._rows = list(rows)
        self._places = places(self._rows)
        # How urgent a row is grows evenly. Its place makes a difference where nothing else does.
        self._urgent = [row.urgent * len(self._rows) - at for at, row in enumerate(self._rows)]
        self._urges = [row.urges for row in self._rows]
        self._order = list(self._places.values())  # the very numbers: ten thousand take room
        self._given: list[Row] | None = None

    def put(self, path: Text, row: Row | None) -> bool:
        """Put a row in the place of the one before; False when it needs a place of its own."""
        place = self._places.get(path)
        if place is None or row is None or _is_shadow(row) or _is_shadow(self._rows[place]):
            return False
        self._rows[place] = row
        self._urgent[place] = row.urgent * len(self._rows) - place
        self._urges[place] = row.urges
        self._given = None
        return True

    def ordered(self, now: Millis) -> list[Row]:
        """Give the rows in order; the same list for as long as it would be the same."""
        passed = repeat(now * len(self._rows))
        urgencies = list(map(add, self._urgent, map(mul, self._urges, passed)))
        if self._given is None or not _falls(list(map(urgencies.__getitem__, self._order))):
            self._order.sort(key=urgencies.__getitem__, reverse=True)
            self._given = list(map(self._rows.__getitem__, self._order))
        return self._given


def places(rows: Iterable[Row]) -> dict[Text, int]:
    """Tell at which place the row of each path is."""
    return dict(zip([row.lock.path for row in rows], count(), strict=False))


def _is_shadow(row: Row) -> bool:
    return row.gone_at is not None


def _falls(numbers: Sequence[int]) -> bool:
    return all(map(gt, numbers, numbers[1:]))
