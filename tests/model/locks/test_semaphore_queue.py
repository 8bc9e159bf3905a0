"""Leases: in which order they stand, and which of them are held."""

from collections.abc import Sequence

import msgspec
import pytest
from model.findings.cases import At, facts
from model.make_facts import NOW, kazoo_name, session, world
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    ANN_AT_GATE,
    ANN_CURATOR_LEASE,
    ANN_LEASE,
    BOB_CURATOR_LEASE,
    CURATOR_GATE,
    CURATOR_LEASES,
    GATE,
    POOL,
    created,
    curator_pool,
    folder,
    gone,
    kazoo_pool,
    reports,
)

from zktop.model.facts import AnyFact, Children, Stat, Text, join
from zktop.model.locks.lock import Lock, Target, absolute_path
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.queue import HERE
from zktop.model.root_entry import Root
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


@pytest.mark.parametrize("owner", [0, session("eve")], ids=["persistent", "ephemeral"])
def test_a_kazoo_semaphore_whose_leases_all_belong_to_foreign_children_is_a_lock(
    owner: int,
) -> None:
    """Kazoo counts every child of the pool, so the client at the gate waits for ever."""
    note = created(join(POOL, "note"), "", 60)
    note = msgspec.structs.replace(note, stat=Stat(60, 60, NOW, owner=owner))
    pool = [*folder(GATE), *folder(POOL, "note", data=b"1"), note]
    made = lock_at(Text(POOL), world(*pool, created(ANN_AT_GATE, "ann", 100)), Settings(), 0)

    assert isinstance(made, Lock)
    assert made.layout == "kazoo-semaphore"
    assert not made.holders
    assert [member.owner for member in made.waiters] == [session("ann")]
    assert [child.node for child in made.obstacles] == ["note"]


def test_the_only_lease_of_a_semaphore_is_held() -> None:
    """Its client has not left the gate yet; but no semaphore has 0 leases."""
    empty = [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *folder(CURATOR_LEASES)]
    ann = created(ANN_AT_CURATOR_GATE, "ann", 100), created(ANN_CURATOR_LEASE, "ann", 110)
    made = lock_at(Text(POOL), world(*empty, *ann), Settings(), 0)

    assert isinstance(made, Lock)
    assert made.leases is None
    assert [member.owner for member in made.holders] == [session("ann")]


def test_the_first_at_the_gate_of_curator_watches_nothing_before_it_has_its_lease() -> None:
    """It will create it now, whether a lease is free or not."""
    made = lock_at(
        POOL, world(*curator_pool(), created(ANN_AT_CURATOR_GATE, "ann", 100)), Settings(), 0
    )

    assert isinstance(made, Lock)
    (first,) = (member for member in made.members if member.owner == session("ann"))
    assert made.expected(first) == ()


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


def curators(*looks: Sequence[AnyFact]) -> tuple[list[str], list[str]]:
    """The holders and waiters of a semaphore of Curator, in which bob has a lease."""
    *_, last = reports(curator_pool(), *looks)
    lock = last.records[Text(POOL)].lock
    assert lock is not None
    holders, waiters = (
        [str(absolute_path(lock.path, one.node)) for one in some]
        for some in (lock.holders, lock.waiters)
    )
    return holders, waiters


NEXT_AT_CURATOR_GATE = ANN_AT_CURATOR_GATE.replace("1-lock-0000000001", "2-lock-0000000002")


def test_a_second_thread_waits_at_the_gate_of_curator() -> None:
    """The lease is that of the first thread, which has left."""
    threads = [created(ANN_AT_CURATOR_GATE, "ann", 101), created(NEXT_AT_CURATOR_GATE, "ann", 102)]
    served = [created(ANN_CURATOR_LEASE, "ann", 110)], [gone(ANN_AT_CURATOR_GATE, 111)]

    assert curators(threads, *served) == (
        [BOB_CURATOR_LEASE, ANN_CURATOR_LEASE],
        [NEXT_AT_CURATOR_GATE],
    )


def test_a_lease_stays_pending_when_a_client_behind_its_own_gives_up() -> None:
    """Ann waits long for a lease, and her node stays at the gate meanwhile."""
    gate = [created(ANN_AT_CURATOR_GATE, "ann", 101), created(NEXT_AT_CURATOR_GATE, "cid", 102)]
    left = [created(ANN_CURATOR_LEASE, "ann", 110), gone(NEXT_AT_CURATOR_GATE, 120)]

    assert curators([*gate, *left]) == ([BOB_CURATOR_LEASE], [ANN_CURATOR_LEASE])


FIRST, SECOND, THIRD = (join(GATE, kazoo_name(thread, n)) for n, thread in enumerate("abc"))


def waiting(*looks: Sequence[AnyFact]) -> list[str]:
    """The waiters of kazoo's semaphore of one after these groups of facts."""
    *_, last = reports(kazoo_pool(leases=1), *looks)
    lock = last.records[Text(POOL)].lock
    assert lock is not None
    return [absolute_path(lock.path, member.node) for member in lock.waiters]


def test_a_second_thread_of_the_holder_waits_for_its_lease() -> None:
    """The first thread took the lease and left the gate; both have one session."""
    threads = [created(FIRST, "ann", 101), created(SECOND, "ann", 102)]

    assert waiting(threads, [created(ANN_LEASE, "ann", 110)], [gone(FIRST, 111)]) == [SECOND]
    assert waiting(threads, [created(ANN_LEASE, "ann", 110), gone(FIRST, 111)]) == [SECOND]


