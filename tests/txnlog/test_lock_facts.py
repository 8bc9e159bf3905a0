"""Which session removed a znode, and how."""

import pytest
from txnlog.log_writer import ANN, T0

from zktop.app.import_files import LockPlaces
from zktop.model.facts import Gone
from zktop.model.settings import Settings
from zktop.txnlog.lock_facts import LockFacts
from zktop.txnlog.transactions import (
    CLOSE_SESSION,
    OPEN_SESSION,
    CloseSession,
    Create,
    OpenSession,
    Operation,
    Transaction,
)
from zktop.txnlog.znode_tree import ZnodeTree

NODE = "/a/lock-0000000000"


@pytest.mark.parametrize(
    ("end_zxid", "at", "how"),
    [
        (9, 1_000, "ended"),
        (9, 20_000, "expired"),
        (9, -20_000, "expired"),
        (1 << 32, 0, "expired"),
    ],
    ids=["young", "old", "set back", "new leader"],
)
def test_only_one_clock_proves_that_an_active_session_was_ended(
    end_zxid: int, at: int, how: str
) -> None:
    """Another leader's clock, or one that was set back, says nothing of the time since."""
    tree = ZnodeTree()
    facts = LockFacts(tree, LockPlaces(Settings()))
    list(facts.begin(0, T0))
    story: list[tuple[int, int, int, int, Operation]] = [
        (1, 0, 0, OPEN_SESSION, OpenSession(4_000)),
        (2, 0, 1, 1, Create("/a", b"", is_ephemeral=False, cversion=1)),
        (3, 0, 2, 1, Create(NODE, b"", is_ephemeral=True, cversion=1)),
        (end_zxid, at, 0, CLOSE_SESSION, CloseSession((NODE,))),
    ]
    found: list[object] = []
    for zxid, ms, cxid, kind, change in story:
        one = Transaction(zxid, T0 + ms, ANN, cxid, kind, (change,))
        found += facts.after(one, tree.apply(one), T0 + max(ms, 0))

    assert [fact.how for fact in found if isinstance(fact, Gone)] == [how]
