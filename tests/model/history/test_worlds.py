"""The whole way: facts into a world, a world into a lock, two locks into events."""

from model.make_facts import NOW, connections, lock, own, row, session, watches, world
from model.make_facts import ZK1 as ZK
from model.plain_locks import note

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Complete, Gone, Node, Stat, join
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import Since
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.world import World

ORDERS = "/orders"


def orders(known: World, previous: Lock | None = None) -> Lock:
    """The lock in this world."""
    found = lock_at(ORDERS, known, Settings(), NOW, previous)
    assert isinstance(found, Lock)
    return found


def test_a_kazoo_lock_changes_hands() -> None:
    """One deletion that a watch reports is a release and a grant."""
    facts = lock(ORDERS, "alice", "bob")
    first = world(own(), *facts)
    before = orders(first)
    histories = LockHistories()
    note(histories, ORDERS, None, before, Ensemble.of(first, NOW), NOW)
    alice = before.holders[0]
    second = first.after(Gone(path=join(ORDERS, alice.node), zxid=200, at=NOW + 500))

    events = note(
        histories, ORDERS, before, orders(second, before), Ensemble.of(second, NOW), NOW + 500
    )

    assert [(event.event, event.owner) for event in events] == [
        ("released", "alice"),
        ("acquired", "bob"),
    ]


def test_a_newcomer_is_queued_once() -> None:
    """Its name is known first, then it is read: the second makes no event."""
    first = world(own(), *lock(ORDERS, "alice"))
    known, histories = orders(first), LockHistories()
    note(histories, ORDERS, None, known, Ensemble.of(first, NOW), NOW)
    path = join(ORDERS, lock(ORDERS, "alice", "bob")[0].names[1])
    stat = Stat(300, 300, NOW, owner=session("bob"))
    heard: list[AnyFact] = [
        Node(path=path, zxid=300, at=NOW + 1),
        Node(path=path, stat=stat, data=b"bob", zxid=301, at=NOW + 2),
    ]
    found = []
    for fact in heard:
        first = first.after(fact)
        before, known = known, orders(first, known)
        found += note(histories, ORDERS, before, known, Ensemble.of(first, NOW), fact.at)

    assert [event.event for event in found] == ["queued"]
    bob = known.waiters[0]
    assert histories.of(ORDERS).since(bob, holds=False) == Since(NOW + 1, "seen")


def test_a_kazoo_waiter_watches_the_one_before() -> None:
    """The verdict of a real lock and a real table."""
    facts = lock(ORDERS, "alice", "bob")
    names = facts[0].names
    rows = {"bob": (join(ORDERS, names[0]),)}
    known = world(own(), *facts, connections(ZK, row("bob")), watches(ZK, rows))
    found = orders(known)

    lookout = WatchCheck(found, Ensemble.of(known, NOW))

    assert [lookout.of(member).verdict for member in found.members] == ["none-needed", "confirmed"]


def test_no_transaction_is_missing_of_a_folder_that_was_deleted_with_its_lock() -> None:
    """The records of deleted nodes are forgotten with their folder."""
    listed, *nodes = lock(ORDERS, "alice")
    first = world(listed, *nodes, Complete(zxid=200, at=NOW))
    gone = [
        Gone(path=path, zxid=zxid, at=NOW + 500, by=session("alice"), how="deleted")
        for path, zxid in ((nodes[0].path, 201), (Text(ORDERS), 202))
    ]
    examiner = Examiner(Settings())
    examiner.look(first, NOW)
    events = examiner.look(first.after(*gone, Complete(zxid=202, at=NOW + 500)), NOW + 500).events

    left = next(event for event in events if event.event == "released")
    assert left.why == "it was deleted together with the lock"
