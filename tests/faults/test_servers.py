"""Servers die, hang and come back while contenders are at work."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from faults.conftest import Ensemble
from faults.contenders_at_work import Crowd
from faults.zktop_under_test import Observer, Place, agrees_soon, counts_all_soon, observer
from waiting import eventually

from zktop.model.report import Report

pytestmark = pytest.mark.zookeeper

ALIVE = "connected"


@pytest.fixture
def looker(place: Place, crowd_at_work: Crowd) -> Iterator[Observer]:
    """An observer that has seen the contenders begin."""
    with _at_work(place, crowd_at_work) as one:
        yield one


@contextmanager
def _at_work(place: Place, crowd: Crowd) -> Iterator[Observer]:
    with observer(place) as one:
        crowd.work()
        crowd.wait_for_progress()
        yield one


def _recovers(looker: Observer, place: Place, crowd: Crowd, *others: Observer) -> None:
    """Within three seconds of the recovery the report equals a fresh one."""
    crowd.wait_for_progress()
    for one in (looker, *others):
        one.until_state(ALIVE)
    crowd.wait_for_progress()
    counts, recovered = crowd.rest(), time.monotonic()
    for one in (looker, *others):
        agrees_soon(one, place, recovered)
        counts_all_soon(one, counts)


def test_nothing_happens(looker: Observer, place: Place, crowd_at_work: Crowd) -> None:
    """Without a fault the report equals a fresh one, with the deadlock and all counts."""
    _recovers(looker, place, crowd_at_work)

    assert [deadlock.rule for deadlock in looker.report.deadlocks] == ["D1"]
    assert [link.state for link in looker.links] == [ALIVE]


def test_the_connected_server_is_killed(
    looker: Observer, place: Place, crowd_at_work: Crowd, ensemble: Ensemble
) -> None:
    """The session moves to another server."""
    mine = looker.server
    assert mine is not None
    ensemble.kill(mine)
    try:
        looker.until(lambda _report: looker.server not in (None, mine))
        _recovers(looker, place, crowd_at_work)
    finally:
        ensemble.start(mine)

    assert len({link.session for link in looker.links if link.state == ALIVE}) == 1


@pytest.mark.parametrize("persistent", [True, False], ids=["persistent", "one-shot"])
def test_all_servers_are_killed_and_started_again(
    place: Place, crowd_at_work: Crowd, ensemble: Ensemble, *, persistent: bool
) -> None:
    """All sessions survive, zktop's too."""
    all_of_them = ensemble.hosts.split(",")
    place = place._replace(plan={"persistent": persistent})
    with _at_work(place, crowd_at_work) as looker:
        ensemble.kill(*all_of_them)
        looker.until_state("suspended")
        ensemble.start(*all_of_them)
        _recovers(looker, place, crowd_at_work)

    assert [deadlock.rule for deadlock in looker.report.deadlocks] == ["D1"]
    sessions = {link.session for link in looker.links if link.state == ALIVE}
    assert len(sessions) == 1


def test_the_leader_is_paused(crowd_at_work: Crowd, ensemble: Ensemble, place: Place) -> None:
    """Observers of the leader and of a follower both follow the newly elected leader.

    The old leader becomes a follower when it continues.
    """
    leader = ensemble.leader()
    with (
        _connected(place, leader, connected=True) as near,
        _connected(place, leader, connected=False) as far,
    ):
        crowd_at_work.work()
        crowd_at_work.wait_for_progress()
        ensemble.pause(leader)
        try:
            crowd_at_work.wait_for_progress()
            near.until(lambda _report: near.server not in (None, leader))
            crowd_at_work.wait_for_progress()
        finally:
            ensemble.resume(leader)
        eventually(lambda: ensemble.follows(leader))  # until then it has no tables
        _recovers(near, place, crowd_at_work, far)


def test_a_member_that_is_down_is_a_finding(
    place: Place, crowd_at_work: Crowd, ensemble: Ensemble
) -> None:
    """A finding names it while it is down, and no other member: they go on without an election."""
    member = next(one for one in ensemble.hosts.split(",") if one != ensemble.leader())
    outages = _outages_while(
        place,
        crowd_at_work,
        partial(ensemble.kill, member),
        partial(ensemble.start, member),
    )

    assert [rule for rule, _ in outages] == ["P13"]
    assert outages[0][1].startswith(f"{member} is down: connection refused")


def test_a_paused_member_is_a_finding(
    place: Place, crowd_at_work: Crowd, ensemble: Ensemble
) -> None:
    """It accepts connections and does not answer."""
    member = next(one for one in ensemble.hosts.split(",") if one != ensemble.leader())
    outages = _outages_while(
        place,
        crowd_at_work,
        partial(ensemble.pause, member),
        partial(ensemble.resume, member),
    )

    assert [rule for rule, _ in outages] == ["P14"]
    assert outages[0][1].startswith(f"{member} does not answer")


def _outages_while(
    place: Place, crowd: Crowd, fail: Callable[[], None], recover: Callable[[], None]
) -> list[tuple[str, str]]:
    """The findings while a member fails; before and after there are none."""
    with _at_work(place, crowd) as looker:
        looker.until(lambda report: not _outages(report))
        fail()
        try:
            report = looker.until(_outages)
        finally:
            recover()
        looker.until(lambda report: not _outages(report))
    return _outages(report)


def _outages(report: Report) -> list[tuple[str, str]]:
    return [
        (finding.rule, finding.sentence)
        for finding in report.findings
        if finding.rule in ("P13", "P14")
    ]


@contextmanager
def _connected(place: Place, server: str, *, connected: bool) -> Iterator[Observer]:
    """An observer that is connected to this server, or to any other one."""
    while True:
        with observer(place) as one:
            if (one.server == server) == connected:
                yield one
                return
