"""Deadlocks of real clients that end: the report says how, with the last verdict."""

from collections.abc import Callable, Iterable

import pytest
from clients.client_processes import ClientProcess, Stage
from clients.snapshots import watching
from waiting import source_of

from zktop.model.report import Report

pytestmark = pytest.mark.zookeeper

SOON_S = 4.0  # the session timeout of clients that are killed
PATIENCE_S = 30.0


def give_up(bob: ClientProcess, root: str) -> None:
    """The client stops waiting."""
    bob.cancel("Lock", f"{root}/orders")


def kill(bob: ClientProcess, _root: str) -> None:
    """Kill the process; the session expires."""
    bob.kill()


def close(bob: ClientProcess, _root: str) -> None:
    """End the program, which closes the session."""
    assert bob.program.process.stdin
    bob.program.process.stdin.close()


ENDS = {
    "bob gave up waiting for {root}/orders": give_up,
    "the session of bob expired: it was killed, paused or cut off": kill,
    "bob gave up or closed its session": close,
}


@pytest.mark.parametrize("how", ENDS)
def test_the_end_of_a_deadlock_is_reported(stage: Stage, how: str) -> None:
    """It names the client that left, the sentence and the last confidence."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.kazoo("bob", timeout_s=SOON_S)
    ann.acquire("Lock", f"{stage.root}/orders")
    bob.acquire("Lock", f"{stage.root}/stock")
    with watching(stage, [f"{stage.root}/*"]) as watch:
        assert watch.read()
        ann.ask("Lock", f"{stage.root}/stock")
        bob.ask("Lock", f"{stage.root}/orders")
        sure = first(watch.reports(PATIENCE_S), lambda made: confidences(made) == ["C3"])
        ENDS[how](bob, stage.root)
        wanted = how.format(root=stage.root)
        over = first(
            watch.reports(PATIENCE_S), lambda made: [e.how for e in made.over] == [wanted]
        )

    assert not over.deadlocks
    assert over.over[0].deadlock.confidence == "C3"
    assert over.over[0].deadlock.sentence == sure.deadlocks[0].sentence
    assert (sure.deadlocks[0].number, over.over[0].deadlock.number) == (1, 1)


def confidences(report: Report) -> list[str]:
    """The confidence of each deadlock."""
    return [deadlock.confidence for deadlock in report.deadlocks]


def first(reports: Iterable[Report], is_so: Callable[[Report], bool]) -> Report:
    """The first report for which this is true."""
    seen = []
    for report in reports:
        seen = [(one.how, one.at) for one in report.over], confidences(report)
        if is_so(report):
            return report
    raise AssertionError(f"no report in which {source_of(is_so)}\nlast: {seen}")
