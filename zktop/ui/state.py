"""Everything a page may draw from, at one moment."""

from typing import NamedTuple

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.past.tape import Tape
from zktop.ui.ports import ContendersPort, Exports, Feed, Frame, Status


class TimeRange(NamedTuple):
    """Some time, from its first moment to its last."""

    begin: Millis
    end: Millis


class Selection(NamedTuple):
    """What the user is looking at; the pages hand it to each other."""

    path: str | None = None  # of a lock
    node: str | None = None  # of a contender in it
    session: Session | None = None
    case: str | None = None  # the id of a deadlock or of another finding
    hand: str | None = None  # the name of a contender of ours


def locks_of(report: Report, selection: Selection) -> frozenset[str]:
    """Return the paths of the locks that a selection is about."""
    if selection.case is None:
        return frozenset() if selection.path is None else frozenset((selection.path,))
    cases: tuple[Deadlock | Finding, ...] = (*report.deadlocks, *report.findings)
    return frozenset(path for one in cases if one.id == selection.case for path in one.locks)


class ViewState(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What is shown now: a frame of the tape, and what surrounds it."""

    frame: Frame | None
    status: Status
    tape: Tape
    feed: Feed
    stage: ContendersPort | None = None
    exports: Exports | None = None
    subject: Selection = Selection()
    filter: Filter = NO_FILTER
    index: int | None = None  # of the frame on the tape, where it is not the newest
    at: Millis | None = None  # the moment itself; the frame may be a little older
    is_paused: bool = False
    is_playing: bool = False  # the past goes on by itself
    is_ascii: bool = False
    speed: float = 1.0

    @property
    def is_newest(self) -> bool:
        """Tell whether this is what is known now."""
        return self.feed.is_live and self.index is None

    @property
    def is_stale(self) -> bool:
        """Tell whether the newest picture is of the past: the connection is lost."""
        is_out = self.status.word in ("lost", "failed", "connecting", "reading")
        return is_out and self.is_newest and self.frame is not None
