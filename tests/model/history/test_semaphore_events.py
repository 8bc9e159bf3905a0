"""A client that takes a lease leaves the queue of the semaphore with it: it did not give up."""

from collections.abc import Sequence

from model.make_facts import NOW, kazoo_name, session
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    ANN_AT_GATE,
    ANN_CURATOR_LEASE,
    ANN_LEASE,
    BOB_CURATOR_LEASE,
    CURATOR_GATE,
    GATE,
    LEASES,
    POOL,
    created,
    curator_pool,
    folder,
    gone,
    kazoo_pool,
    named,
    reports,
)

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.format import iso
from zktop.model.history.events import LEASE_OVER, Event, Since
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.world import World


def said(found: Sequence[Report]) -> list[tuple[str, str | None, int | None]]:
    """Each event of a client, with how long it waited."""
    return [
        (one.event, one.owner, _waited(one))
        for report in found
        for one in report.events
        if one.node is not None
    ]


def _waited(event: Event) -> int | None:
    return None if event.waited is None else event.waited.ms


def test_a_kazoo_client_waits_from_the_gate_to_its_lease() -> None:
    """One arrival and one acquisition; that it leaves the gate is no event."""
    found = reports(
        kazoo_pool(leases=1),
        [created(ANN_AT_GATE, "ann", 100)],
        [created(ANN_LEASE, "ann", 130)],
        [gone(ANN_AT_GATE, 140)],
    )

    assert said(found) == [("queued", "ann", None), ("acquired", "ann", 30)]


def test_it_is_the_same_if_all_of_it_is_seen_at_once() -> None:
    """The lease came and the place went between two looks."""
    found = reports(
        kazoo_pool(leases=1),
        [created(ANN_AT_GATE, "ann", 100)],
        [created(ANN_LEASE, "ann", 130), gone(ANN_AT_GATE, 140)],
    )

    assert said(found) == [("queued", "ann", None), ("acquired", "ann", 40)]


def test_it_is_the_same_if_the_lease_is_read_later() -> None:
    """Its name comes with the event, its owner when it is read."""
    found = reports(
        kazoo_pool(leases=1),
        [created(ANN_AT_GATE, "ann", 100)],
        [named(ANN_LEASE, 130), gone(ANN_AT_GATE, 131)],
        [created(ANN_LEASE, "ann", 130)],
    )

    assert said(found) == [("queued", "ann", None), ("acquired", None, 31)]


def test_a_lease_of_another_client_serves_nobody_at_the_gate() -> None:
    """Cem was too quick to be seen there; bob gives up."""
    place = join(GATE, kazoo_name("bob", 1))
    found = reports(
        kazoo_pool(leases=1),
        [created(place, "bob", 100)],
        [named(ANN_LEASE, 130)],
        [created(ANN_LEASE, "cem", 130)],
        [gone(place, 150)],
    )

    assert said(found)[-1] == ("abandoned", "bob", 50)


def test_a_client_that_leaves_the_gate_without_a_lease_gave_up() -> None:
    """Ann has the only lease; bob waited for it."""
    place = join(GATE, kazoo_name("bob", 1))
    found = reports(
        [*kazoo_pool(leases=1), created(ANN_LEASE, "ann", 90)],
        [created(place, "bob", 100)],
        [gone(place, 150)],
    )

    assert said(found) == [("queued", "bob", None), ("abandoned", "bob", 50)]


def test_two_threads_of_a_session_are_told_apart() -> None:
    """The first takes the lease and leaves; the second gives up."""
    first, second = (join(GATE, kazoo_name(thread, n)) for n, thread in enumerate("ab"))
    found = reports(
        kazoo_pool(leases=1),
        [created(first, "ann", 100)],
        [created(second, "ann", 110)],
        [created(ANN_LEASE, "ann", 130)],
        [gone(first, 140)],
        [gone(second, 190)],
    )

    assert [kind for kind, *_ in said(found)] == ["queued", "queued", "acquired", "abandoned"]


def test_a_served_client_does_not_wait_any_more() -> None:
    """Its place is left for some milliseconds, beside its lease."""
    *_, found = reports(
        kazoo_pool(leases=1), [created(ANN_AT_GATE, "ann", 100)], [created(ANN_LEASE, "ann", 130)]
    )

    lock = found.records[Text(POOL)].lock
    assert [one.label for one in lock.holders] == ["ann"]
    assert [*lock.waiters] == []


def test_a_curator_client_waits_from_the_gate_to_its_lease() -> None:
    """Its lease exists before it is granted, which shows when it leaves the gate."""
    other = BOB_CURATOR_LEASE.replace("lease-0000000000", "lease-0000000002")
    found = reports(
        [*curator_pool(), created(other, "cem", 95)],
        [created(ANN_AT_CURATOR_GATE, "ann", 100)],
        [created(ANN_CURATOR_LEASE, "ann", 110)],
        [gone(BOB_CURATOR_LEASE, 150)],
        [gone(ANN_AT_CURATOR_GATE, 160)],
    )

    assert [one for one in said(found) if one[1] == "ann"] == [
        ("queued", "ann", None),
        ("acquired", "ann", 60),
    ]


