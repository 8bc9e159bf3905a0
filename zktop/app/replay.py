"""A recorded run as a stream of reports: the same facts, examined at the same times."""

from collections.abc import Callable, Iterator
from pathlib import Path

from zktop.errors import NothingToLookAtError
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Millis
from zktop.model.format import iso
from zktop.model.report import Report
from zktop.model.settings import Root, Settings
from zktop.model.world.world import World
from zktop.recording import LookMark, Recording


class Replay:
    """One recording, examined with the settings of the recorded run, or with others."""

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open the file; raise UsageError if it cannot be read or is not a recording."""
        self._recording = Recording(path)
        header = self._recording.header
        self.hosts, slash, chroot = header.hosts.partition("/")
        self.chroot = slash + chroot
        self.begin = min((at for at, _ in self._recording.starts()), default=0)
        self.opens_at = header.opens_at
        roots = tuple(map(Root, header.roots))
        self.settings = settings or header.settings or Settings(roots=roots)

    @property
    def path(self) -> Path:
        return self._recording.path

    @property
    def is_cut_off(self) -> bool:
        """Whether the end of the file is missing; known after reading to the end."""
        return self._recording.cut_off

    @property
    def notes(self) -> tuple[str, ...]:
        """What an import left out, and why; known after reading to the end."""
        imported = self._recording.imported
        return imported.notes if imported else ()

    def reports(self, until: Millis | None = None) -> Iterator[Report]:
        """Yield every report of the live run, up to a moment."""
        examiner, world = Examiner(self.settings), World()
        facts: list[AnyFact] = []
        for line in self._recording.story():
            if not isinstance(line, LookMark):
                facts.append(line)
            elif until is not None and line.at > until:
                return
            else:
                world, facts = world.after(*facts) if facts else world, []
                yield examiner.look(world, line.at, thorough=line.thorough)

    def last(
        self,
        until: Millis | None = None,
        on_report: Callable[[Report], object] = lambda _report: None,
    ) -> Report:
        """Return the last report up to a moment; pass all reports to `on_report`."""
        newest: Report | None = None
        for report in self.reports(until):
            on_report(report)
            newest = report
        if newest is None:
            when = f" before {iso(until)}" if until is not None else ""
            raise NothingToLookAtError(f"{self.path} has no report{when}.")
        return newest
