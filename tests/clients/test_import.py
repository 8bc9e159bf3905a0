"""An import of a real server's files agrees with a live run of the same minutes."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from clients.client_processes import Stage
from clients.snapshots import watching
from kazoo.client import KazooClient
from servers import ask

from zktop.app.import_files import ImportPlan, import_files
from zktop.app.live_run import LiveRun
from zktop.app.replay import Replay
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.session_ids import session_id, session_text
from zktop.model.settings import Root, Settings, Thresholds
from zktop.model.text import Text
from zktop.output.snapshot import snapshot
from zktop.recording import ImportSummary

pytestmark = pytest.mark.zookeeper

PATIENCE_S = 40.0
SOON_S = 1.0  # the session timeout of a client that is killed
NODES = 14_000  # with more than 150 bytes each in the record of the session's end
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
            [member.node for member in report.parts[path].lock.holders],
            [member.node for member in report.parts[path].lock.waiters],
        )
        for path in report.paths
        if path.startswith(f"{root}/")
    }
    return Moment(report.now, locks, [one.id for one in report.deadlocks])


def events(reports: list[Report], root: str) -> list[tuple[str, str, str]]:
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
        """The state after everything so far, once these locks have that many members.

        A report may be as new as the server's last transaction while a new lock is still read.
        """
        found = re.search(r"Zxid: (0x[0-9a-f]+)", ask(self._stage.server.port, "srvr"))
        assert found
        zxid = int(found[1], 16)
        expected = {f"{self._stage.root}/{name}": count for name, count in members.items()}

        def has_all(report: Report) -> bool:
            found = moment(report, self._stage.root).locks
            return report.world.zxid >= zxid and all(
                sum(map(len, found.get(path, ()))) == count for path, count in expected.items()
            )

        return self.until(has_all)

    def until(self, condition: Callable[[Report], bool]) -> Moment:
        """The first state in which this is true."""
        for report in self._reports:
            self.reports.append(report)
            if condition(report):
                return moment(report, self._stage.root)
        raise AssertionError("it did not become true")


def acts(stage: Stage, watcher: Watcher) -> Iterator[Moment]:
    """Clients queue, release, give up, deadlock, and expire."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    (dee,) = stage.kazoo("dee", timeout_s=SOON_S)
    orders, stock = f"{stage.root}/orders", f"{stage.root}/stock"
    ann.acquire("Lock", orders)
    bob.ask("Lock", orders)
    cem.ask("Lock", orders)
    yield watcher.now(orders=3)
    ann.release("Lock", orders)
    cem.cancel("Lock", orders)
    yield watcher.now(orders=1)
    ann.acquire("Lock", stock)
    bob.ask("Lock", stock)
    ann.ask("Lock", orders)
    yield watcher.until(lambda report: [one.confidence for one in report.deadlocks] == ["C3"])
    bob.cancel("Lock", stock)
    bob.release("Lock", orders)
    yield watcher.now(orders=1, stock=1)
    page = f"{stage.root}/page"
    dee.acquire("ReadLock", page)
    cem.ask("WriteLock", page)
    yield watcher.now(page=2)
    dee.kill()
    yield watcher.until(lambda report: [m.label for m in holders(report, page)] == ["cem"])


def holders(report: Report, path: str) -> list[Member]:
    """The holders of a lock."""
    return [*report.parts[Text(path)].lock.holders]


def imported_now(stage: Stage, folder: Path, *more: Path) -> tuple[ImportSummary, Path]:
    """Import the server's files as they are now, and others."""
    version_2 = stage.server.log.parent / "data" / "version-2"
    shutil.copytree(version_2, folder / "version-2")  # the server goes on writing
    settings = Settings(roots=(Root(f"{stage.root}/*"),), thresholds=Thresholds(settle=400))
    plan, file = ImportPlan((folder / "version-2", *more), settings), folder / "a.zktop"
    return import_files(plan, lambda: file.open("wb"), lambda _number, _at: None), file


