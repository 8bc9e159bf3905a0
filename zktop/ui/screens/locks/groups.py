"""Folds quiet siblings: of many locks below one parent, those that need nobody are one line.

A lock is quiet when nothing is known to be wrong with it and nobody waits for it. What it adds to
its parent's line is counted when its row changes, so that ten thousand of them cost as much as
the few that changed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

import msgspec

from zktop.model.facts import Millis
from zktop.model.text import Text
from zktop.ui.screens.common.status_codes import FREE
from zktop.ui.screens.locks.row import LockRow

MANY: Final = 20  # quiet siblings that are folded
TOO_FEW: Final = 10  # ... and so few are shown again: in between nothing changes
RESTS_MS: Final[Millis] = 10_000  # who was of interest stays in sight for so long


class LockGroup(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The line that stands for quiet siblings."""

    parent: Text
    count: int
    held: int
    unknown: int  # of them, how many may have waiters that cannot be seen
    blocked_ms: Millis  # what was waited for them, before they were quiet
    kind: str  # nothing: of several kinds
    is_open: bool

    @property
    def path(self) -> str:
        """Name them all."""
        return f"{self.parent}/*"


Entry = LockRow | LockGroup


class GroupTotals:
    """What the quiet locks below one parent add up to."""

    __slots__ = ("all", "blocked_ms", "count", "held", "is_many", "kinds", "parent", "unknown")

    def __init__(self, parent: Text) -> None:
        """Begin with none."""
        self.parent = parent
        self.all = 0  # whether quiet or not
        self.count = self.held = self.unknown = self.blocked_ms = 0
        self.kinds: Counter[str] = Counter()
        self.is_many = False

    def add(self, row: LockRow, times: int = 1) -> None:
        """Count a quiet lock; minus one time, when it is quiet no more."""
        self.count += times
        self.held += times * (row.mark is not FREE)
        self.unknown += times * (row.waiting is None)
        if row.lock.kind != "election":  # its candidates wait for nothing
            self.blocked_ms += times * row.history.blocked_ms
        self.kinds[row.lock.kind] += times
        self.is_many = self.count >= (TOO_FEW if self.is_many else MANY)

    def group(self, apart: Iterable[LockRow], *, is_open: bool) -> LockGroup:
        """Give their line; some of them may be shown apart from it."""
        left = GroupTotals(self.parent)
        left.kinds.update(self.kinds)
        left.count, left.held, left.unknown = self.count, self.held, self.unknown
        left.blocked_ms = self.blocked_ms
        for row in apart:
            left.add(row, -1)
        kinds = [kind for kind, number in left.kinds.items() if number]
        return LockGroup(
            parent=self.parent,
            count=left.count,
            held=left.held,
            unknown=left.unknown,
            blocked_ms=left.blocked_ms,
            kind=kinds[0] if len(kinds) == 1 else "",
            is_open=is_open,
        )


class LockGroups:
    """Which rows are folded; told of every row that is another one now."""

    def __init__(self) -> None:
        """Begin with no row, and with all folds closed."""
        self.is_on = True
        self.opened: set[Text] = set()  # by their parents
        self._families: dict[Text, GroupTotals] = {}
        self._of: dict[Text, GroupTotals] = {}  # path: with whom it is counted
        self._resting: dict[Text, Millis] = {}  # path: until when it stays in sight

    def put(
        self, path: Text, before: LockRow | None, row: LockRow | None, at: Millis | None
    ) -> None:
        """Take a row in place of the one before it; None: there is none.

        `at` is when that happened; None: it did not, the user has gone back in time.
        """
        family = self._of.get(path) or self._joined(path)
        if before is not None and before.is_calm:
            family.add(before, -1)
        if row is None:
            self._leave(path, family)
        elif row.is_calm:
            family.add(row)
            if at is not None and before is not None and not before.is_calm:
                self._resting[path] = at + RESTS_MS
        else:
            self._resting.pop(path, None)

    def _joined(self, path: Text) -> GroupTotals:
        parent = Text(path.rpartition("/")[0])
        family = self._of[path] = self._families.setdefault(parent, GroupTotals(parent))
        family.all += 1
        return family

    def _leave(self, path: Text, family: GroupTotals) -> None:
        del self._of[path]
        self._resting.pop(path, None)
        family.all -= 1
        if not family.all:
            del self._families[family.parent]

    def turn(self) -> None:
        """Show every lock; or close all folds, where that is done already."""
        self.is_on, self.opened = not self.is_on, set()

    def toggle(self, parent: Text) -> None:
        """Open a fold, or close it."""
        self.opened ^= {parent}

    def folded(
        self, rows: Sequence[LockRow], now: Millis, apart: Iterable[object]
    ) -> Sequence[Entry]:
        """Put a line in place of quiet siblings, but not of those that the user wants apart.

        The lines come behind all that is not quiet, by their parents, and what is in an open one
        follows it; then come those that are quiet and few. Where there is nothing to fold it
        gives the very rows that it was given.
        """
        many = [one for one in self._families.values() if one.is_many] if self.is_on else []
        if not many:
            return rows
        shown = self._awake(now) | set(apart)
        of = self._of
        first = [
            row
            for row in rows
            if not row.is_calm or (row.lock.path in shown and self._is_closed(row.lock.path))
        ]
        few = [row for row in rows if row.is_calm and not of[row.lock.path].is_many]
        folds = (
            self._fold(family, rows, first, shown)
            for family in sorted(many, key=lambda one: one.parent)
        )
        return [*first, *chain.from_iterable(folds), *few]

    def _is_closed(self, path: Text) -> bool:
        """Tell whether a quiet lock would be in a fold that is closed."""
        family = self._of[path]
        return family.is_many and family.parent not in self.opened

    def _awake(self, now: Millis) -> AbstractSet[Text]:
        """Name those that were of interest just now; in the past others were."""
        kept = {path: end for path, end in self._resting.items() if now < end <= now + RESTS_MS}
        self._resting = kept
        return kept.keys()

    def _fold(
        self,
        family: GroupTotals,
        rows: Sequence[LockRow],
        first: Sequence[LockRow],
        shown: AbstractSet[object],
    ) -> Iterator[Entry]:
        """Give the line of a fold, and its rows where it is open."""
        of = self._of
        if family.parent in self.opened:
            yield family.group((), is_open=True)
            yield from [row for row in rows if row.is_calm and of[row.lock.path] is family]
            return
        apart = [row for row in first if row.is_calm and row.path in shown]
        own = [row for row in apart if of[row.path] is family]
        if len(own) < family.count:
            yield family.group(own, is_open=False)
