"""Which session removed a znode, and how; and when an import lists the sessions."""

import pytest
from txnlog.log_writer import ANN, T0

from zktop.app.import_files import LockPlaces
from zktop.model.facts import Gone
from zktop.model.settings import Settings
from zktop.txnlog import lock_facts
from zktop.txnlog.lock_facts import LockFacts
from zktop.txnlog.transactions import (
    CLOSE_SESSION,
    OPEN_SESSION,
    CloseSession,
    Create,
    Delete,
    OpenSession,
    Operation,
    SetData,
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
    """Another leader's clock, or one that was set back, says nothing about the time since."""
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


def create(number: int) -> Create:
    """A contender in a folder."""
    return Create(f"/a/lock-{number:010}", b"", is_ephemeral=True, cversion=number + 1)


@pytest.mark.parametrize(
    ("changes", "is_listed"),
    [
        ([create(0), Delete("/a/lock-0000000000")], False),
        ([create(0), create(1)], False),
        ([create(0), create(1), create(2), create(3)], True),
    ],
    ids=["a release", "a few nodes", "many nodes"],
)
@pytest.mark.parametrize("is_multi", [False, True])
def test_sessions_are_listed_again_once_one_of_them_owns_many_nodes(
    monkeypatch: pytest.MonkeyPatch,
    changes: list[Operation],
    *,
    is_listed: bool,
    is_multi: bool,
) -> None:
    """Not after each release; a multi that goes past the limit counts."""
    monkeypatch.setattr(lock_facts, "MANY_NODES", 3)
    tree = ZnodeTree()
    facts = LockFacts(tree, LockPlaces(Settings()))
    tree.apply(Transaction(1, T0, ANN, 0, OPEN_SESSION, (OpenSession(4_000),)))
    folder = Create("/a", b"", is_ephemeral=False, cversion=1)
    tree.apply(Transaction(2, T0, ANN, 1, 1, (folder,)))
    list(facts.begin(2, T0))
    list(facts.sessions(2, T0))
    at_once = [tuple(changes)] if is_multi else [(one,) for one in changes]
    for zxid, operations in enumerate(at_once, 3):
        one = Transaction(zxid, T0, ANN, zxid, 14, operations)
        facts.after(one, tree.apply(one), T0)

    assert bool(list(facts.sessions(9, T0 + 60_000))) == is_listed


def test_sessions_are_listed_again_once_one_of_them_no_longer_owns_many_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The finding about a session with many nodes ends, also if they are deleted one by one."""
    monkeypatch.setattr(lock_facts, "MANY_NODES", 3)
    tree = ZnodeTree()
    facts = LockFacts(tree, LockPlaces(Settings()))
    tree.apply(Transaction(1, T0, ANN, 0, OPEN_SESSION, (OpenSession(4_000),)))
    changes: list[Operation] = [Create("/a", b"", is_ephemeral=False, cversion=1)]
    changes += [*map(create, range(3)), Delete("/a/lock-0000000001")]
    list(facts.begin(1, T0))
    large: list[object] = []
    for zxid, change in enumerate(changes, 2):
        one = Transaction(zxid, T0, ANN, zxid, 14, (change,))
        facts.after(one, tree.apply(one), T0)
        large += [expiry.ephemerals for expiry in facts.sessions(zxid, T0 + zxid * 60_000)]

    assert large[0] is None
    assert large[1] is not None
    assert large[2:] == [None]


def test_changes_of_data_list_no_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if their session owns exactly MANY_NODES."""
    monkeypatch.setattr(lock_facts, "MANY_NODES", 3)
    tree = ZnodeTree()
    facts = LockFacts(tree, LockPlaces(Settings()))
    tree.apply(Transaction(1, T0, ANN, 0, OPEN_SESSION, (OpenSession(4_000),)))
    changes: list[Operation] = [Create("/a", b"", is_ephemeral=False, cversion=1)]
    changes += [*map(create, range(3)), SetData("/a/lock-0000000000", b"x", 1)]
    listed = []
    for zxid, change in enumerate(changes, 2):
        one = Transaction(zxid, T0, ANN, zxid, 14, (change,))
        facts.after(one, tree.apply(one), T0)
        listed.append(bool(list(facts.sessions(zxid, T0 + zxid * 60_000))))

    assert listed == [True, False, False, True, False]
