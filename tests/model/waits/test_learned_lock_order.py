"""Lock orders are learned from what really happens, through the examiner."""

import pytest
from model.builders import NOW, kazoo_name, session
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.world import World

ORDERS, STOCK = Text("/locks/orders"), Text("/locks/stock")


def taken(
    path: Text, owner: str, number: int, zxid: int, born: int = 1, first: str | None = None
) -> list[AnyFact]:
    """An actor in a lock, alone or behind another one."""
    name = kazoo_name(owner, number)
    names = (name,) if first is None else (kazoo_name(first, 0), name)
    root = Stat(born, born, 0, cversion=number + 1, num_children=len(names), pzxid=zxid)
    stat = Stat(zxid, zxid, NOW + zxid, owner=session(owner))
    return [
        Children(path=path, names=names, stat=root, zxid=zxid, at=NOW + zxid),
        Node(path=join(path, name), stat=stat, data=owner.encode(), zxid=zxid, at=NOW + zxid),
    ]


def released(owner: str, zxid: int) -> list[AnyFact]:
    """And gives both back."""
    paths = (join(path, kazoo_name(owner, 0)) for path in (ORDERS, STOCK))
    return [Gone(path=path, zxid=zxid, at=NOW + zxid) for path in paths]


def in_two_orders(born: int = 1) -> Report:
    """Ann takes orders first, and bob takes stock first, some seconds later."""
    examiner, world = Examiner(), World()
    for at, facts in (
        (100, taken(ORDERS, "ann", 0, 100)),
        (200, taken(STOCK, "ann", 0, 200)),
        (1_000, released("ann", 1_000)),
        (6_000, taken(STOCK, "bob", 1, 6_000, born)),
        (6_100, taken(ORDERS, "bob", 1, 6_100, born)),
        (12_000, []),
    ):
        world = world.after(*facts)
        report = examiner.look(world, NOW + at)
    return report


def test_an_unchanged_story_is_the_same_object() -> None:
    """Reports are kept by the hundreds, and few of them learn anything new."""
    examiner, world = Examiner(), World()
    facts = [*taken(ORDERS, "ann", 0, 100), *taken(STOCK, "ann", 0, 200)]
    crossed = [*taken(STOCK, "bob", 1, 6_000), *taken(ORDERS, "bob", 1, 6_100)]
    for at, found in ((200, facts), (1_000, released("ann", 1_000)), (6_100, crossed)):
        world = world.after(*found)
        examiner.look(world, NOW + at)
    first, second = (examiner.look(world, NOW + at).inversions for at in (12_000, 12_500))

    assert first
    assert first[0] is second[0]


def test_two_orders_of_the_same_locks_are_a_deadlock_to_come() -> None:
    """No actor ever waited, and yet both orders are known, with the names of the actors."""
    (found,) = in_two_orders().inversions

    assert found.rule == "D9"
    assert found.sentence == (
        "Potential deadlock: bob acquired X:/locks/orders while holding X:/locks/stock; "
        "ann acquired X:/locks/stock while holding X:/locks/orders; "
        "if these overlap, none can continue."
    )


GATE = Text("/locks/a-gate")
CROSSED = (
    *taken(ORDERS, "ann", 0, 100),
    *taken(STOCK, "bob", 0, 200),
    *taken(STOCK, "ann", 1, 300, first="bob"),
    *taken(ORDERS, "bob", 1, 400, first="ann"),
)


def without_the_waiters(world: World, at: int) -> World:
    """Both gave up what they waited for: no deadlock is left."""
    waits = (join(ORDERS, kazoo_name("bob", 1)), join(STOCK, kazoo_name("ann", 1)))
    return world.after(*(Gone(path=path, zxid=at, at=NOW + at) for path in waits))


def test_two_orders_that_were_there_before_the_first_look_are_learned() -> None:
    """Each asked for its second lock before the first look; the nodes show the order."""
    examiner, world = Examiner(), World().after(*CROSSED)
    examiner.look(world, NOW + 5_000)

    after = examiner.look(without_the_waiters(world, 6_000), NOW + 6_000)

    assert [inversion.rule for inversion in after.inversions] == ["D9"]
    assert {turn.lock for inversion in after.inversions for turn in inversion.turns} == {
        ORDERS,
        STOCK,
    }


@pytest.mark.parametrize("gate", [GATE, Text("/locks/z-gate")])
def test_a_gate_that_was_there_before_the_first_look_keeps_them_apart(gate: Text) -> None:
    """Wherever its name stands among the others, and also when it is found later than they."""
    inside = (*taken(gate, "ann", 0, 50), *taken(gate, "bob", 1, 60, first="ann"))
    for first, then in (((*CROSSED, *inside), ()), (CROSSED, inside)):
        examiner, world = Examiner(), World().after(*first)
        examiner.look(world, NOW + 5_000)
        world = world.after(*then)
        examiner.look(world, NOW + 5_500)
        after = examiner.look(without_the_waiters(world, 6_000), NOW + 6_000)

        assert after.inversions == ()


def test_a_lock_that_was_given_back_between_two_looks_is_not_held_for_the_next_one() -> None:
    """Its end and the next beginning come in one look, whichever lock is read first."""
    examiner, world = Examiner(), World()
    for at, facts in (
        (100, taken(STOCK, "ann", 0, 100)),
        (900, [*taken(ORDERS, "ann", 0, 900), *released("ann", 800)[1:]]),
        (2_000, released("ann", 2_000)[:1]),
        (6_000, taken(ORDERS, "bob", 1, 6_000)),
        (6_100, taken(STOCK, "bob", 1, 6_100)),
    ):
        world = world.after(*facts)
        report = examiner.look(world, NOW + at)

    assert report.inversions == ()


def test_locks_that_were_made_anew_meanwhile_are_others() -> None:
    """What was done to locks of the same names before says nothing about these."""
    assert in_two_orders(born=5_000).inversions == ()


def test_a_deadlock_that_is_there_is_not_called_one_to_come() -> None:
    """The ring tells it already; when it is over the two orders are still worth a word."""
    examiner, world = Examiner(), World()
    for zxid, facts in (
        (100, taken(ORDERS, "ann", 0, 100)),
        (200, taken(STOCK, "bob", 0, 200)),
        (300, taken(STOCK, "ann", 1, 300, first="bob")),
        (400, taken(ORDERS, "bob", 1, 400, first="ann")),
    ):
        world = world.after(*facts)
        examiner.look(world, NOW + zxid)
    again = replace(taken(STOCK, "ann", 1, 300, first="bob")[0], zxid=500, at=NOW + 500)
    world = world.after(again)
    during = examiner.look(world, NOW + 5_000)
    gone = Gone(path=join(ORDERS, kazoo_name("bob", 1)), zxid=900, at=NOW + 6_000)
    after = examiner.look(world.after(gone), NOW + 6_000)

    assert [deadlock.rule for deadlock in during.deadlocks] == ["D1"]
    assert during.inversions == ()
    assert [inversion.rule for inversion in after.inversions] == ["D9"]
