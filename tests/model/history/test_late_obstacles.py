"""A foreign child that is read later than the request behind it."""

import pytest
from model.make_facts import NOW, kazoo_name, session

from zktop.model.examiner import Examiner
from zktop.model.facts import Children, Node, Stat
from zktop.model.history.events import Since
from zktop.model.text import Text
from zktop.model.world.world import World

OBSTACLE, REQUEST = Text("x__lock__0000000000"), kazoo_name("ann", 1)
LISTING = Children(
    path=Text("/l"),
    names=(OBSTACLE, REQUEST),
    stat=Stat(100, 100, NOW, cversion=2, num_children=2, pzxid=102),
    zxid=110,
    at=NOW + 60_000,
)


def read(name: Text, czxid: int, owner: int) -> Node:
    """A child, created at NOW."""
    stat = Stat(czxid, czxid, NOW, owner=owner)
    return Node(path=Text(f"/l/{name}"), stat=stat, data=b"ann", zxid=110, at=NOW + 60_000)


IN_THE_WAY, ASKING = read(OBSTACLE, 101, 0), read(REQUEST, 102, session("ann"))


@pytest.mark.parametrize(
    "facts",
    [((LISTING,), (IN_THE_WAY, ASKING)), ((LISTING, ASKING), (IN_THE_WAY,))],
    ids=["both", "one"],
)
def test_a_request_behind_it_did_not_move_back(
    facts: tuple[tuple[Children | Node, ...], ...],
) -> None:
    """Its wait is as old as its node, and does not begin when the other one is read."""
    examiner, world = Examiner(), World()
    for number, new in enumerate(facts):
        world = world.after(*new)
        report = examiner.look(world, NOW + 60_000 + number * 200)
    view = report.view("/l")
    assert view is not None
    (waiter,) = view.lock.waiters

    assert report.events == ()
    assert view.history.since(waiter, holds=False) == Since(NOW, "at-least")
