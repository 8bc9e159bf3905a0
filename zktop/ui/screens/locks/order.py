"""All rows in the usual order: the worst first, and of equals the one with the first path.

Ten thousand rows are put in order a few times a second, while few of them have changed. So each
has one number that says how urgent it is, and no two have the same; the numbers are made and
compared without a line of Python for each row, and sorting begins with the order of before.

When rows may change places: nobody can read a list that is shuffled twenty times a second.

Values change as they come. The order follows twice a second at most, not while the user
moves the cursor, and without news only now and then, because waiting adds up.
"""

from collections.abc import Iterable, Sequence
from itertools import count, repeat
from operator import add, gt, mul
from typing import Final

from zktop.model.facts import Millis
from zktop.model.text import Text
from zktop.ui.screens.locks.row import LockRow


class Ranking:
    """The order of rows, told of every row that is another one now."""

    def __init__(self, rows: Iterable[LockRow] = ()) -> None:
        """Begin with these rows, in the order of their paths."""
        self._rows = list(rows)
        self._places = places(self._rows)
        # How urgent a row is grows evenly. Its place makes a difference where nothing else does.
        self._urgent = [row.urgent * len(self._rows) - at for at, row in enumerate(self._rows)]
        self._urges = [row.urges for row in self._rows]
        self._order = list(self._places.values())  # the very numbers: ten thousand take room
        self._given: list[LockRow] | None = None

    def put(self, path: Text, row: LockRow | None) -> bool:
        """Put a row in the place of the one before; False when it needs a place of its own."""
        place = self._places.get(path)
        if place is None or row is None or _is_shadow(row) or _is_shadow(self._rows[place]):
            return False
        self._rows[place] = row
        self._urgent[place] = row.urgent * len(self._rows) - place
        self._urges[place] = row.urges
        self._given = None
        return True

    def ordered(self, now: Millis) -> list[LockRow]:
        """Give the rows in order; the same list for as long as it would be the same."""
        passed = repeat(now * len(self._rows))
        urgencies = list(map(add, self._urgent, map(mul, self._urges, passed)))
        if self._given is None or not _falls(list(map(urgencies.__getitem__, self._order))):
            self._order.sort(key=urgencies.__getitem__, reverse=True)
            self._given = list(map(self._rows.__getitem__, self._order))
        return self._given


def places(rows: Iterable[LockRow]) -> dict[Text, int]:
    """Tell at which place the row of each path is."""
    return dict(zip([row.lock.path for row in rows], count(), strict=False))


def _is_shadow(row: LockRow) -> bool:
    return row.gone_at is not None


def _falls(numbers: Sequence[int]) -> bool:
    return all(map(gt, numbers, numbers[1:]))


BETWEEN_S: Final = 0.5
AFTER_KEY_S: Final = 1.0
AGING_S: Final = 10.0


class Pace:
    """Says how long the next ordering has to wait; told the time, it looks at no clock."""

    def __init__(self) -> None:
        """Begin with everything out of order."""
        self._is_stale = True
        self._at = -AGING_S

    def changed(self) -> None:
        """Take note that rows are others now."""
        self._is_stale = True

    def wait(self, now_s: float, moved_at_s: float = 0.0) -> float | None:
        """Give the seconds until the order may change; None when there is no need.

        >>> pace = Pace()
        >>> pace.wait(10.0), pace.ordered(10.0), pace.wait(10.1)
        (0.0, None, None)
        >>> pace.changed(), round(pace.wait(10.1), 2), round(pace.wait(10.4, moved_at_s=10.3), 2)
        (None, 0.4, 0.9)
        """
        if not self._is_stale and now_s - self._at < AGING_S:
            return None
        return max(0.0, self._at + BETWEEN_S - now_s, moved_at_s + AFTER_KEY_S - now_s)

    def ordered(self, now_s: float) -> None:
        """Take note that everything is in order."""
        self._is_stale, self._at = False, now_s
