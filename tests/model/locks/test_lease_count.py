"""What watch tables show about the number of leases, and what outdated ones do not."""

from collections.abc import Mapping, Sequence

from model.findings.cases import NOW, PATH, At, curator, facts, plain
from model.make_facts import ZK1, watches, world

from zktop.model.facts import AnyFact
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings

BEFORE, AFTER = 105, 500  # zxids of tables, before the second contender came and after


def seen_with(children: Sequence[At], zxid: int, rows: Mapping[str, Sequence[At]]) -> Lock:
    """The lock of these children while the newest watch table is of this zxid."""
    paths = {who: tuple(f"{PATH}/{node.name}" for node in nodes) for who, nodes in rows.items()}
    known: list[AnyFact] = [*facts(*children), watches(ZK1, paths, zxid=zxid)]
    lock = lock_at(PATH, world(*known), Settings(), NOW)
    assert isinstance(lock, Lock)
    return lock


ANN, BOB, SUE = (
    curator(owner, number, czxid=100 + 10 * number)
    for number, owner in enumerate(("ann", "bob", "sue"))
)


def test_a_waiter_that_watches_the_node_two_places_ahead_shows_two_leases() -> None:
    """As the clients of Curator's old semaphore do."""
    lock = seen_with((ANN, BOB, SUE), AFTER, {"sue": (ANN,), "bob": ()})

    assert (lock.kind, lock.leases) == ("semaphore", 2)


def test_a_watch_from_before_a_waiter_came_is_that_of_an_earlier_try() -> None:
    """A client that gave up leaves its watch, and asks again behind another one."""
    lock = seen_with((ANN, BOB, SUE), BEFORE, {"sue": (ANN,)})

    assert (lock.kind, lock.leases) == ("mutex", None)
    assert [member.label for member in lock.holders] == ["ann"]


def test_a_table_from_before_a_waiter_came_makes_no_election() -> None:
    """A group whose members do not watch each other is one, but the waiter may watch by now."""
    group = [
        plain(who, number, "member_", czxid=100 + 10 * number)
        for number, who in ((0, "ann"), (1, "bob"))
    ]

    assert seen_with(group, AFTER, {"bob": ()}).kind == "election"
    assert seen_with(group, BEFORE, {"bob": ()}).kind == "mutex"
