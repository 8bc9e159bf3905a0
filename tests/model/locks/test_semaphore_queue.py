"""Leases: in which order they stand, and which of them are held."""

import pytest
from model.builders import session, world
from model.findings.cases import At, facts
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    ANN_CURATOR_LEASE,
    CURATOR_GATE,
    CURATOR_LEASES,
    POOL,
    created,
    folder,
)

from zktop.model.facts import Children, Text
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings
from zktop.model.world.world import World

PATH = "/pool"


def test_kazoo_leases_stand_in_order_of_arrival() -> None:
    """Their names are random, and servers list them in any order."""
    taken = [At("f" * 32, "ann", 101), At("0" * 32, "bob", 102), At("8" * 32, "cem", 103)]
    gate = Children(path=Text(f"{PATH}-__lock__"), names=(), stat=None, zxid=1, at=0)
    known = facts(taken[1], taken[2], taken[0], path=PATH, data=b"3")

    made = lock_at(Text(PATH), World().after(*known, gate), Settings(), 0)

    assert isinstance(made, Lock)
    assert made.layout == "kazoo-semaphore"
    assert [member.node for member in made.holders] == [one.name for one in taken]


def test_the_only_lease_of_a_semaphore_is_held() -> None:
    """Its client has not left the gate yet; but no semaphore has 0 leases."""
    empty = [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *folder(CURATOR_LEASES)]
    ann = created(ANN_AT_CURATOR_GATE, "ann", 100), created(ANN_CURATOR_LEASE, "ann", 110)
    made = lock_at(Text(POOL), world(*empty, *ann), Settings(), 0)

    assert isinstance(made, Lock)
    assert made.leases is None
    assert [member.owner for member in made.holders] == [session("ann")]


@pytest.mark.parametrize(("below", "leases"), [("", 1), ("/0", None)])
def test_the_number_of_leases_that_are_created_on_demand_is_unknown(
    below: str, leases: int | None
) -> None:
    """MultiNonBlockingLease creates slot 1 only when slot 0 is taken; NonBlockingLease is one."""
    slot = f"/lease{below}"
    known = [*folder(slot, "lease_holder"), created(f"{slot}/lease_holder", "", 60)]
    known = [*folder("/lease", "0"), *known] if below else known
    made = lock_at(Text("/lease"), world(*known), Settings(), 0)

    assert isinstance(made, Lock)
    assert made.layout == "kazoo-lease"
    assert (made.leases, made.leases_are) == (leases, "known" if leases else None)
