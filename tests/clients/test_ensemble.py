"""Clients of three servers of an ensemble, each of which knows only its own clients."""

from collections.abc import Iterator

import pytest
from clients.client_processes import Place, Stage, curator_process, kazoo_clients
from clients.snapshots import (
    PATIENCE_S,
    LockState,
    SnapshotReader,
    held,
    snapshot_when,
    waiting,
    watching,
)
from servers import RunningServer, ask, real_ensemble

from zktop.model.report import Report

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def ensemble() -> Iterator[list[RunningServer]]:
    """Three servers."""
    with real_ensemble(3) as members:
        yield members


def test_tables_of_all_members_are_combined(ensemble: list[RunningServer], classpath: str) -> None:
    """A deadlock of clients of all members is found from the address of one."""
    first, second, third = ensemble
    orders, page = "/members/orders", "/members/page"
    with kazoo_clients(first) as kazoo, curator_process(third, classpath) as machine:
        stage = Stage(first, "/members", kazoo, machine.start_clients, machine.start_clients)
        (ann,), (bob,) = kazoo("ann"), kazoo("bob", hosts=second.address)
        cem, dee = machine.start_clients("cem", "dee")
        a, c = ann.acquire("Lock", orders), cem.acquire("ReadLock", page)
        bob.acquire("Lock", "/members/stock")
        b, d = bob.ask("Lock", orders), dee.ask("WriteLock", page)
        ann.ask("Lock", "/members/stock")

        seen = snapshot_when(_sees_all_watches, stage, "/members/*")

    assert seen.lock(orders) == LockState("kazoo-lock", "mutex", [held(a)], [waiting(b, a)])
    assert seen.lock(page) == LockState(
        "curator-rw", "read-write", [held(c, "read")], [waiting(d, c, mode="write")]
    )
    assert seen.deadlocks == [("D1", {ann.session, bob.session})]
    where = [seen.of(one.session)["server"] for one in (ann, bob, cem, dee)]
    assert where == [first.address, second.address, third.address, third.address]


def test_a_fail_over_in_a_mixed_folder(classpath: str) -> None:
    """A waiter that moves to another member keeps its place in the queue."""
    path = "/mixed/orders"
    with (
        real_ensemble(3) as members,
        curator_process(members[0], classpath) as machine,
        kazoo_clients(members[0]) as kazoo,
    ):
        (ann,) = machine.start_clients("ann")
        hosts = ",".join(member.address for member in members[1:])
        bob, cem = kazoo("bob", "cem", hosts=hosts)
        a = ann.acquire("InterProcessMutex", path)
        c, b = cem.ask("DashedLock", path), bob.ask("TolerantLock", path)
        with watching(
            Stage(members[0], "/mixed", kazoo, machine.start_clients, machine.start_clients),
            [path],
        ) as w:
            assert w.read()
            before = next(one for one in w.reports(PATIENCE_S) if _is_watching(one, b))
            doomed = next(
                member for member in members[1:] if bob.session in ask(member.port, "cons")
            )
            doomed.process.kill()
            found = []
            for report in w.reports(PATIENCE_S):
                found.append(report)
                presence = report.ensemble.presence(int(bob.session, 16))
                if presence and presence.server != doomed.address and _is_watching(report, b):
                    break

    queue = {a.node: "holds", c.node: "waits", b.node: "waits"}
    assert [_states(one) for one in (before, found[-1])] == [queue] * 2
    assert all(_states(one) == queue for one in found if _states(one))
    wrong = {
        finding.rule for report in found for finding in report.findings if finding.lock == path
    }
    assert not wrong


def _is_watching(report: Report, place: Place) -> bool:
    """True if a table shows the watch that a client reports."""
    session = int(place.session, 16)
    return set(place.watches) <= (report.ensemble.watched(session) or set())


def _states(report: Report) -> dict[str, str]:
    return {
        str(one.node): one.state for view in report.views for one in (*view.holders, *view.waiters)
    }


def _sees_all_watches(seen: SnapshotReader) -> bool:
    """True once the tables of all members have been read, which a busy machine delays."""
    return bool(seen.shot["source"]["sees"]["watches"] == "all")
