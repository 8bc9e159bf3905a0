"""A confirmed deadlock whose clients connect again, as after the restart of a server."""

from collections.abc import Mapping

import pytest
from model.make_facts import NOW, ZK1, connections, kazoo_name, lock, row, session, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.report import Report

EVERY_MS = 5_000
CLOSED_AT = 2  # the steps of a table each
MOVED_AT = 5
HOLDERS: Mapping[str, str] = {"/x": "ann", "/y": "bob"}


def asks(path: str, name: str, czxid: int, at: int) -> list[AnyFact]:
    """A client waits for the lock of another."""
    names = (kazoo_name(HOLDERS[path], 0), kazoo_name(name, 1))
    stat = Stat(czxid, czxid, at, owner=session(name))
    root = Stat(100, 100, 0, cversion=2, num_children=2, pzxid=czxid)
    node = Node(path=join(path, names[1]), stat=stat, data=name.encode(), zxid=czxid, at=at)
    return [node, Children(path=path, names=names, stat=root, zxid=1_000, at=at)]


def last_cxid(step: int, *, listed: int, busy: bool) -> int:
    """The number of the last request on a connection; a new one counts from 0."""
    if step < MOVED_AT:
        return 7 if step < CLOSED_AT else 10
    return listed + (step - MOVED_AT if busy else 0)


def looks(*, listed: int = 0, busy: bool = False, flapping: bool = False) -> list[Report]:
    """Look with every new table; after the restart the waiters send so many requests, or more.

    If they are flapping, each later table shows yet another connection.
    """
    examiner, now, seen = Examiner(), world(*lock("/x", "ann"), *lock("/y", "bob")), []
    for step in range(MOVED_AT + 8):
        at = NOW + step * EVERY_MS
        number = last_cxid(step, listed=listed, busy=busy)
        connected = max(0, step - MOVED_AT + 1)
        established = connected if flapping else min(1, connected)
        rows = [
            row(name, received=step, last_cxid=number, established=established)
            for name in ("ann", "bob")
        ]
        facts: list[AnyFact] = [connections(ZK1, *rows, at=at)]
        if step == CLOSED_AT:
            facts += [*asks("/y", "ann", 501, at - 3_500), *asks("/x", "bob", 502, at - 3_000)]
        now = now.after(*facts)
        seen.append(examiner.look(now, at))
    return seen


@pytest.mark.parametrize("listed", [0, 3], ids=["silent", "list again"])
def test_it_stays_confirmed(listed: int) -> None:
    """Its nodes are still there, so its threads are still blocked; waiters may list again."""
    shown = looks(listed=listed)[CLOSED_AT:]

    assert {made.deadlocks[0].confidence for made in shown} == {"C3"}
    clues = [clue.text for clue in shown[-1].deadlocks[0].evidence]
    assert "no requests but pings since the ring closed, except when clients connected again" in (
        clues
    )


def test_it_is_likely_if_its_clients_go_on_with_requests() -> None:
    """Then other threads may release it."""
    shown = looks(busy=True)

    assert shown[MOVED_AT].deadlocks[0].confidence == "C3"
    assert {made.deadlocks[0].confidence for made in shown[MOVED_AT + 1 :]} == {"C2"}


def test_it_is_likely_while_its_clients_connect_again_and_again() -> None:
    """The tables show none of the requests between two connections."""
    shown = looks(flapping=True)

    assert shown[MOVED_AT].deadlocks[0].confidence == "C3"
    assert {made.deadlocks[0].confidence for made in shown[MOVED_AT + 1 :]} == {"C2"}
