"""A recorded run as a stream of reports: the same facts, looked at at the same moments."""

from collections.abc import Callable, Iterator
from pathlib import Path

from zktop.cli.output import narrate
from zktop.errors import NothingToLookAtError
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Millis
from zktop.model.format import iso
from zktop.model.report import Report
from zktop.model.settings import Root, Settings
from zktop.model.world.world import World
from zktop.recording import Header, LookMark, Recording


class Replay:
    """One recording, judged by the settings of the run that it is of, or by the user's."""

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open it; what is no recording is refused with a sentence."""
        self._recording = Recording(path)
        header = self._recording.header
        self.hosts, slash, chroot = header.hosts.partition("/")
        self.chroot = slash + chroot
        self.begin = min((at for at, _ in self._recording.starts()), default=0)
        self.narrates = True  # a screen says for itself that a file was cut off
        self.settings = settings or header.settings or _settings(header)

    @property
    def path(self) -> Path:
        """The file."""
        return self._recording.path

    @property
    def is_cut_off(self) -> bool:
        """Tell whether the end of the file is missing; known when it was read to its end."""
        return self._recording.cut_off

    def reports(self, until: Millis | None = None) -> Iterator[Report]:
        """Give every report of the live run up to this moment."""
        examiner, world = Examiner(self.settings), World()
        told: list[AnyFact] = []
        for line in self._recording.story():
            if not isinstance(line, LookMark):
                told.append(line)
            elif until is not None and line.at > until:
                return
            else:
                world, told = world.after(*told) if told else world, []
                yield examiner.look(world, line.at, thorough=line.thorough)
        if self._recording.cut_off and self.narrates:
            narrate(f"{self._recording.path} was cut off: it is read up to its last whole line.")

    def last(self, until: Millis | None = None) -> Report:
        """Give the newest report that is not after this moment."""
        return self.told(lambda _report: None, until)

    def told(self, tell: Callable[[Report], object], until: Millis | None = None) -> Report:
        """Tell of every report up to this moment, and give the last one."""
        newest: Report | None = None
        for report in self.reports(until):
            tell(report)
            newest = report
        if newest is None:
            when = f" before {iso(until)}" if until is not None else ""
            raise NothingToLookAtError(f"{self._recording.path} holds no look{when}.")
        return newest


def _settings(header: Header) -> Settings:
    return Settings(roots=tuple(Root(path) for path in header.roots))
