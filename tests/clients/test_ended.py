"""Deadlocks of real clients that end: who went is told, and the last verdict stays."""

from collections.abc import Callable, Iterable

import pytest
from clients.client_processes import Person, Stage
from clients.snapshots import watching
from waiting import source_of

from zktop.model.report import Report

pytestmark = pytest.mark.zookeeper

SOON_S = 4.0  # the session timeout of who is killed
PATIENCE_S = 30.0


def give_up(bob: Person, root: str) -> None:
    """Its time was up."""
    bob.cancel("Lock", f"{root}/orders")


def kill(bob: Person, _root: str) -> None:
    """Without a word to the server: its session expires."""
    bob.kill()


def close(bob: Person, _root: str) -> None:
    """Its program ends as it should."""
    assert bob.program.process.stdin
    bob.program.process.stdin.close()


ENDS = {
    "bob gave up waiting for {root}/orders": give_up,
    "the session of bob expired: it was killed or cut off": kill,
    "bob closed its session": close,
}


@pytest.mark.parametrize("how", ENDS)
def test_who_went_is_told(stage: Stage, how: str) -> None:
    """By one name, with the sentence and the confidence of its last moment."""
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
    """How sure each of the deadlocks is."""
    return [one.confidence for one in report.deadlocks]


def first(reports: Iterable[Report], is_so: Callable[[Report], bool]) -> Report:
    """The first report of which this is so."""
    seen = []
    for report in reports:
        seen = [(one.how, one.at) for one in report.over], confidences(report)
        if is_so(report):
            return report
    raise AssertionError(f"no report in which {source_of(is_so)}\nlast: {seen}")
