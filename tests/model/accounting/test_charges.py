"""Members that enter and leave a lock, as accounting counts them."""

from time import process_time

import pytest
from model.make_facts import NOW, session
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


def test_outages_are_left_out() -> None:
    """Of every ten milliseconds, the last two; a period may begin or end within an outage."""
    charges = with_outages(10)

    assert charges.elapsed(NOW, NOW + 1_000) == 980
    assert charges.elapsed(NOW + 9, NOW + 39) == 24
    assert charges.elapsed(NOW + 8, NOW + 10) == 0
    assert charges.elapsed(NOW - 1_000, NOW + 5) == 5


def test_the_time_for_a_charge_does_not_grow_with_the_number_of_outages() -> None:
    """A week of recordings may have thousands."""
    assert seconds(with_outages(10_000)) < 20 * seconds(with_outages(10))


def with_outages(number: int) -> Charges:
    """So many, each in the last two of ten milliseconds."""
    charges = Charges(Actors(Settings()), NOW)
    for n in range(1, number + 1):
        charges.unseen(NOW + 10 * n - 2, NOW + 10 * n)
    return charges


def seconds(charges: Charges) -> float:
    """How long a hundred charges take, at best."""
    taken = []
    for _ in range(3):
        start = process_time()
        for n in range(100):
            charges.elapsed(NOW + n, NOW + 2 * n)
        taken.append(process_time() - start)
    return min(taken)


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


@pytest.mark.parametrize(("blocking", "waited_ms"), [(False, 0), (True, 1_000)])
def test_candidates_wait_only_in_an_election_that_blocks(
    *, blocking: bool, waited_ms: int
) -> None:
    """Otherwise they stand by."""
    election = lock_of(PATH, [ALICE, BOB], kind="election", blocking=blocking)
    charges = charges_of(election)
    charges.settle(NOW + 1_000)

    assert charges.actors[session_text(session("bob"))].waited_ms == waited_ms
