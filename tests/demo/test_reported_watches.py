"""What a contender says that it watches: the UI draws it, because servers list only a part."""

import pytest
from demo.contenders import Bench

from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.demo_types.contender_state import ContenderState, ContenderStep, StepKind, Watched

LOCK, NODE = "/zktop-demo/x", "/zktop-demo/x/lock-0000000000"


def state(*steps: tuple[StepKind, str]) -> ContenderState:
    """A contender after these steps, each about a node."""
    one = ContenderState(ContenderOrder("bob", (LockClaim("predecessor", LOCK),)))
    for what, node in steps:
        one = one.after(ContenderStep("bob", what, "", "", node=node))
    return one


def test_a_waiter_watches_what_it_said_last():
    """A later watch replaces the one before."""
    assert state(("watching", "/a"), ("watching", NODE)).watches == Watched(NODE)


@pytest.mark.parametrize("what", ["acquired", "gave-up", "lost", "ended"])
def test_a_client_that_no_longer_waits_relies_on_no_watch(what: StepKind):
    """Whatever watch is left on the server."""
    assert state(("watching", NODE), (what, NODE)).watches is None


def test_a_watch_fires_once():
    """A notification about its node ends it; one about another node does not."""
    assert state(("watching", NODE), ("notified", NODE)).watches is None
    assert state(("watching", NODE), ("notified", "/a")).watches == Watched(NODE)


@pytest.mark.parametrize(
    ("recipe", "part"),
    [("predecessor", "node"), ("parent-watch", "children"), ("kazoo-lock", "node")],
)
def test_each_recipe_says_what_it_watches(threads: Bench, recipe: str, part: str):
    """A waiter in a herd names the lock and its children, any other one a znode in the lock."""
    threads.queue_up(recipe, "ann", "bob")
    found = [
        step for step in threads.log.steps if step.contender == "bob" and step.what == "watching"
    ]

    assert {one.watched for one in found} == {part}
    assert {one.node == threads.path for one in found} == {part == "children"}


def test_a_watch_on_a_deleted_znode_says_so(threads: Bench):
    """Nothing will ever fire it."""
    threads.queue_up("predecessor", "ann", "bob")
    threads.start("cid", flaw="void-watch")
    threads.wait_for_step("cid", "decided")
    threads.pool.cancel("bob")
    threads.wait_for_step("cid", "watching")
    found = [step.watched for step in threads.log.steps if step.contender == "cid"]

    assert found[-1] == "absent"
