"""A live run of what clients do, and an import of the same minutes from their servers' files."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from clients.client_processes import ClientProcess, Stage
from clients.snapshots import QUICK
from servers import RunningServer, ask
from waiting import eventually

from zktop.app.import_files import ImportPlan, import_files
from zktop.app.live_run import LiveRun
from zktop.app.replay import Replay
from zktop.model.facts import Millis
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.recording import ImportSummary
from zktop.zk.wall_clock import now_ms

PATIENCE_S = 40.0
SOON_S = 1.0  # the session timeout of a client that is killed
EVENTS = ("queued", "acquired", "released", "abandoned", "expired")


class Moment(NamedTuple):
    """What a report says about the locks, and when."""

    at: int
    locks: dict[str, tuple[list[str], list[str]]]
    deadlocks: list[str]


def moment(report: Report, root: str) -> Moment:
    """The holders and waiters of each lock in queue order, and the deadlocks."""
    locks = {
        str(path): (
            [member.node for member in report.records[path].lock.holders],
            [member.node for member in report.records[path].lock.waiters],
        )
        for path in report.paths
        if path.startswith(f"{root}/")
    }
    return Moment(report.now, locks, [one.id for one in report.deadlocks])


def events(reports: Sequence[Report], root: str) -> list[tuple[str, str, str]]:
    """What happened to the members, in the order of nodes."""
    found = [
        (one.event, str(one.lock), str(one.node))
        for report in reports
        for one in report.events
        if one.event in EVENTS and one.lock.startswith(f"{root}/")
    ]
    return sorted(found, key=lambda one: (one[2], EVENTS.index(one[0])))


class Watcher:
    """A live run that catches up after each act."""

    def __init__(self, stage: Stage, run: LiveRun) -> None:
        self.reports: list[Report] = []
        self._stage, self._reports = stage, run.reports(PATIENCE_S * 10)

    def now(self, **members: int) -> Moment:
        """The state after everything so far, once that many members of these locks were read.

        A report may be as new as the server's last transaction while a new lock is still read.
        """
        found = re.search(r"Zxid: (0x[0-9a-f]+)", ask(self._stage.server.port, "srvr"))
        assert found
        zxid = int(found[1], 16)
        expected = {f"{self._stage.root}/{name}": count for name, count in members.items()}

        def has_all(report: Report) -> bool:
            return report.world.zxid >= zxid and all(
                len(read_members(report, path)) == count for path, count in expected.items()
            )

        return self.until(has_all)

    def until(self, condition: Callable[[Report], bool]) -> Moment:
        """The first state in which this is true; what happens next is in a later millisecond.

        A log tells apart only transactions of different milliseconds.
        """
        for report in self._reports:
            self.reports.append(report)
            if condition(report):
                eventually(partial(_is_past, report.now))
                return moment(report, self._stage.root)
        raise AssertionError("it did not become true")


def _is_past(at: Millis) -> bool:
    return now_ms() > at


def acts(stage: Stage, watcher: Watcher) -> Iterator[Moment]:
    """Kazoo clients queue, release, give up, deadlock, and expire."""
    people = stage.kazoo("ann", "bob", "cem")
    return _acts(stage, watcher, "Lock", [*people, *stage.kazoo("dee", timeout_s=SOON_S)])


def acts_of_curator(stage: Stage, watcher: Watcher) -> Iterator[Moment]:
    """The same by Curator clients."""
    people = stage.curator("ann", "bob", "cem")
    dee = stage.mortal_curator("dee", timeout_s=SOON_S)
    return _acts(stage, watcher, "InterProcessMutex", [*people, *dee])


def _acts(
    stage: Stage, watcher: Watcher, mutex: str, people: Sequence[ClientProcess]
) -> Iterator[Moment]:
    ann, bob, cem, dee = people
    orders, stock = f"{stage.root}/orders", f"{stage.root}/stock"
    ann.acquire(mutex, orders)
    bob.ask(mutex, orders)
    cem.ask(mutex, orders)
    yield watcher.now(orders=3)
    ann.release(mutex, orders)
    cem.cancel(mutex, orders)
    yield watcher.now(orders=1)
    ann.acquire(mutex, stock)
    bob.ask(mutex, stock)
    ann.ask(mutex, orders)
    yield watcher.until(lambda report: [one.confidence for one in report.deadlocks] == ["C3"])
    bob.cancel(mutex, stock)
    bob.release(mutex, orders)
    yield watcher.now(orders=1, stock=1)
    page = f"{stage.root}/page"
    dee.acquire("ReadLock", page)
    place = cem.ask("WriteLock", page)
    yield watcher.now(page=2)
    dee.kill()
    yield watcher.until(lambda report: [one.node for one in holders(report, page)] == [place.node])


def read_members(report: Report, path: str) -> list[Member]:
    """The members of a lock whose znodes were read, not only listed."""
    record = report.records.get(Text(path))
    members = (*record.lock.holders, *record.lock.waiters) if record else ()
    return [member for member in members if member.czxid]


def holders(report: Report, path: str) -> list[Member]:
    """The holders of a lock."""
    return [*report.records[Text(path)].lock.holders]


def imported_now(stage: Stage, folder: Path, *more: Path) -> tuple[ImportSummary, Path]:
    """Import the server's files as they are now, and others."""
    return imported(stage, folder, [stage.server], *more)


def imported(
    stage: Stage, folder: Path, servers: Sequence[RunningServer], *more: Path
) -> tuple[ImportSummary, Path]:
    """Import the files of these servers, and others."""
    copies = [folder / f"zk{number}" / "version-2" for number, _ in enumerate(servers, 1)]
    for server, copy in zip(servers, copies, strict=True):
        shutil.copytree(server.log.parent / "data" / "version-2", copy)  # it goes on writing
    settings = Settings(roots=(Root(f"{stage.root}/*"),), thresholds=QUICK)
    plan, file = ImportPlan((*copies, *more), settings), folder / "a.zktop"
    return import_files(plan, lambda: file.open("wb"), lambda _number, _at: None), file


def assert_equal(
    file: Path, moments: Sequence[Moment], reports: Sequence[Report], root: str
) -> None:
    """Compare holders, waiters, deadlocks and events of an import with those of a live run."""
    assert_equal_moments(file, moments, root)
    assert events(list(Replay(file).reports()), root) == events(reports, root)


def assert_equal_moments(file: Path, moments: Sequence[Moment], root: str) -> None:
    """Compare holders, waiters and deadlocks at each moment."""
    found = [moment(Replay(file).last(one.at), root) for one in moments]
    assert [one.locks for one in found] == [one.locks for one in moments]
    assert [one.deadlocks for one in found] == [one.deadlocks for one in moments]
