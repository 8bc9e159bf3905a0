"""The number that comes next."""

import pytest
from model.locks.lock_worlds import ROOT, ZXID, child, gone, lock_in, world_of
from model.make_facts import NOW, kazoo_name
from model.semaphores import ANN_LEASE, LEASES, POOL, created, folder, kazoo_pool

from zktop.model.facts import Children, Node, Stat
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World


def members(count: int) -> list[str]:
    """Names that kazoo gives to so many contenders."""
    return [kazoo_name(f"w{at}", at) for at in range(count)]


def test_the_next_number_is_above_all_that_are_there() -> None:
    """The counter of the root may have been read before the newest members came."""
    made = lock_in(world_of(members(3), next_sequence=1))

    assert made.next_sequence == 3


def joined(*names: str) -> World:
    """A lock with one member when it was listed, and these children that came after."""
    return world_of(members(1), next_sequence=1).after(*came_after(*names))


def came_after(*names: str) -> list[Node]:
    """Children that came after the listing, each in a transaction of its own."""
    return [child(name, czxid=ZXID + at, zxid=ZXID + at) for at, name in enumerate(names, 1)]


def test_the_number_of_a_member_that_has_left_is_not_the_next_one() -> None:
    """It came after its lock was listed."""
    left = joined(*members(3)[1:]).after(gone(members(3)[2], zxid=2 * ZXID))

    assert lock_in(left).next_sequence == 3


def test_a_member_that_left_unread_has_used_a_number() -> None:
    """So a member that left has the number after that."""
    unread = joined().after(gone(members(2)[1], zxid=ZXID + 2))
    came = unread.after(child(members(3)[2], czxid=ZXID + 3, zxid=ZXID + 3))
    left = came.after(gone(members(3)[2], zxid=2 * ZXID))

    assert lock_in(left).next_sequence == 3


@pytest.mark.parametrize("name", ["x-1999999999", "x-0000000777", "x-0000000002", "42"])
def test_a_number_that_no_counter_gave_is_not_counted(name: str) -> None:
    """Of a child that the user named, and deleted: fewer children were created than that."""
    left = joined(name).after(gone(name, zxid=2 * ZXID))

    assert lock_in(left).next_sequence == 1


def test_a_number_of_an_older_child_is_not_counted() -> None:
    """It was in the listing, so the counter there is above each number that was given before."""
    left = world_of([*members(1), "x-0000000777"], next_sequence=2).after(
        gone("x-0000000777", zxid=2 * ZXID)
    )

    assert lock_in(left).next_sequence == 2


def test_facts_about_an_earlier_folder_do_not_change_the_next_number() -> None:
    """They are dropped as soon as the folder is known to have been created again."""
    old = child("x", czxid=4, zxid=5)
    known = world_of(members(1), next_sequence=1).after(old, *came_after(members(2)[1]))
    family = known.after(gone(members(2)[1], zxid=2 * ZXID)).family(Text(ROOT))

    assert family.oldest == 5
    assert family.since(6).removed_number == family.removed_number == 1


def test_a_listing_that_is_older_than_a_member_does_not_count_it() -> None:
    """It was read before that member came, and arrives after it."""
    names, stat = (Text(members(1)[0]),), Stat(1, 1, 0, cversion=1, num_children=1)
    late = Children(zxid=ZXID + 1, at=2, path=Text(ROOT), names=names, stat=stat)
    came = world_of(members(1), next_sequence=1).after(
        child(members(2)[1], czxid=ZXID + 2, zxid=ZXID + 2), late
    )
    left = came.after(gone(members(2)[1], zxid=2 * ZXID))

    assert lock_in(left).next_sequence == 2


def test_a_listing_has_a_newer_counter_than_members_that_have_left() -> None:
    """The folder may have been created again, and counts from 0."""
    left = world_of(members(3), next_sequence=3).after(gone(members(3)[2], zxid=2 * ZXID))
    again = Children(
        zxid=3 * ZXID,
        at=2,
        path=Text(ROOT),
        names=(Text(members(1)[0]),),
        stat=Stat(2 * ZXID, 2 * ZXID, 0, cversion=1, num_children=1),
    )

    assert lock_in(left.after(again)).next_sequence == 1


def test_behind_the_last_number_only_the_counter_tells() -> None:
    """The number after that is a negative one."""
    names = [kazoo_name("a", 2_147_483_647), kazoo_name("b", -2_147_483_648)]

    assert lock_in(world_of(names, next_sequence=5)).next_sequence == 5
    assert lock_in(world_of(names[:1], next_sequence=5)).next_sequence == 5


def test_where_members_have_no_number_there_is_no_next_one() -> None:
    """The counter of their folder counts something else; an empty queue may be numbered."""
    used = world_of(members(1), next_sequence=7)
    empty = used.after(gone(members(1)[0], zxid=2 * ZXID))
    pool = World().after(*kazoo_pool(1))
    leased = pool.after(*folder(LEASES, "a" * 32), created(ANN_LEASE, "ann", 60))
    settings = Settings(roots=(Root(POOL),))
    leases = [lock_at(POOL, known, settings, NOW) for known in (pool, leased)]

    assert lock_in(empty, previous=lock_in(used)).next_sequence == 7
    assert [(one.kind, one.next_sequence) for one in leases] == [("semaphore", None)] * 2
