"""Clients of three different servers of an ensemble: each server knows only its own."""

from collections.abc import Iterator

import pytest
from clients.glance import Told, glance, held, waiting
from clients.people import Stage, kazoo_people, virtual
from servers import RunningServer, real_ensemble

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def ensemble() -> Iterator[list[RunningServer]]:
    """Three servers."""
    with real_ensemble(3) as members:
        yield members


def test_what_several_servers_know_is_put_together(
    ensemble: list[RunningServer], classpath: str
) -> None:
    """A deadlock of a client of each: asked at one of them, which names the others."""
    first, second, third = ensemble
    orders, page = "/members/orders", "/members/page"
    with kazoo_people(first) as kazoo, virtual(third, classpath) as machine:
        stage = Stage(first, "/members", kazoo, machine.hire, machine.hire)
        (ann,), (bob,) = kazoo("ann"), kazoo("bob", hosts=second.address)
        cem, dee = machine.hire("cem", "dee")
        a, c = ann.acquire("Lock", orders), cem.acquire("ReadLock", page)
        bob.acquire("Lock", "/members/stock")
        b, d = bob.ask("Lock", orders), dee.ask("WriteLock", page)
        ann.ask("Lock", "/members/stock")

        seen = glance(stage, "/members/*")

    assert seen.lock(orders) == Told("kazoo-lock", "mutex", [held(a)], [waiting(b, a)])
    assert seen.lock(page) == Told(
        "curator-rw", "read-write", [held(c, "read")], [waiting(d, c, mode="write")]
    )
    assert seen.deadlocks == [("D1", {ann.session, bob.session})]
    where = [seen.of(one.session)["server"] for one in (ann, bob, cem, dee)]
    assert where == [first.address, second.address, third.address, third.address]
    assert seen.shot["source"]["sees"]["watches"] == "all"
