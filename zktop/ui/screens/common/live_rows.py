"""The rows of the two large tables, locks and sessions: their order, filter and groups.

A row is replaced only when its lock or session changes. Sorting and grouping visit all rows, so
`RowSorter` limits how often they run.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, Generic, Protocol, TypeVar

from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.ui.filters import Filter
from zktop.ui.screens.common.throttle import READABLE_S
from zktop.ui.screens.page import Page
from zktop.ui.textual_fixes.work_in_steps import call_after, call_in_steps, is_done_after_step
from zktop.ui.widgets.table import RowGroup, Table

TEXTS_AT_ONCE: Final = 200  # writing them takes some 3 ms
SEARCHED_AT_ONCE: Final = 60_000  # texts that are ready: searching them takes some 25 ms


class LiveRow(Protocol):
    """The values that decide the position of a row in the table."""

    @property
    def key(self) -> Hashable:
        """The path or session that identifies the row."""

    @property
    def group(self) -> str:
        """The name of the group that the row joins while it is quiet; empty for no group."""

    @property
    def is_quiet(self) -> bool:
        """True if nothing is wrong with it."""

    @property
    def urgency(self) -> int:
        """The sort key at time 0. Rows with larger numbers come first."""

    @property
    def growth(self) -> int:
        """How much the urgency grows per millisecond."""


R = TypeVar("R", bound=LiveRow)
V = TypeVar("V")


class ValueByRow(dict[R, V]):
    """A value for each row, computed when it is first needed."""

    compute: Callable[[R], V]

    def __missing__(self, row: R) -> V:
        value = self[row] = self.compute(row)
        return value

    def make(self, rows: Collection[R]) -> Iterator[None]:
        """Compute the values of these rows, in steps if many are missing."""
        if len(rows) - len(self) <= TEXTS_AT_ONCE:
            return
        for number, row in enumerate(tuple(rows), start=1):
            self[row]
            if number % TEXTS_AT_ONCE == 0:
                yield


class LiveRows(Generic[R]):
    """All rows by key, in the usual order: the most urgent first, then by key.

    When a group has `min_group` quiet rows, they fold into one line, until there are fewer than
    `keep_group`. A row that becomes quiet joins its group `linger_ms` later.
    """

    group_type: type[RowGroup[Any]] = RowGroup

    def __init__(self, min_group: int, keep_group: int, linger_ms: Millis = 0) -> None:
        self.rows: dict[Any, R] = {}
        self.has_changed = False
        self.is_grouped = True
        self.open_groups: set[str] = set()  # their names
        self._min_group, self._keep_group, self._linger_ms = min_group, keep_group, linger_ms
        self._groups: set[str] = set()
        self._groups_of: Sequence[R] = ()  # the rows that they were computed from
        self._quiet_from: dict[Hashable, Millis] = {}  # when rows that linger join their group
        self._is_by_key = False  # whether the rows are sorted by key; adding a row ends that
        self._ordered: list[R] | None = None  # all rows; None: a row has changed since
        self._ordered_at: Millis = 0
        self._can_overtake = False  # some rows become urgent faster than others
        self._texts: dict[str, ValueByRow[R, str]] = {}  # by field; kept while a filter is set
        self._matches = ValueByRow[R, bool]()  # whether each row matches the filter
        self._matches_of: str | None = None  # the text of that filter

    def read(self, report: Report) -> Iterator[None]:
        """Apply a report, in steps if that takes long; for subclasses."""
        raise NotImplementedError

    def take_changed(self) -> bool:
        """True if rows have changed since the last call."""
        has_changed, self.has_changed = self.has_changed, False
        return has_changed

    def put(self, row: R, at: Millis | None = None) -> None:
        """Add or replace a row. `at` is when it changed, or None if the user went back in time."""
        old = self.rows.get(row.key)
        self.forget(old)
        if old is None:
            self._is_by_key = False
        elif at is not None and self._linger_ms and row.is_quiet and not old.is_quiet:
            self._quiet_from[row.key] = at + self._linger_ms
        self.rows[row.key] = row

    def remove(self, key: Hashable) -> R | None:
        row = self.rows.pop(key, None)
        if row is not None:
            self.forget(row)
            self._quiet_from.pop(key, None)
        return row

    def forget(self, row: R | None) -> None:
        """Drop what was computed for a row that was replaced, removed or renamed."""
        self._ordered = None
        if row is not None:
            self._matches.pop(row, None)
            for texts in self._texts.values():
                texts.pop(row, None)

    @property
    def keeps_texts(self) -> bool:
        """True while row texts are cached for a filter."""
        return bool(self._texts)

    def toggle(self, group: str) -> None:
        self.open_groups ^= {group}

    def listed(
        self, now: Millis, wanted: Filter, apart: Iterable[Hashable] = (), *, is_sorted: bool
    ) -> Sequence[R | RowGroup[R]]:
        """Return the lines to show: no groups if the user filters or sorts."""
        rows = self.ordered(now)
        if wanted:
            matches = self._matching(wanted)
            return [row for row in rows if matches[row]]
        self._texts.clear()
        self._matching(wanted)  # drop the matches of the previous filter
        return rows if is_sorted or not self.is_grouped else self.grouped(rows, now, apart)

    def prepare(self) -> Iterator[None]:
        """Build the texts that a filter searches, in steps: 1.5 s for 100,000 locks."""
        if self.rows:  # none before the first report
            self._text_of("", self.fields[""])
            yield from self._texts[""].make(self.rows.values())

    def search(self, wanted: Filter) -> Iterator[None]:
        """Find the rows that match, in steps if they are many or their texts are not ready."""
        if not (self.rows and wanted):
            return
        matches = self._matching(wanted)
        fields = {word.field for word in wanted.words} & self._texts.keys()
        are_ready = all(len(self._texts[field]) == len(self.rows) for field in fields)
        if not are_ready or len(self.rows) > SEARCHED_AT_ONCE:
            yield from matches.make(self.rows.values())

    def _matching(self, wanted: Filter) -> ValueByRow[R, bool]:
        if wanted.text != self._matches_of:
            self._matches, self._matches_of = ValueByRow(), wanted.text
        if wanted:
            fields = self.fields.items()
            cached = {name: self._text_of(name, text_of) for name, text_of in fields}
            self._matches.compute = wanted.matcher(cached)
        return self._matches

    def _text_of(self, field: str, text_of: Callable[[R], str]) -> Callable[[R], str]:
        texts = self._texts.setdefault(field, ValueByRow())
        texts.compute = text_of
        return texts.__getitem__

    @property
    def fields(self) -> Mapping[str, Callable[[R], str]]:
        """Functions that return the text of each field, by field name."""
        raise NotImplementedError

    def ordered(self, now: Millis) -> Sequence[R]:
        """Return all rows, the most urgent first. Sort only if a row can overtake another."""
        if not self._is_by_key:
            by_key = {key: self.rows[key] for key in sorted(self.rows)}
            self.rows.clear()
            self.rows.update(by_key)
            self._is_by_key = True
        if self._ordered is None or (self._can_overtake and self._ordered_at != now):
            rows = [*self.rows.values()]
            rows.sort(key=lambda row: row.urgency + row.growth * now, reverse=True)
            self._ordered, self._ordered_at = rows, now
            self._can_overtake = any(row.growth != rows[0].growth for row in rows)
        return self._ordered

    def grouped(
        self, rows: Sequence[R], now: Millis, apart: Iterable[Hashable] = ()
    ) -> Sequence[R | RowGroup[R]]:
        """Replace quiet rows with a line for each group, except the rows in `apart`.

        First come rows that are not quiet or are in `apart`. Groups follow, sorted by name, and
        each open one is followed by its rows. Quiet rows without a group are last.
        """
        self._groups = self._large_groups(rows)
        if not self._groups:
            return rows
        alone = {*apart, *self._lingering(now)}
        first: list[R] = []
        rest: list[R] = []
        members: dict[str, list[R]] = {name: [] for name in sorted(self._groups)}
        for row in rows:
            if not row.is_quiet:
                first.append(row)
            elif (name := row.group) not in members:
                rest.append(row)
            elif name not in self.open_groups and row.key in alone:
                first.append(row)
            else:
                members[name].append(row)
        lines: list[R | RowGroup[R]] = [*first]
        for name, quiet in members.items():
            if quiet:
                is_open = name in self.open_groups
                lines.append(self.group_type(name, tuple(quiet), is_open))
                lines += quiet if is_open else ()
        return [*lines, *rest]

    def _large_groups(self, rows: Sequence[R]) -> set[str]:
        if rows is self._groups_of:
            return self._groups
        self._groups_of = rows
        counts: dict[str, int] = {}
        for row in rows:
            if row.is_quiet and (name := row.group):
                counts[name] = counts.get(name, 0) + 1
        return {
            name
            for name, count in counts.items()
            if count >= (self._keep_group if name in self._groups else self._min_group)
        }

    def _lingering(self, now: Millis) -> Iterable[Hashable]:
        """Return the keys of rows that became quiet a moment ago. Forget older ones."""
        self._quiet_from = {
            key: at for key, at in self._quiet_from.items() if now < at <= now + self._linger_ms
        }
        return self._quiet_from


class ReadingInSteps:
    """Reads a report into the rows of a page, and draws it after the first and the last step.

    Building 100,000 rows at once would freeze a screen for a second when it is first opened, or
    when the user goes to another time.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.is_under_way = False

    def read(self, rows: LiveRows[Any], report: Report) -> bool:
        """Read a report into the rows. Return False if it, or an earlier report, takes steps."""
        if self.is_under_way:
            return False
        steps = rows.read(report)
        if is_done_after_step(steps):
            return True
        self.is_under_way = True
        call_in_steps(self._page, self._rest(steps), then=self._end)
        return False

    def _rest(self, steps: Iterator[None]) -> Iterator[None]:
        self._page.redraw()
        yield
        yield from steps

    def _end(self) -> None:
        self.is_under_way = False
        self._page.redraw()


