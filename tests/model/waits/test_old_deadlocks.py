"""Deadlocks that were there before zktop came: what makes them sure."""

import pytest
from model.make_facts import NOW, ZK1, connections, kazoo_name, lock, row, watches, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact
from zktop.model.report import Report

EVERY_MS = 5_000
RING = (*lock("/x", "ann", "bob"), *lock("/y", "bob", "ann"))
WATCHED = {"bob": (f"/x/{kazoo_name('ann', 0)}",), "ann": (f"/y/{kazoo_name('bob', 0)}",)}


def looks(*, busy: str = "", table: dict[str, tuple[str, ...]] | None = None) -> list[Report]:
    """Look at a deadlock of long ago with every new table, while its clients send pings."""
    begin = NOW + 3_600_000
    examiner, now, seen = Examiner(), world(*RING), []
    for step in range(9):
        at = begin + step * EVERY_MS
        rows = [
            row(name, received=10 + 2 * step, last_cxid=7 + (step if name == busy else 0))
            for name in ("ann", "bob")
        ]
        facts: list[AnyFact] = [connections(ZK1, *rows, at=at)]
        if table is not None:
            facts.append(watches(ZK1, table, at=at))
        now = now.after(*facts)
        seen.append(examiner.look(now, at))
    return seen


@pytest.mark.parametrize("table", [None, WATCHED], ids=["no watch tables", "watched"])
def test_it_turns_red_without_anything_happening(
    table: dict[str, tuple[str, ...]] | None,
) -> None:
    """After 30 s in which its sessions sent nothing but pings."""
    seen = looks(table=table)

    assert [made.deadlocks[0].confidence for made in seen] == ["C2"] * 6 + ["C3"] * 3
    (finding,) = (one for one in seen[-1].findings if one.rule == "D1")
    assert (finding.severity, finding.confidence) == ("critical", "C3")
    assert "no requests but pings in the 30 s that zktop has watched" in [
        clue.text for clue in finding.evidence
    ]


def test_it_stays_likely_while_one_of_them_sends_requests() -> None:
    """Its thread may be another one."""
    assert {made.deadlocks[0].confidence for made in looks(busy="ann")} == {"C2"}


def test_it_stays_likely_while_one_of_them_watches_nothing() -> None:
    """Waiters watch the lock."""
    table = {"bob": WATCHED["bob"], "ann": ()}

    assert {made.deadlocks[0].confidence for made in looks(table=table)} == {"C2"}