def listing(*paths: str, zxid: int, pzxid: int) -> Children:
    """What is at the gate."""
    names = tuple(Text(path.rpartition("/")[2]) for path in paths)
    stat = Stat(50, 50, 0, cversion=4, num_children=len(names), pzxid=pzxid)
    return Children(path=Text(GATE), names=names, stat=stat, zxid=zxid, at=NOW + zxid)


def test_a_second_thread_still_waits_when_the_gate_is_listed_again() -> None:
    """The listing forgets who left, and a third thread has come since."""
    found = waiting(
        [created(FIRST, "ann", 101), created(SECOND, "ann", 102)],
        [created(ANN_LEASE, "ann", 110), gone(FIRST, 111)],
        [created(THIRD, "ann", 120), listing(SECOND, THIRD, zxid=130, pzxid=120)],
    )

    assert found == [SECOND, THIRD]


def test_a_second_thread_waits_if_the_lease_was_there_before_it_was_first() -> None:
    """The first thread left between two listings, and a third came."""
    found = waiting(
        [created(FIRST, "ann", 101), created(SECOND, "ann", 102)],
        [created(ANN_LEASE, "ann", 110)],
        [created(THIRD, "ann", 120), listing(SECOND, THIRD, zxid=130, pzxid=120)],
    )

    assert found == [SECOND, THIRD]


def test_a_second_thread_waits_if_the_last_change_of_the_gate_was_no_arrival() -> None:
    """At the first look: a node left after the lease."""
    gate = [created(SECOND, "ann", 102), listing(SECOND, zxid=120, pzxid=111)]

    assert waiting([created(ANN_LEASE, "ann", 110), *gate]) == [SECOND]


def test_a_client_is_served_though_another_left_the_gate_before() -> None:
    """Bob gave up before ann, the next one, took her lease."""
    gate = [created(FIRST, "bob", 101), created(SECOND, "ann", 102)]

    assert waiting(gate, [gone(FIRST, 105)], [created(ANN_LEASE, "ann", 110)]) == []


def test_a_lease_that_was_listed_before_the_change_at_the_gate_is_its_heads() -> None:
    """Bob took a lease and returned it in an instant; the gate is listed after ann's lease."""
    found = waiting(
        [created(FIRST, "bob", 101), created(SECOND, "ann", 102)],
        [listing(FIRST, SECOND, zxid=103, pzxid=102)],
        [created(ANN_LEASE, "ann", 110)],
        [listing(SECOND, zxid=112, pzxid=106)],
    )

    assert found == []


def test_a_second_thread_waits_if_the_lease_is_older_than_a_listing_with_another_head() -> None:
    """Bob was first after ann's first thread, and gave up when a fourth client came."""
    fourth = join(GATE, kazoo_name("d", 3))
    gate = [created(FIRST, "bob", 101), created(SECOND, "ann", 102), created(THIRD, "cid", 120)]
    found = waiting(
        [created(ANN_LEASE, "ann", 110), *gate],
        [listing(FIRST, SECOND, THIRD, zxid=125, pzxid=120)],
        [created(fourth, "dan", 135), listing(SECOND, THIRD, fourth, zxid=140, pzxid=135)],
    )

    assert found == [SECOND, THIRD, fourth]


def test_a_head_with_its_lease_is_still_served_at_the_next_look() -> None:
    """Bob came while ann was about to leave the gate."""
    found = waiting(
        [created(FIRST, "ann", 101)],
        [created(ANN_LEASE, "ann", 110)],
        [created(SECOND, "bob", 112)],
    )

    assert found == [SECOND]


@pytest.mark.parametrize("read", [[], [created(THIRD, "cid", 120)]])
def test_an_arrival_at_the_gate_is_no_departure(read: list[AnyFact]) -> None:
    """It was the last change of the gate, whether its node was read or not."""
    gate = [created(SECOND, "ann", 102), *read, listing(SECOND, THIRD, zxid=125, pzxid=120)]

    assert waiting([created(ANN_LEASE, "ann", 110), *gate]) == [THIRD]


def test_a_second_thread_waits_at_the_first_look() -> None:
    """A node has left the gate after the lease was taken."""
    gate = [created(SECOND, "ann", 102), listing(SECOND, zxid=120, pzxid=111)]
    known = world(*kazoo_pool(leases=1), created(ANN_LEASE, "ann", 110), *gate)
    made = lock_at(Text(POOL), known, Settings(), NOW)

    assert isinstance(made, Lock)
    assert [absolute_path(POOL, member.node) for member in made.waiters] == [SECOND]


@pytest.mark.parametrize(("leases", "held"), [(2, 1), (3, 2)])
def test_a_left_over_node_takes_a_permit_of_a_net_semaphore(leases: int, held: int) -> None:
    """Its clients count every node with a name like theirs, even one that no session owns."""
    name, settings = "semaphore-{:010d}", Settings(roots=(Root(PATH, leases=leases),))
    children = [At(name.format(0), "", 101), At(name.format(1), "ann", 102, label="ACQUIRED")]
    children.append(At(name.format(2), "bob", 103, label=""))

    made = lock_at(Text(PATH), World().after(*facts(*children, path=PATH)), settings, 0)

    assert isinstance(made, Lock)
    assert [member.node for member in made.holders] == [one.name for one in children[1 : 1 + held]]
    assert bool(made.obstacles) is bool(made.waiters)
    assert all(made.expected(one) == (Target(HERE, "children"),) for one in made.waiters)
