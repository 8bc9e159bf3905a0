"""What the pages draw: one moment, and what the user has selected."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.acknowledged import NOTHING_ACKNOWLEDGED, Acknowledged
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.interfaces import ContendersPort, Exports, Feed, Frame, Status
from zktop.ui.past.pulse import Pulse
from zktop.ui.past.tape import Tape

KeyOf = Callable[[str], str]  # returns the key of an action, as users write it
PLACE_FIELDS: Final = ("path", "session")  # where a node or a contender is


class TimeRange(NamedTuple):
    """All moments from `begin` to `end`, both included."""

    begin: Millis
    end: Millis


class Selection(NamedTuple):
    """The item that the user selected. Every page shows the same selection."""

    path: str | None = None  # the path of a lock
    node: str | None = None  # the name of a node in that lock
    session: Session | None = None
    case: str | None = None  # id of a deadlock or finding
    contender: str | None = None  # name of a demo contender

    def updated(self, newer: "Selection") -> "Selection":
        """Replace the fields that the newer selection sets.

        The node and contender are dropped when the lock or session changes.
        """
        new_fields = {
            field: value for field, value in newer._asdict().items() if value is not None
        }
        has_moved = any(
            new_fields.get(field, getattr(self, field)) != getattr(self, field)
            for field in PLACE_FIELDS
        )
        remaining = self._replace(node=None, contender=None) if has_moved else self
        return remaining._replace(**new_fields)


def locks_of(report: Report, selection: Selection) -> frozenset[str]:
    """Return the paths of the locks that a selection is about."""
    if selection.case is None:
        return frozenset() if selection.path is None else frozenset((selection.path,))
    cases: tuple[Deadlock | Finding, ...] = (*report.deadlocks, *report.findings)
    return frozenset(path for case in cases if case.id == selection.case for path in case.locks)


class ViewState(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A stored frame, and everything else that a page draws from."""

    frame: Frame | None
    status: Status
    tape: Tape
    feed: Feed
    pulse: Pulse
    key_of: KeyOf  # the user's keys
    contenders: ContendersPort | None = None
    exports: Exports | None = None
    subject: Selection = Selection()
    filter: Filter = NO_FILTER
    acknowledged: Acknowledged = NOTHING_ACKNOWLEDGED
    hides_notes: bool = False  # findings that are purely informational
    is_newest: bool = True  # it follows the live state
    is_unpacking: bool = False  # shows an earlier frame until the one of `at` is rebuilt
    at: Millis | None = None  # the moment; the frame may be slightly older
    is_paused: bool = False
    is_playing: bool = False  # playing the past
    is_ascii: bool = False
    speed: float = 1.0

    @property
    def report(self) -> Report | None:
        return self.frame.report if self.frame is not None else None

    @property
    def chosen_moment(self) -> Millis | None:
        """The moment that the user went to; None at the newest."""
        return None if self.is_newest else self.at

    @property
    def past_frame(self) -> Frame | None:
        """The frame from the past that is shown; None at the newest."""
        return None if self.is_newest else self.frame

    @property
    def is_stale(self) -> bool:
        """True if the connection is lost, so that the newest state is out of date."""
        is_out = self.status.word in ("lost", "failed", "connecting", "reading")
        return is_out and self.is_newest and self.frame is not None