AFTER_KEY_S: Final = 1.0  # rows keep their places while the user moves the cursor
AGING_S: Final = 30.0  # sort again even without changes, if waiting times decide the order
MAX_SHARE: Final = 1 / 50  # share of the time that sorting may take


class RowSorter:
    """Sorts the rows of a table: at once, or no more often than a reader can follow.

    `prepare` does slow work in steps between keys; rows keep their places until it is done.
    """

    def __init__(
        self,
        table: Table[Any],
        order: Callable[[], object],
        prepare: Callable[[], Iterator[None]] = lambda: iter(()),
        *,
        aging_s: float = AGING_S,
    ) -> None:
        self._table, self._order, self._prepare = table, order, prepare
        self._aging_s = aging_s
        self._is_preparing = False
        self._is_stale = True
        self._is_scheduled = False
        self._ended_s, self._took_s = -AGING_S, 0.0

    def changed(self) -> None:
        """Note that rows have changed, so their order may be wrong."""
        self._is_stale = True

    def now(self) -> None:
        """Sort the rows, or start to prepare for it."""
        if self._is_preparing:
            return
        steps = self._prepare()
        if not is_done_after_step(steps):
            self._is_preparing = True
            call_in_steps(self._table, steps, then=self._prepared)
            return
        began = perf_counter()
        self._order()
        self._ended_s = perf_counter()
        self._took_s, self._is_stale = self._ended_s - began, False

    def _prepared(self) -> None:
        self._is_preparing = False
        self.now()

    def when_due(self) -> None:
        """Sort the rows as soon as they may move. Until then, only draw new values."""
        wait = self.wait_s(perf_counter(), self._table.moved_at)
        if wait is not None and wait <= 0:
            self.now()
            return
        if wait is not None and not self._is_scheduled:
            self._is_scheduled = True
            call_after(wait, self._table, self._later)
        self._table.repaint()

    def _later(self) -> None:
        self._is_scheduled = False
        self.when_due()

    def wait_s(self, now_s: float, moved_at_s: float) -> float | None:
        """Return the seconds until rows may move; None if the order is still right."""
        if not self._is_stale and now_s - self._ended_s < self._aging_s:
            return None
        between = max(READABLE_S, self._took_s / MAX_SHARE)
        return max(0.0, self._ended_s + between - now_s, moved_at_s + AFTER_KEY_S - now_s)
