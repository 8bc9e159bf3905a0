"""A client that does one thing after the other stays one thread, whatever is seen late."""

from collections.abc import Iterable

import msgspec
import pytest
from model.make_facts import NOW, kazoo_name, lock, session

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.text import Text
from zktop.model.world.world import World

FIRST, SECOND = Text("/locks/first"), Text("/locks/second")
RING = (
    *lock("/locks/p", "ann", "bob", czxid=400),
    *lock("/locks/q", "bob", "ann", czxid=400),
)


def listed_at(zxid: int, facts: Iterable[AnyFact]) -> list[AnyFact]:
    """The same facts, read at this zxid."""
    return [msgspec.structs.replace(fact, zxid=zxid) for fact in facts]


@pytest.mark.parametrize("gone", [FIRST, join(FIRST, kazoo_name("ann", 0))])
def test_a_lock_released_after_a_wait_that_ended_unseen_is_no_second_thread(gone: Text) -> None:
    """Ann got the second lock and finished before she released the first one, at 300."""
    examiner = Examiner()
    first = listed_at(100, lock(FIRST, "ann", czxid=60))
    now = World().after(*first, *listed_at(150, lock(SECOND, "bob", "ann", czxid=70)))
    examiner.look(now, NOW)
    now = now.after(Gone(path=gone, zxid=300, at=NOW))
    examiner.look(now, NOW + 10)
    now = now.after(Gone(path=SECOND, zxid=310, at=NOW), *RING)

    assert [one.rule for one in examiner.look(now, NOW + 60_000).deadlocks] == ["D1"]


def test_a_node_created_again_does_not_say_when_the_earlier_one_went() -> None:
    """The last listing of the lock is older than the second node."""
    examiner, path = Examiner(), join(FIRST, kazoo_name("ann", 0))
    first = listed_at(100, lock(FIRST, "ann", czxid=60))
    now = World().after(*first, *listed_at(150, lock(SECOND, "bob", "ann", czxid=70)))
    examiner.look(now, NOW)
    again = Stat(300, 300, NOW, owner=session("cid"))
    now = now.after(Node(path=path, stat=again, data=b"cid", zxid=300, at=NOW))
    examiner.look(now, NOW + 10)
    now = now.after(Gone(path=SECOND, zxid=310, at=NOW), *RING)

    assert [one.rule for one in examiner.look(now, NOW + 60_000).deadlocks] == ["D1"]


def election(*names: Text, zxid: int) -> list[AnyFact]:
    """An election with these candidates: dot, ann and cid, or the last of them."""
    stat = Stat(50, 50, 0, cversion=9, num_children=len(names), pzxid=zxid)
    path = Text("/locks/election")
    owners = ("dot", "ann", "cid")[-len(names) :]
    nodes = [
        Node(
            path=join(path, name),
            stat=Stat(60 + at, 60 + at, NOW, owner=session(owner)),
            data=b"",
            zxid=zxid,
            at=NOW,
        )
        for at, (name, owner) in enumerate(zip(names, owners, strict=True), start=3 - len(names))
    ]
    return [Children(path=path, names=names, stat=stat, zxid=zxid, at=NOW), *nodes]


def test_a_candidate_whose_queue_moves_up_has_released_nothing() -> None:
    """The last latch of Curator leaves, so the queue of kazoo is the first one."""
    latch = Text("_c_00000000-0000-4000-8000-000000000000-latch-0000000000")
    names = (latch, kazoo_name("ann", 1), kazoo_name("cid", 2))
    ring = (*lock("/locks/p", "ann", "bob", czxid=70), *lock("/locks/q", "bob", "ann", czxid=70))
    examiner, now = Examiner(), World().after(*election(*names, zxid=100), *ring)
    before = examiner.look(now, NOW + 5_000)
    now = now.after(*election(*names[1:], zxid=200), *listed_at(200, ring))
    after = examiner.look(now, NOW + 6_000)

    assert [one.rule for one in before.deadlocks] == ["D1"]
    assert [one.rule for one in after.deadlocks] == ["D1"]
