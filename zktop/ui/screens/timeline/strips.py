"""The past in strips: one column is the same span of time for every lock and every actor.

A column tells how it stood at its end; of the queue the longest in it. Where it hides more than
one change of the holder it says so with a colon, so that nothing is lost without a trace.

What the waiting in sight adds up to, and who has waited longest at the cursor.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from zktop.model.facts import Millis, Session
from zktop.model.format import spoken
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.state_changes import AlarmState, LockState, SessionState, StateChanges
from zktop.ui.screens.common.format import age, time_ms, time_s, with_spaces
from zktop.ui.screens.findings.steps import brief_paths
from zktop.ui.screens.locks.row import MAX_MEMBERS_DATED
from zktop.ui.state import ViewState
from zktop.ui.styled_text import Ink, Line, Run, fitted, joined, line

ZOOMS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
LETTERS: Final = "ABCDEFGHIJKLMNOPQTUVWXYZ"  # without R, several readers, and S, several leases
OTHERS: Final = "abcdefghijklmnopqrstuvwxyz"
RULED: Final = 20  # columns between two times
MANY: Final = 10
INKS: Final[dict[str, Ink]] = {
    "#": "holds", "=": "waits", "-": "waits", "!": "critical", "?": "warning", "x": "critical",
    ".": "dim", " ": "dim", ":": "info", "0": "dim", "p": "good",
}  # fmt: skip

UNFOLLOWED: Final = line(("? not followed: its lock has too many waiters", "unknown"))
T = TypeVar("T")


class TimeWindow(NamedTuple):
    """The span of time in sight."""

    begin: Millis
    column_ms: int
    columns: int
    newest: Millis  # nothing is known of after this

    @property
    def end(self) -> Millis:
        """When it ends."""
        return self.begin + self.columns * self.column_ms

    def column(self, at: Millis) -> int:
        """Give the column that a moment is in."""
        return (at - self.begin) // self.column_ms

    def time(self, column: int) -> Millis:
        """Give the last moment of a column."""
        return min(self.begin + (column + 1) * self.column_ms - 1, self.newest)


def window(at: Millis, begin: Millis, newest: Millis, column_ms: int, columns: int) -> TimeWindow:
    """Choose the span around a moment: its end is the newest moment where that is in reach."""
    span = column_ms * columns
    last = newest - newest % column_ms + column_ms
    start = min(last - span, at - at % column_ms - span // 2)
    start = max(start, begin - begin % column_ms)
    return TimeWindow(start, column_ms, columns, newest)


def title(moment: ViewState, seen: TimeWindow) -> Line:
    """Say which moment it is, and how much is kept around it."""
    begin = moment.tape.begin or seen.begin
    length = spoken(max(0, seen.newest - begin) / 1000)
    if moment.is_newest and moment.status.word == "lost":
        how = Run("THE NEWEST THAT IS KNOWN", "warning")
    elif moment.is_newest:
        how = Run("LIVE", "good")
    elif moment.is_playing:
        how = Run(f"PLAYING {moment.speed:g}x", "good")
    else:
        how = Run(f"PAUSED at {time_ms(moment.at or 0)}", "paused")
    kept = f"   {length} kept, {time_ms(begin)[:8]} to {time_ms(seen.newest)[:8]} UTC"
    speed = f"   speed {moment.speed:g}x" if not moment.is_newest else ""
    thin = "   thinned: some moments between are left out" if moment.tape.times_thinned else ""
    return (Run(" TIMELINE ", "title"), how, Run(f"{kept}{speed}{thin}", "dim"))


def ruler(seen: TimeWindow) -> list[Line]:
    """Draw the times above the columns."""
    named = [" "] * seen.columns
    marks = ["." for _ in range(seen.columns)]
    for column in range(0, seen.columns, RULED // 2):
        marks[column] = "'" if column % RULED else "|"
        name = time_s(seen.begin + column * seen.column_ms)
        if column % RULED == 0 and column + len(name) <= seen.columns:
            named[column : column + len(name)] = name
    return [line(("".join(named), "dim")), line(("".join(marks), "dim"))]


def cursor(seen: TimeWindow, at: Millis, mark: Millis | None = None) -> Line:
    """Draw where in time we are, and what is between there and the mark."""
    column, said = seen.column(at), time_ms(at)
    if not 0 <= column < seen.columns:
        return ()
    marked = column if mark is None else seen.column(mark)
    needed = len(said) + 2
    is_free_at_right = column + needed <= seen.columns and marked <= column
    at_left = column >= needed and not is_free_at_right
    text = f"{said} ^".rjust(column + 1) if at_left else f"{' ' * column}^ {said}"
    cells = list(text.ljust(seen.columns))
    for one in range(max(0, min(marked, column)), min(seen.columns, max(marked, column) + 1)):
        cells[one] = "-" if cells[one] == " " else cells[one]
    if marked != column and 0 <= marked < seen.columns:
        cells[marked] = "m"
    return line(("".join(cells).rstrip(), "selected"))


def alarms(past: StateChanges, seen: TimeWindow) -> Line:
    """Draw when something was badly wrong, or probably so."""
    known = range(min(seen.columns, seen.column(seen.newest) + 1))
    return inked("".join(_alarm(past.alarm_at(seen.time(one))) for one in known))


def _alarm(one: AlarmState) -> str:
    return "." if not one.bad else "!" if one.is_sure else "?"


def lock_strip(
    past: StateChanges, path: Text, seen: TimeWindow, letters: Mapping[Session, str]
) -> tuple[Line, Line]:
    """Draw who held a lock, and how long its queue was."""
    before, changes = past.lock_states(path, seen.begin, min(seen.end, seen.newest + 1))
    others: dict[tuple[Session, ...], str] = {}
    held: list[str] = []
    queue: list[str] = []
    stand = before
    for inside in by_column(changes, seen, _at):
        passed = [one for one in (stand, *inside) if one is not None]
        turns = sum(one.holders != two.holders for one, two in pairwise(passed))
        stand = passed[-1] if passed else None
        held.append(":" if turns > 1 else _holder(stand, letters, others))
        queue.append(_digit(max((one.queue for one in passed), default=None)))
    return inked("".join(held), letters), inked("".join(queue))


def by_column(
    changes: Sequence[T], seen: TimeWindow, at: Callable[[T], Millis]
) -> Iterator[list[T]]:
    """Give what changed in each column that something is known of."""
    place = 0
    for column in range(min(seen.columns, seen.column(seen.newest) + 1)):
        end = seen.begin + (column + 1) * seen.column_ms
        inside = []
        while place < len(changes) and at(changes[place]) < end:
            inside.append(changes[place])
            place += 1
        yield inside


def _holder(
    stand: LockState | None, letters: Mapping[Session, str], others: dict[tuple[Session, ...], str]
) -> str:
    if stand is None:
        return " "
    if not stand.holders:
        return "."
    if len(stand.holders) > 1:
        return "R" if stand.are_readers else "S"
    known = letters.get(stand.holders[0])
    return known or others.setdefault(stand.holders, OTHERS[len(others) % len(OTHERS)])


def _digit(queue: int | None) -> str:
    if queue is None:
        return " "
    return str(queue) if queue < MANY else "*"


def actor_strip(past: StateChanges, session: Session, seen: TimeWindow) -> Line:
    """Draw what a session did."""
    if session not in past.sessions:  # it has a place in a lock too large to be followed
        return UNFOLLOWED
    doing, changes = past.session_states(session, seen.begin, min(seen.end, seen.newest + 1))
    cells: list[str] = []
    for column, inside in enumerate(by_column(changes, seen, _at)):
        doing = inside[-1] if inside else doing
        alarm = past.alarm_at(seen.time(column))
        stuck = "!" if session in alarm.proven else "?" if session in alarm.suspected else ""
        cells.append(sign(doing, stuck))
    return inked("".join(cells))


def contact_strip(contacts: Iterable[Millis], seen: TimeWindow) -> Line:
    """Draw when a session was heard of."""
    cells = ["."] * min(seen.columns, seen.column(seen.newest) + 1)
    for at in contacts:
        if 0 <= (column := seen.column(at)) < len(cells):
            cells[column] = "p"
    return inked("".join(cells))


def sign(doing: SessionState | None, stuck: str = "") -> str:
    """Give the sign of what a session does; `stuck` stands for it while it is in a deadlock."""
    if doing is None:
        return "."
    if doing.is_lost:
        return "x"
    if stuck and (doing.holds or doing.waits):
        return stuck
    if doing.holds and doing.waits:
        return "="
    return "#" if doing.holds else "-" if doing.waits else "."


def inked(cells: str, letters: Mapping[Session, str] | None = None) -> Line:
    """Give each run of the same meaning its ink."""
    runs: list[Run] = []
    named = set((letters or {}).values())
    for cell in cells:
        ink: Ink = "strong" if cell in named else INKS.get(cell, "plain")
        if runs and runs[-1].ink == ink:
            runs[-1] = Run(runs[-1].text + cell, ink)
        else:
            runs.append(Run(cell, ink))
    return tuple(runs)


def _at(one: LockState | SessionState) -> Millis:
    return one.at


def row(label: str, drawn: Line, width: int, ink: Ink = "plain") -> Line:
    """Put a strip beside its label; of a long one the end is kept, which tells more."""
    text = label if len(label) < width else f"…{label[len(label) - width + 2 :]}"
    return (*fitted(line((text, ink)), width), *drawn)


def scale(seen: TimeWindow) -> str:
    """Say what a column is.

    >>> scale(TimeWindow(0, 500, 60, 0))
    '1 column = 0.5s'
    """
    return f"1 column = {spoken(seen.column_ms / 1000)}"


SECOND_MS: Final = 1000


class OngoingWait(NamedTuple):
    """Somebody who waits, and since when."""

    at: Millis
    path: Text
    who: str
    said: str


def wait_totals(
    past: StateChanges, paths: Sequence[Text], seen: TimeWindow, report: Report, *, is_ascii: bool
) -> list[Line]:
    """Add up the seconds that all have waited for these locks in the time in sight."""
    paths = [path for path in paths if not _is_election(report, path)]
    called = brief_paths(paths)
    blocked = {path: blocked_ms(past, path, seen) // SECOND_MS for path in paths}
    told = [
        line(f"{called[path]} ", (with_spaces(seconds), "waits" if seconds else "dim"))
        for path, seconds in blocked.items()
    ]
    longest = min(_waits(paths, report, is_ascii=is_ascii), default=None)
    wait = (
        [
            line(
                ("LONGEST WAIT ", "title"),
                f"{longest.said} {longest.who} in {called[longest.path]}",
            )
        ]
        if longest
        else []
    )
    return [joined([line(("BLOCKED*s in sight", "title")), *told, *wait])] if told else []


def _is_election(report: Report, path: Text) -> bool:
    """Tell whether those who wait wait for nothing that they miss."""
    part = report.parts.get(path)
    return part is not None and part.lock.kind == "election"


def blocked_ms(past: StateChanges, path: Text, seen: TimeWindow) -> Millis:
    """Add up how long all together have waited for a lock in a span of time."""
    end = min(seen.end, seen.newest)
    before, changes = past.lock_states(path, seen.begin, end)
    stands = [*([before._replace(at=seen.begin)] if before else []), *changes]
    if not stands:
        return 0
    steps = pairwise([*stands, stands[-1]._replace(at=end)])
    return sum(one.queue * max(0, two.at - one.at) for one, two in steps)


def _waits(paths: Sequence[Text], report: Report, *, is_ascii: bool) -> Iterator[OngoingWait]:
    for path in paths:
        part = report.parts.get(path)
        for member in part.lock.waiters[:MAX_MEMBERS_DATED] if part else ():
            since = part.history.since(member, holds=False) if part else None
            if since is not None and since.at is not None:
                who = report.client_names(member.owner, member.label)
                said = age(since.at, since.how, report.now, is_ascii=is_ascii)
                yield OngoingWait(since.at, path, who, said)
