"""Acknowledged alerts: covered until they get worse, or end and begin again."""

import pytest
from model.findings.cases import facts
from msgspec.structs import replace
from ui.example_ensemble import ORDERS, trouble
from ui.example_queues import looked
from ui.example_queues import queue as queue_of

from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.ui.acknowledged import ENDED_MS, NOTHING_ACKNOWLEDGED, Acknowledged

REPORT = trouble()[-1].report
(DEADLOCK,) = REPORT.deadlocks
ORPHAN = next(finding for finding in REPORT.findings if finding.rule == "B1")
MILD = replace(ORPHAN, severity="warning", confidence="C2")


def report(*findings: Finding, after_ms: int = 0) -> Report:
    """A report with these findings and no deadlock."""
    return replace(REPORT, now=REPORT.now + after_ms, findings=findings, deadlocks=())


def acknowledged(*findings: Finding) -> Acknowledged:
    """All of these findings, acknowledged as they are."""
    ids = [finding.id for finding in findings]
    return NOTHING_ACKNOWLEDGED.adding(ids, report(*findings))


def test_an_acknowledged_alert_is_covered() -> None:
    """The others are not."""
    other = replace(ORPHAN, id="other")

    assert acknowledged(ORPHAN).covered(report(ORPHAN, other)) == {ORPHAN.id}


def test_an_acknowledgement_can_be_taken_back() -> None:
    """By the id of the alert."""
    taken_back = acknowledged(ORPHAN).without([ORPHAN.id])

    assert taken_back.covered(report(ORPHAN)) == set()


WORSE = {
    "severity": {"severity": "critical"},
    "confidence": {"confidence": "C3"},
    "locks": {"locks": (*ORPHAN.locks, *DEADLOCK.locks)},
    "clients": {"sessions": tuple(range(1, 9))},
}


@pytest.mark.parametrize("change", WORSE)
def test_an_alert_that_got_worse_is_not_covered(change: str) -> None:
    """More severe, more certain, more locks or more clients."""
    worse = replace(MILD, **WORSE[change])

    assert acknowledged(MILD).covered(report(worse)) == set()


@pytest.mark.parametrize("change", WORSE)
def test_an_alert_that_got_milder_stays_covered(change: str) -> None:
    """What was acknowledged was worse."""
    worse = replace(MILD, **WORSE[change])

    assert acknowledged(worse).covered(report(MILD)) == {MILD.id}


def test_an_alert_that_got_worse_must_be_acknowledged_again() -> None:
    """It stays in the list even when it is as mild as before."""
    worse = replace(MILD, confidence="C3")
    later = acknowledged(MILD).after(report(worse)).after(report(MILD))

    assert later.covered(report(MILD)) == set()


def test_more_clients_behind_a_deadlock_make_it_worse() -> None:
    """They are counted with those in the ring."""
    longer = replace(DEADLOCK, behind=DEADLOCK.behind + 1)
    known = NOTHING_ACKNOWLEDGED.adding([DEADLOCK.id], REPORT)

    assert known.covered(REPORT) == {DEADLOCK.id}
    assert known.covered(replace(REPORT, deadlocks=(longer,))) == set()


def waiting(number: int) -> Report:
    """A report about a long queue with this number of waiters."""
    queue = looked(facts(*queue_of("X" * (1 + number)), path=ORDERS))[-1].report
    jam = replace(MILD, lock=ORDERS, locks=(ORDERS,), nodes=(), sessions=())
    return replace(queue, findings=(jam,))


def test_a_queue_that_doubled_is_worse() -> None:
    """One more waiter is not: busy queues grow and shrink all the time."""
    known = NOTHING_ACKNOWLEDGED.adding([MILD.id], waiting(5))

    assert known.covered(waiting(6)) == {MILD.id}
    assert known.covered(waiting(10)) == set()


def test_a_longer_sentence_alone_is_not_worse() -> None:
    """Times in it grow with every report."""
    same = replace(ORPHAN, sentence=ORPHAN.sentence + " For 5 minutes.")

    assert acknowledged(ORPHAN).covered(report(same)) == {ORPHAN.id}


def test_an_alert_that_began_again_is_new() -> None:
    """After it was gone for a while."""
    gone = [report(after_ms=1_000), report(after_ms=1_000 + ENDED_MS)]
    known = acknowledged(ORPHAN)
    for one in gone:
        known = known.after(one)

    assert known.covered(report(ORPHAN)) == set()


def test_an_alert_that_flickers_stays_acknowledged() -> None:
    """It was missing for some seconds."""
    known = acknowledged(ORPHAN)
    for at in range(1_000, 60_000, ENDED_MS - 1_000):
        known = known.after(report(after_ms=at)).after(report(ORPHAN, after_ms=at + 500))

    assert known.covered(report(ORPHAN)) == {ORPHAN.id}
