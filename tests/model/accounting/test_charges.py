"""Members that enter and leave a lock, as accounting counts them."""

from model.builders import NOW, session
from model.plain_locks import lock_of, member

from zktop.model.accounting.charges import Charges
from zktop.model.actors import Actors
from zktop.model.locks.lock import Lock
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text

PATH = Text("/a")
ALICE, BOB = member("alice", 1, 11), member("bob", 2, 12)
UNDERSTOOD = lock_of(PATH, [ALICE, BOB])
FOREIGN = lock_of(PATH, [BOB], foreign=(ALICE.node,))


def charges_of(*versions: Lock) -> Charges:
    """The charges after these versions of a lock, one a second."""
    charges = Charges(Actors(Settings()), NOW)
    for second, lock in enumerate(versions):
        charges.end_look()
        charges.change(PATH, lock, len(lock.waiters), NOW + second * 1000)
    return charges


def test_a_foreign_child_that_becomes_a_member_waits_or_holds() -> None:
    """Its layout was recognised late."""
    charges = charges_of(FOREIGN, UNDERSTOOD)

    assert charges.actor_of(PATH, ALICE.node) == session_text(session("alice"))
    assert charges.locks[PATH].holders == {ALICE.node}


def test_a_member_that_becomes_foreign_is_charged_no_longer() -> None:
    """Alice kept Bob waiting for a second; in the next one he has the lock."""
    charges = charges_of(UNDERSTOOD, FOREIGN)
    charges.settle(NOW + 2_000)

    assert charges.locks[PATH].members.keys() == {BOB.node}
    assert charges.locks[PATH].by_actor[session_text(session("alice"))].alone_ms == 1_000
