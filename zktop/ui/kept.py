"""What the tape keeps of a frame, what room that takes, and how old frames are thinned out.

Neighbours share almost everything, so a frame takes the room of what changed in it. A change in a
lock of ten thousand members makes new lists of all of them, the servers' tables are new each time
they are read, a finding is told anew whenever its words change, and now and then the table of all
locks is written anew: each of these counts.
"""

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, NamedTuple

from zktop.model.facts import Session
from zktop.model.text import Text
from zktop.ui.ports import Frame

if TYPE_CHECKING:  # the first frame has no report
    from zktop.model.report import Report
    from zktop.model.world import Tables

# How many of each take as much room as one changed lock, or the rest of one frame: 3 to 6 kB.
MEMBERS = LOCKS = 128
ROWS = 25
FINDINGS = 6
FINEST = 256  # of a stretch of time is the shortest step in it that is told apart
COARSER = 0.75  # is the next step to try; half as fine would forget far more than has to go


class Kept(NamedTuple):
    """A frame, and what is different in it from the one before it."""

    number: int
    frame: Frame
    changed: frozenset[Text]  # the paths of locks
    alarms: tuple[str, ...] = ()  # what is newly wrong and bad, by id
    expired: frozenset[Session] = frozenset()
    has_news: bool = False  # of what is wrong, or of the connection
    room: int = 1

    def after(self, before: "Kept | None") -> "Kept":
        """Give it with the room that it takes behind this one."""
        return self._replace(room=_room(self, before))


def thinned(kept: Sequence[Kept], most: int) -> list[Kept]:
    """Leave frames out until the rest takes so little room: the longer ago, the more.

    The newest hour is not worth as much as the newest minute: of each stretch of time as many
    moments stay as of the one before it that was half as long. Those at which something began to
    be wrong stay as long as there is room for them.
    """
    fineness = FINEST
    left = list(kept)
    while fineness and _total(left) > most:
        left = _without(left, _by_age(left, fineness))
        fineness = int(COARSER * fineness)
    total = _total(left)
    forgotten = 0
    while total > most and forgotten < len(left) - 1:
        total -= left[forgotten].room
        forgotten += 1
    return left[forgotten:]


def halved(kept: Sequence[Kept]) -> list[Kept]:
    """Leave out every other frame."""
    return _without(kept, (one.number for one in kept[1::2]))


def _by_age(kept: Sequence[Kept], fineness: int) -> Iterator[int]:
    """Name the frames that follow too soon on the one before them, for how long ago they are."""
    newest, before = kept[-1].frame.at, kept[0].frame.at
    for one in kept[1:]:
        if one.frame.at - before < (newest - one.frame.at) / fineness:
            yield one.number
        else:
            before = one.frame.at


def _without(kept: Sequence[Kept], numbers: Iterable[int]) -> list[Kept]:
    """Leave these out, but no alarm and not the last; what happened is told by the one after."""
    unwanted = set(numbers)
    left: list[Kept] = []
    waiting: Kept | None = None
    for one in kept:
        joined = _joined(waiting, one) if waiting else one
        if joined.number in unwanted and not joined.alarms and one is not kept[-1]:
            waiting = joined
            continue
        left.append(joined.after(left[-1] if left else None) if waiting else joined)
        waiting = None
    return left


def _joined(before: Kept, now: Kept) -> Kept:
    changed, expired = before.changed | now.changed, before.expired | now.expired
    return now._replace(changed=changed, expired=expired, alarms=before.alarms + now.alarms)


def _total(kept: Iterable[Kept]) -> int:
    return sum(one.room for one in kept)


def _room(one: Kept, before: Kept | None) -> int:
    report = one.frame.report
    known = before.frame.report if before is not None else None
    members = sum(_members(report, path) for path in one.changed)
    is_new = known is None or known.parts.base is not report.parts.base
    locks = len(report.parts.base) if is_new else 0
    return (
        1
        + len(one.changed)
        + members // MEMBERS
        + locks // LOCKS
        + _rows(report, known) // ROWS
        + _findings(report, known) // FINDINGS
    )


def _members(report: "Report", path: Text) -> int:
    part = report.parts.get(path)
    return len(part.lock.holders) + len(part.lock.waiters) if part else 0


def _findings(report: "Report", before: "Report | None") -> int:
    """Count the findings that the frame before does not share."""
    if before is None:
        return len(report.findings)
    if report.findings is before.findings:
        return 0
    return len(set(map(id, report.findings)).difference(map(id, before.findings)))


def _rows(report: "Report", before: "Report | None") -> int:
    """Count the rows of the servers' tables that the frame before does not share."""
    known = before.world.tables if before is not None else {}
    return sum(
        len(now or ())
        for server, tables in report.world.tables.items()
        for now, then in zip(_tables(tables), _tables(known.get(server)), strict=True)
        if now is not then
    )


def _tables(tables: "Tables | None") -> tuple[Sized | None, ...]:
    """Give what of a server's tables may be large."""
    one, two, three = (
        (tables.connections, tables.watches, tables.expiry) if tables else (None, None, None)
    )
    return (
        one.rows if one else None,
        two.rows if two else None,
        three.expires_in_ms if three else None,
        three.timeouts_ms if three else None,
    )