def test_a_curator_client_has_the_only_lease_before_it_leaves_the_gate() -> None:
    """Every semaphore has one lease, so that of bob was all that it waited for."""
    found = reports(
        curator_pool(),
        [created(ANN_AT_CURATOR_GATE, "ann", 100)],
        [created(ANN_CURATOR_LEASE, "ann", 110)],
        [gone(BOB_CURATOR_LEASE, 150)],
        [gone(ANN_AT_CURATOR_GATE, 160)],
    )

    assert said(found)[-1] == ("acquired", "ann", 50)


def test_a_lease_that_was_not_read_yet_is_not_granted() -> None:
    """Its client is still at the gate; what is known later proves nothing else."""
    found = reports(
        curator_pool(),
        [created(ANN_AT_CURATOR_GATE, "ann", 100)],
        [named(ANN_CURATOR_LEASE, 110)],
        [created(ANN_CURATOR_LEASE, "ann", 110)],
        [gone(BOB_CURATOR_LEASE, 150)],
        [gone(ANN_AT_CURATOR_GATE, 160)],
    )

    assert [kind for kind, owner, _ in said(found) if owner != "bob"] == ["queued", "acquired"]


def test_a_lease_of_kazoo_was_held_since_it_was_created() -> None:
    """Kazoo creates it on acquiring, so later arrivals and departures do not matter."""
    first, later = created(ANN_LEASE, "ann", 90), created(join(GATE, "x" * 32), "dan", 99_000)
    (report,) = reports([*kazoo_pool(2), first, later])

    assert granted(report) == {"a" * 32: Since(NOW, "at-least")}


def test_each_lease_of_kazoo_is_dated_by_its_own_creation() -> None:
    """A younger lease of the semaphore says nothing about an older one."""
    stat = Stat(80, 80, NOW - 60_000, owner=session("bob"))
    old = Node(path=join(LEASES, "b" * 32), stat=stat, data=b"bob", zxid=80, at=NOW)
    (report,) = reports([*kazoo_pool(2), old, created(ANN_LEASE, "ann", 90)])

    assert granted(report) == {
        "b" * 32: Since(NOW - 60_000, "at-least"),
        "a" * 32: Since(NOW, "at-least"),
    }


def test_each_timed_lease_of_kazoo_is_dated_by_its_own_creation() -> None:
    """Kazoo deletes the node of an old lease and creates another for each new one."""
    slots = [*lease_in(f"{POOL}/0", 80), *lease_in(f"{POOL}/1", 70)]
    (report,) = reports([*folder(POOL, "0", "1"), *slots])

    assert granted(report) == {
        "0/lease_holder": Since(NOW - 80, "at-least"),
        "1/lease_holder": Since(NOW - 70, "at-least"),
    }


def test_an_empty_queue_that_the_server_removes_is_no_missed_node() -> None:
    """Curator's folders are containers; the queue is empty as soon as all leases are given out."""
    stat = Stat(50, 50, 0, cversion=3, num_children=1, pzxid=95)
    reaped = [
        gone(CURATOR_GATE, 95),
        Children(path=Text(POOL), names=(Text("leases"),), stat=stat, zxid=95, at=NOW + 95),
    ]
    begun, later = reports(curator_pool(), reaped)

    assert (begun.events, later.events) == ((), ())


def test_a_lease_that_is_over_was_not_released() -> None:
    """Its node stays, and its client may not have noticed."""
    slot = [*folder(POOL, "0"), *lease_in(f"{POOL}/0", 80)]
    examiner, world = Examiner(), World().after(*slot)
    held, over = (examiner.look(world, NOW + late) for late in (1_000, 60_000))

    assert held.events == ()
    assert [(event.event, event.why) for event in over.events] == [("released", LEASE_OVER)]


def lease_in(slot: str, age_ms: int) -> list[AnyFact]:
    """A slot of kazoo's MultiNonBlockingLease, taken some time ago and held for a minute more."""
    stat = Stat(58, 58, NOW - age_ms)
    data = f'{{"version": 1, "holder": "ann", "end": "{iso(NOW + 60_000)}"}}'.encode()
    holder = Node(path=join(slot, "lease_holder"), stat=stat, data=data, zxid=60, at=NOW)
    return [*folder(slot, "lease_holder"), holder]


def granted(report: Report) -> dict[str, Since]:
    """Since when each holder has held the lock."""
    view = report.view(POOL)
    assert view is not None
    return {one.node: view.history.granted(one) for one in view.lock.holders}


def test_leases_of_a_contended_kazoo_semaphore_are_dated_too() -> None:
    """Also if those who wait are older than the newest lease."""
    gate = [join(GATE, kazoo_name(owner, number)) for number, owner in enumerate(("bob", "cat"))]
    waiting = [created(path, "bob", 90 + number) for number, path in enumerate(gate)]
    (report,) = reports([*kazoo_pool(1), *waiting, created(ANN_LEASE, "ann", 99)])

    assert granted(report) == {"a" * 32: Since(NOW, "at-least")}
