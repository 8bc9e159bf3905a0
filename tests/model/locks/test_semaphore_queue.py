"""Leases have no numbers: they stand in the order in which they were taken."""

from model.findings.cases import At, facts

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
