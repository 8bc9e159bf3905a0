"""Deadlocks that are older than zktop's first reading become confirmed."""

import time

import pytest
from clients.client_processes import Stage
from clients.deadlocks import two_locks_in_opposite_orders
from clients.snapshots import SAMPLE_EVERY_S
from servers import RunningServer

from zktop.app.connection_settings import access_of, plan_of
from zktop.app.live_run import LiveRun
from zktop.config.keys_and_defaults import AdminSection, Config
from zktop.model.report import Report
from zktop.model.thresholds import Thresholds
from zktop.model.waits.confidence import QUIET_MS

pytestmark = pytest.mark.zookeeper

WORDS = {"AdminServer": "admin", "four-letter words": "4lw"}
DEADLOCKS = 2
PATIENCE_S = QUIET_MS / 1000 + 15


def opposite_orders_of_curators(stage: Stage) -> None:
    """Two mutexes of Curator, whose labels are all equal."""
    cem, dee = stage.curator("cem", "dee")
    cem.acquire("InterProcessMutex", f"{stage.root}/cart")
    dee.acquire("InterProcessMutex", f"{stage.root}/mail")
    cem.ask("InterProcessMutex", f"{stage.root}/mail")
    dee.ask("InterProcessMutex", f"{stage.root}/cart")


def confidences(report: Report) -> list[str]:
    """The confidence of each deadlock."""
    return [deadlock.confidence for deadlock in report.deadlocks]


@pytest.mark.parametrize("channel", WORDS)
def test_old_deadlocks_are_confirmed(stage: Stage, channel: str) -> None:
    """After 30 s with nothing but pings, through either channel, for both libraries."""
    two_locks_in_opposite_orders(stage)
    opposite_orders_of_curators(stage)
    _until_settled(stage, channel)  # then only the pings can confirm them
    begin = time.monotonic()
    with watching(stage.server, stage.root, channel) as watch:
        assert watch.read()
        seen = []
        for report in watch.reports(PATIENCE_S):
            seen.append(report)
            if confidences(report) == ["C3", "C3"]:
                break

    assert confidences(seen[-1]) == ["C3", "C3"]
    assert time.monotonic() - begin >= QUIET_MS / 1000
    assert not any("C3" in confidences(made) for made in seen if made.now < seen[0].now + QUIET_MS)
    dead = {deadlock.id for deadlock in seen[-1].deadlocks}
    found = [finding for finding in seen[-1].findings if finding.id in dead]
    assert [one.severity for one in found] == ["critical", "critical"]
    assert {server.channel for server in seen[-1].ensemble.servers} == {WORDS[channel]}


def _until_settled(stage: Stage, channel: str) -> None:
    """Wait until both deadlocks are older than the settle time."""
    settle_ms = Thresholds().settle
    with watching(stage.server, stage.root, channel) as watch:
        for report in watch.reports(PATIENCE_S):
            closed = [
                deadlock.since_ms for deadlock in report.deadlocks if deadlock.since_ms is not None
            ]
            if len(closed) == DEADLOCKS and max(closed) < report.now - settle_ms:
                return
    pytest.fail(f"the deadlocks are not older than {settle_ms} ms: {report.deadlocks}")


def watching(server: RunningServer, root: str, channel: str) -> LiveRun:
    """A live run that uses one channel only."""
    admin = AdminSection(server.admin_port or 0) if channel == "AdminServer" else AdminSection(0)
    config = Config(hosts=server.address, admin=admin, roots=(f"{root}/*",))
    return LiveRun(access_of(config), plan_of(config, SAMPLE_EVERY_S), config.settings())