def test_an_import_says_the_same_as_a_live_run(stage: Stage, tmp_path: Path) -> None:
    """At each moment the same holders, waiters and deadlocks; and the same events.

    Only the confidence is lower, because files do not show watches.
    """
    with watching(stage, [f"{stage.root}/*"]) as run:
        assert run.read()
        watcher = Watcher(stage, run)
        moments = list(acts(stage, watcher))
    summary, file = imported_now(stage, tmp_path)

    assert summary.notes == ()
    assert summary.proven == summary.with_digest > 0
    imported = [moment(Replay(file).last(one.at), stage.root) for one in moments]
    assert [one.locks for one in imported] == [one.locks for one in moments]
    assert [one.deadlocks for one in imported] == [one.deadlocks for one in moments]
    assert events(list(Replay(file).reports()), stage.root) == events(watcher.reports, stage.root)


def test_an_import_names_who_deleted_the_node_of_a_holder(stage: Stage, tmp_path: Path) -> None:
    """It quotes the session; cem, who cancels, and bob, who releases, are near misses."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    orders, stock = f"{stage.root}/orders", f"{stage.root}/stock"
    held = ann.acquire("Lock", orders)
    bob.acquire("Lock", stock)
    bob.ask("Lock", orders)
    cem.ask("Lock", orders)
    cem.ask("Lock", stock)
    other = KazooClient(stage.server.address)
    other.start()
    other.delete(f"{orders}/{held.node}")
    bob.release("Lock", stock)
    cem.cancel("Lock", orders)
    _, file = imported_now(stage, tmp_path)
    last = Replay(file).last()
    deleter = session_text(session_id(other.client_id[0]))
    other.stop()
    other.close()

    (finding,) = [one for one in last.findings if one.rule == "S5"]
    assert (finding.lock, finding.nodes, finding.confidence) == (orders, (held.node,), "C4")
    assert finding.sentence.startswith(f"session {deleter} deleted the node of ann, which held")
    assert not [spot for spot in last.blind if spot.rule == "S5"]


def test_an_audit_log_names_the_user_who_deleted_a_node(stage: Stage, tmp_path: Path) -> None:
    """The user has no node and so no label; bob has one, and the log adds his address."""
    ann, bob = stage.kazoo("ann", "bob")
    orders = f"{stage.root}/orders"
    held = ann.acquire("Lock", orders)
    bob.ask("Lock", orders)
    other = KazooClient(stage.server.address, auth_data=[("digest", "alice:secret")])
    other.start()
    other.delete(f"{orders}/{held.node}")
    summary, file = imported_now(stage, tmp_path, stage.server.log)
    last = Replay(file).last()
    other.stop()
    other.close()

    assert summary.notes == ()
    (finding,) = [one for one in last.findings if one.rule == "S5"]
    assert finding.sentence.startswith("alice deleted the node of ann, which held")
    known = snapshot(last).sessions[bob.session].known
    assert known == {"name": "127.0.0.1", "address": "127.0.0.1"}


def test_a_session_with_too_many_nodes_is_found_live_and_in_an_import(
    stage: Stage, tmp_path: Path
) -> None:
    """Its end would be a record that servers do not read; the import says it of the record."""
    client = KazooClient(stage.server.address)
    client.start()
    orders = f"{stage.root}/{'orders' * 15}"
    client.ensure_path(orders)
    for begin in range(0, NODES, 1_000):
        batch = client.transaction()
        for number in range(begin, begin + 1_000):
            batch.create(f"{orders}/{number:032x}__lock__", ephemeral=True, sequence=True)
        batch.commit()
    with watching(stage, [f"{stage.root}/*"]) as run:
        assert run.read()
        watcher = Watcher(stage, run)
        watcher.until(
            lambda report: "critical" in {severity for _, severity, _ in too_large(report)}
        )
    (_, before), live = imported_now(stage, tmp_path / "before"), watcher.reports[-1]
    client.stop()
    client.close()
    after, _ = imported_now(stage, tmp_path / "after")

    assert too_large(Replay(before).last()) == too_large(live)
    (note,) = after.notes
    assert "By default, servers read at most 2,097,150: one that has to read it" in note


def too_large(report: Report) -> list[tuple[str, str, str]]:
    """The findings about sessions whose end is too large."""
    found = [one for one in report.findings if one.rule == "P17"]
    return [(one.id, str(one.severity), str(one.confidence)) for one in found]
