"""A recorded run as a stream of reports: the same facts, examined at the same times."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from zktop.app.flight_recorder.read_ring import RingRecording
from zktop.app.flight_recorder.ring_folder import finding_time
from zktop.errors import NothingToLookAtError, UsageError
from zktop.model.examiner import Examiner
from zktop.model.facts import MINUTE_MS, AnyFact, Link, Millis
from zktop.model.format import iso
from zktop.model.layouts.layout import compiled_pattern
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.recording import Header, LookMark, Recording

NOT_RECORDED = Text("nothing was recorded then")
CUT_OFF = "truncated, damaged or from a newer zktop: it was read up to its last valid line"


class Replay:
    """A recording or a flight recorder's folder, examined with its own settings or others."""

    def __init__(
        self, path: Path, settings: Settings | None = None, *, ranks_blockers: bool = True
    ) -> None:
        """Open the file or folder. Raise UsageError if it cannot be read or is not a recording.

        Without `ranks_blockers`, the reports have no root blockers.
        """
        self._ranks_blockers = ranks_blockers
        self._recording = RingRecording(path) if path.is_dir() else Recording(path)
        header = self._recording.header
        self.hosts, slash, chroot = header.hosts.partition("/")
        self.chroot = slash + chroot
        self.begin = self._recording.begin
        self.opens_at = header.opens_at
        if self.opens_at is not None:
            # If several findings share a file, the name of the link has the time of each.
            self.opens_at = finding_time(path) or self.opens_at
        self.on_look: Callable[[Millis], object] = lambda _at: None
        roots = tuple(map(Root, header.roots))
        self.settings = settings or header.settings or Settings(roots=roots)
        try:
            for pattern in _patterns(self.settings):
                compiled_pattern(pattern)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            why = f"with a pattern that this Python cannot read: {error}"
            raise UsageError(f"{path} was recorded {why}.") from error

    @property
    def path(self) -> Path:
        return self._recording.path

    @property
    def last_known_time(self) -> Millis:
        """The latest time of the recording that is known without reading all of it."""
        return self._recording.last_known_time

    @property
    def is_cut_off(self) -> bool:
        """Whether the end of the file is missing. This is known after reading to the end."""
        return self._recording.cut_off

    @property
    def notes(self) -> tuple[str, ...]:
        """What an import left out, and why."""
        imported = self._recording.imported
        return imported.notes if imported else ()

    @property
    def proof(self) -> str | None:
        """How much of an import the servers' digests prove, or None if they wrote none."""
        imported = self._recording.imported
        if imported is None or not imported.with_digest:
            return None
        proven, number = imported.proven, imported.with_digest
        return f"The servers' digests prove {proven} of {number} transactions."

    @property
    def known_until(self) -> Millis | None:
        """When the files of an import end."""
        imported = self._recording.imported
        return imported.known_until if imported else None

    def start_near(self, at: Millis | None) -> None:
        """Begin 15 minutes before a time or the end, if that skips a large part of the file.

        Examining all reports of a day takes minutes.
        """
        self._recording.start_near(at)

    def reports(self, until: Millis | None = None) -> Iterator[Report]:
        """Yield every report of the live run up to a moment, and one at each gap.

        A live run looks every few seconds at least, so a moment more than a minute after a look
        lies in a gap. An import has no such gaps: it proves that nothing happened in between.
        """
        examiner = Examiner(self.settings, ranks_blockers=self._ranks_blockers)
        world = World()
        facts: list[AnyFact] = []
        looked_at: Millis | None = None
        for line in self._recording.story():
            if isinstance(line, Header):
                if looked_at is not None:  # a gap looks like a lost connection
                    yield examiner.look(_lost(world, looked_at), looked_at)
                world, facts = World(gap_at=looked_at or 0), []
            elif not isinstance(line, LookMark):
                facts.append(line)
            elif until is not None and line.at > until:
                if all(fact.at > until for fact in facts):  # nothing happened up to `until`
                    yield from self._after(looked_at, examiner, world, until)
                return
            else:
                world, facts = world.after(*facts) if facts else world, []
                looked_at = max(line.at, looked_at or 0)  # the clock may have been set back
                self.on_look(looked_at)
                yield examiner.look(world, looked_at, thorough=line.thorough)
        if until is not None:
            yield from self._after(looked_at, examiner, world, until, is_at_end=True)

    def _after(
        self,
        looked_at: Millis | None,
        examiner: Examiner,
        world: World,
        until: Millis,
        *,
        is_at_end: bool = False,
    ) -> Iterator[Report]:
        """Yield a report of the moment: in a quiet time of an import, or in a gap."""
        if looked_at is None or until <= looked_at:
            return
        if is_at_end and until > (self.known_until or 0):
            if until > looked_at + MINUTE_MS:
                yield examiner.look(_lost(world, looked_at), looked_at)
        elif world.complete_to:  # an import rarely looks in quiet times
            yield examiner.look(world, until)

    def last(
        self,
        until: Millis | None = None,
        on_report: Callable[[Report], object] = lambda _report: None,
        *,
        is_whole: bool = False,
    ) -> Report:
        """Return the last report up to a moment, and pass every report on the way to `on_report`.

        Reading begins about 15 minutes earlier, or with `is_whole` at the beginning.
        """
        if not is_whole:
            self.start_near(until)
        newest: Report | None = None
        for report in self.reports(until):
            on_report(report)
            newest = report
        if newest is None:
            when = f" before {iso(until)}" if until is not None else ""
            raise NothingToLookAtError(f"{self.path} has no report{when}.")
        return newest


def _lost(world: World, at: Millis) -> World:
    """Return a world whose connection was lost when the recorder ended."""
    return world.after(Link(state="lost", why=NOT_RECORDED, zxid=world.zxid, at=at))


def _patterns(settings: Settings) -> Iterator[str]:
    """Yield every regular expression of these settings."""
    yield settings.identity_pattern or ""
    for layout in settings.layouts:
        yield from (layout.pattern, layout.unseen)
        for view in layout.sights:
            for written in (view.counts, view.key, view.bars):
                yield written.replace("{NAME}", "x")
