"""Two libraries on one path that are configured to count each other's nodes: one queue."""

import pytest
from model.findings.cases import At, curator, facts, k
from model.make_facts import NOW, session

from zktop.model.examiner import Examiner
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.world.world import World

AB_BA = {
    "/locks/orders": (k("alice", 0, czxid=101), curator("bob", 1, czxid=104)),
    "/locks/stock": (curator("bob", 0, czxid=102), k("alice", 1, czxid=103)),
}


def report(locks: dict[str, tuple[At, ...]], *, interop: bool) -> Report:
    """The report on these locks."""
    found = [fact for path, children in locks.items() for fact in facts(*children, path=path)]
    settings = Settings(roots=(Root("/locks/*", interop=interop),))
    return Examiner(settings).look(World().after(*found), NOW)


def test_a_deadlock_crosses_libraries() -> None:
    """Alice uses kazoo and bob Curator; each waits for a node of the other library."""
    made = report(AB_BA, interop=True)

    names = ("alice", "bob")
    assert [deadlock.rule for deadlock in made.deadlocks] == ["D1"]
    assert {*made.deadlocks[0].actors} == {session_text(session(name)) for name in names}


def test_a_chain_across_libraries_is_none() -> None:
    """Another session is behind bob, who waits for no one."""
    cem = curator("cem", 1, czxid=104)

    made = report({**AB_BA, "/locks/orders": (k("alice", 0, czxid=101), cem)}, interop=True)

    assert not made.deadlocks
    assert [root.blocked for root in made.blockers] == [2]


def test_a_client_does_not_wait_for_a_node_that_it_does_not_count() -> None:
    """Everybody is first for his own library."""
    assert not report(AB_BA, interop=False).deadlocks


@pytest.mark.parametrize("interop", [True, False])
def test_only_the_blind_are_called_blind(*, interop: bool) -> None:
    """S2 is for libraries that do not see each other."""
    rules = {finding.rule for finding in report(AB_BA, interop=interop).findings}

    assert ("S2" in rules) is not interop


@pytest.mark.parametrize(("foreign", "holds"), [("00-config", False), ("config", True)])
def test_a_foreign_child_blocks_the_clients_that_count_it(*, foreign: str, holds: bool) -> None:
    """Curator sorts it before its own nodes or behind them; the config is about libraries."""
    children = At(foreign, "", czxid=50), curator("bob", 1), k("alice", 2), curator("cem", 3)
    made = report({"/locks/orders": children}, interop=True)
    view = made.view("/locks/orders")

    assert view is not None
    assert [one.owner for one in view.holders] == ["bob"] * holds
    assert ("B10" in {finding.rule for finding in made.findings}) is not holds
