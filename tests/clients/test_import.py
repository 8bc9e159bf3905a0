"""An import of a real server's files agrees with a live run of the same minutes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from clients.client_processes import Stage
from clients.imports import (
    Moment,
    Watcher,
    acts,
    acts_of_curator,
    assert_equal,
    assert_equal_moments,
    events,
    imported_now,
)
from clients.snapshots import watching
from kazoo.client import KazooClient

from zktop.app.replay import Replay
from zktop.model.report import Report
from zktop.model.session_ids import session_id, session_text
from zktop.model.text import Text
from zktop.output.snapshot_json import snapshot

pytestmark = pytest.mark.zookeeper

Acts = Callable[[Stage, Watcher], Iterator[Moment]]
NODES = 14_000  # with more than 150 bytes each in the record of the session's end


@pytest.mark.parametrize("acts", [acts, acts_of_curator], ids=["kazoo", "Curator"])
def test_an_import_says_the_same_as_a_live_run(acts: Acts, stage: Stage, tmp_path: Path) -> None:
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
    assert_equal(file, moments, watcher.reports, stage.root)


ARTICLES = ("poll", "get-watch", "single-node", "rw", "rw-host", "rw-naive")  # all names of nodes
OTHER_RECIPES = [
    ("kazoo", "WriteLock", "ReadLock"),
    ("kazoo", "Semaphore", "Semaphore"),
    ("curator", "ReadLock", "WriteLock"),
    ("curator", "InterProcessSemaphoreV2", "InterProcessSemaphoreV2"),
    ("curator", "LeaderLatch", "LeaderLatch"),
]


@pytest.mark.parametrize(("library", "first", "second"), OTHER_RECIPES)
def test_an_import_says_the_same_of_other_recipes(
    library: str, first: str, second: str, stage: Stage, tmp_path: Path
) -> None:
    """Ann holds, bob waits; ann releases, bob holds: the same clients, and events."""
    lock = f"{stage.root}/lock"
    with watching(stage, [f"{stage.root}/*"]) as run:
        assert run.read()
        watcher = Watcher(stage, run)
        ann, bob = getattr(stage, library)("ann", "bob")
        ann.acquire(first, lock)
        moments = [watcher.until(lambda report: clients(report, lock) == [ann.session])]
        bob.ask(second, lock)
        both = [ann.session, f"-{bob.session}"]
        moments += [watcher.until(lambda report: clients(report, lock) == both)]
        ann.release(first, lock)
        moments += [watcher.until(lambda report: clients(report, lock) == [bob.session])]
    _, file = imported_now(stage, tmp_path)

    assert_equal_moments(file, moments, stage.root)
    assert outcomes(Replay(file).reports(), stage.root) == outcomes(watcher.reports, stage.root)


@pytest.mark.parametrize("recipe", ARTICLES)
def test_an_import_has_the_events_of_the_recipes_of_articles(
    recipe: str, stage: Stage, tmp_path: Path
) -> None:
    """Three clients acquire the lock one after the other, or readers together."""
    to = ("--hosts", stage.server.address, "--anywhere", "--count", "3", "--hold", "300ms")
    command = [sys.executable, "-m", "zktop", "contend", recipe, f"{stage.root}/lock", *to]
    with watching(stage, [f"{stage.root}/*"]) as run:
        assert run.read()
        watcher = Watcher(stage, run)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            watcher.until(lambda _report: process.poll() is not None)
        watcher.now()
    _, file = imported_now(stage, tmp_path)

    found = outcomes(watcher.reports, stage.root)
    assert len([kind for kind, *_ in found if kind == "acquired"]) == 3
    assert outcomes(Replay(file).reports(), stage.root) == found


def clients(report: Report, path: str) -> list[str]:
    """The sessions that hold a lock, and then those that wait, once all were read."""
    record = report.records.get(Text(path))
    if record is None or not all(member.czxid for member in record.lock.members):
        return []
    holding = [session_text(one.owner) for one in record.lock.holders]
    return [*holding, *(f"-{session_text(one.owner)}" for one in record.lock.waiters)]


def outcomes(reports: Iterable[Report], root: str) -> list[tuple[str, str, str]]:
    """All events but arrivals: at the gate of a semaphore a client is too quick to be seen."""
    return [one for one in events(list(reports), root) if one[0] != "queued"]


def test_an_import_has_the_holds_and_waits_of_the_clients(stage: Stage, tmp_path: Path) -> None:
    """To the millisecond, within what a client can know: when it called and when that returned."""
    (ann, bob), orders = stage.kazoo("ann", "bob"), f"{stage.root}/orders"
    acquired = timed(lambda: ann.acquire("Lock", orders))
    asked = timed(lambda: bob.ask("Lock", orders))
    released = timed(lambda: ann.release("Lock", orders))
    _, file = imported_now(stage, tmp_path)

    found = [event for report in Replay(file).reports() for event in report.events]
    (held,) = [one.held for one in found if one.event == "released"]
    (waited,) = [one.waited for one in found if one.event == "acquired" and one.owner == "bob"]
    for elapsed, begin in ((held, acquired), (waited, asked)):
        assert elapsed is not None
        assert elapsed.bound == "exact"
        assert int(released.begin - begin.end) <= elapsed.ms <= released.end - begin.begin + 1


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
    assert "By default, servers read at most 2,097,150: a server that has to read it" in note


class Timed(NamedTuple):
    """When a call began and ended, in milliseconds."""

    begin: float
    end: float


def timed(call: Callable[[], object]) -> Timed:
    """Call it."""
    begin = time.time() * 1000
    call()
    return Timed(begin, time.time() * 1000)


def too_large(report: Report) -> list[tuple[str, str, str]]:
    """The findings about sessions whose end is too large."""
    found = [one for one in report.findings if one.rule == "P17"]
    return [(one.id, str(one.severity), str(one.confidence)) for one in found]
