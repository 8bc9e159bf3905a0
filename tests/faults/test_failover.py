"""Clients that move from a dead server to another one are not reported as silent."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from faults.conftest import TICK_MS, Ensemble
from faults.zktop_under_test import Observer, Place, observer
from kazoo.client import KazooClient
from kazoo.retry import KazooRetry
from servers import RunningServer
from zk.cut_proxy import CutProxy

from zktop.model.report import Report
from zktop.zk.connect.address import Address

pytestmark = pytest.mark.zookeeper

HOLDERS = 6
SESSION_S = 4.0
SILENCE = {"S3", "P4"}


@pytest.fixture
def holders(ensemble: Ensemble, root: str) -> Iterator[list[KazooClient]]:
    """Clients that each hold a lock, and reconnect at once."""
    clients = [_client(ensemble.hosts) for _ in range(HOLDERS)]
    try:
        for number, client in enumerate(clients):
            client.start()
            client.Lock(f"{root}/lock-of-{number}", f"R{number}").acquire()
        yield clients
    finally:
        for client in clients:
            client.stop()
            client.close()


def _client(hosts: str) -> KazooClient:
    retry = KazooRetry(max_tries=-1, delay=0.02, backoff=1, max_jitter=0.02)
    return KazooClient(hosts, timeout=SESSION_S, connection_retry=retry)


def test_clients_that_move_are_not_silent(
    ensemble: Ensemble, holders: list[KazooClient], root: str
) -> None:
    """Each member is killed in turn, and no report has a silent client."""
    sessions = {client.client_id[0] for client in holders}
    place = Place(ensemble.hosts, f"{root}/*", ensemble.admin)
    with observer(place) as looker:
        for member in ensemble.hosts.split(","):
            ensemble.kill(member)
            try:
                looker.until(lambda report: _all_answered_elsewhere(report, sessions, member))  # noqa: B023  called at once
            finally:
                ensemble.start(member)
            looker.until(lambda report: report.ensemble.visibility.sessions == "all")

    assert _silences(looker) == []
    assert len(looker.report.paths) == HOLDERS


def test_a_host_that_dies_is_one_event(zookeeper: RunningServer, root: str) -> None:
    """The sessions of a dead host expire in one event, with the freed locks and the host."""
    with closing(CutProxy(zookeeper.port)) as proxy, ExitStack() as stack:
        for number in range(HOLDERS + 2):
            client = _client(proxy.address if number < HOLDERS else zookeeper.address)
            stack.callback(client.close)
            stack.callback(client.stop)
            client.start()
            client.Lock(f"{root}/lock-of-{number}", f"R{number}").acquire()
        admin = {Address("127.0.0.1", zookeeper.port): zookeeper.admin_port or 0}
        with observer(Place(zookeeper.address, f"{root}/*", admin)) as looker:
            looker.until(lambda report: report.ensemble.visibility.sessions == "all")
            proxy.cut()
            looker.until(lambda report: _expiries(report)[:1] == [HOLDERS])

    (finding,) = [one for one in looker.report.findings if one.rule == "P15"]
    assert f"{HOLDERS} on {zookeeper.address}, {HOLDERS} from 127.0.0.1" in finding.sentence
    assert f"{HOLDERS} locks were freed" in finding.sentence


def _expiries(report: Report) -> list[int]:
    return [len(finding.sessions) for finding in report.findings if finding.rule == "P15"]


def _all_answered_elsewhere(report: Report, sessions: set[int], dead: str) -> bool:
    """True if all sessions are on other servers and have answered there."""
    found = [report.ensemble.presence(session) for session in sessions]
    return all(
        one is not None
        and one.server != dead
        and one.quiet_ms is not None
        and one.established is not None
        and one.at - one.established > TICK_MS
        for one in found
    )


def _silences(looker: Observer) -> list[str]:
    return [
        f"{finding.rule}: {finding.sentence}"
        for timed in looker.reports
        for finding in timed.report.findings
        if finding.rule in SILENCE
    ]
