"""Which layout a root is recognised by, and that the order of a listing does not matter."""

from itertools import permutations
from unittest.mock import Mock

import pytest
from model.locks.lock_worlds import ROOT, ZXID, child, lock_in, nodes, world_of
from model.make_facts import NOW

from zktop.model.layouts.children_by_layout import sort_by_layout
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks import shapes
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.lock_kind import is_election
from zktop.model.locks.shapes import layout_named
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Znode

UUIDS = [f"d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a0{digit}" for digit in range(4)]


def found_in(*names: str, next_sequence: int, path: str = ROOT) -> tuple[str, list[list[str]]]:
    """The layout of a lock with these children, and its queues."""
    lock = lock_in(world_of(names, path=path, next_sequence=next_sequence), path)
    return lock.layout, [nodes(queue.members) for queue in lock.queues]


def test_a_member_newer_than_the_counter_does_not_make_a_lock_unknown() -> None:
    """An event reported it after the listing, whose counter has not reached its number."""
    world = world_of(["job-0000000001", "job-0000000002"], next_sequence=3)
    later = world.after(child("job-0000000003", czxid=ZXID + 1, zxid=ZXID + 2))

    assert len(lock_in(later).queues[0].members) == 3


def test_no_other_shape_is_tried_on_the_parent_of_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of thousands of folders named by a number asks whether the parent is a lease."""
    tried = Mock(wraps=shapes.shape_of)
    monkeypatch.setattr(shapes, "shape_of", tried)
    world = world_of(["1001", "1002"], next_sequence=3, path="/orders")

    assert shapes.part_of(LockSite(Text("/orders/1001"), world, Settings())) is None
    assert not tried.called


def test_a_number_that_the_counter_has_not_reached_is_none() -> None:
    """The name only looks numbered: the listing is newer than the node."""
    found = lock_at(ROOT, world_of(["job-0000000007"], next_sequence=3), Settings(), NOW)

    assert not isinstance(found, Lock)


def test_negative_numbers_are_compared_without_the_bit_that_the_counter_lacks() -> None:
    """After an overflow a counter of 31 bits begins again at zero."""
    names = ["job--2147483648", "job--2147483647"]

    assert found_in(*names, next_sequence=2) == ("named-sequence", [names[::-1]])  # as text


def test_of_two_guesses_one_is_kept_whatever_the_order_of_the_listing() -> None:
    """A recording sorts the names, a server does not."""
    names = [f"_c_{UUIDS[0]}-x-0000000001", "job-0000000002"]

    assert {found_in(*some, next_sequence=3)[0] for some in permutations(names)} == {
        "curator-custom"
    }


def test_a_large_number_does_not_split_a_curator_lock() -> None:
    """From 1,000,000,000 on, the dash before a number could be taken for a minus sign."""
    names = [f"_c_{UUIDS[n]}-job-{999_999_999 + n:010d}" for n in range(2)]

    assert found_in(*names, next_sequence=1_000_000_001) == ("curator-custom", [names])


def test_two_dashes_beside_one_are_a_minus_sign() -> None:
    """The counter of a folder of ZkAsyncLock has overflowed."""
    names = [f"{UUIDS[n].replace('-', '')}-lock-" for n in range(2)]
    children = [f"{names[0]}2147483646", f"{names[1]}-2147483647"]

    assert lock_in(world_of(children)).layout == "guid-lock"


def test_nodes_that_spring_left_behind_are_no_lock_without_their_folders() -> None:
    """Old versions named them after the lock of the application, which is gone by now."""
    names = [f"_c_{UUIDS[n]}-order-{n}{n:010d}" for n in range(2)]
    world = world_of(names, path="/SpringIntegration-LockRegistry", next_sequence=2)

    assert not isinstance(lock_at("/SpringIntegration-LockRegistry", world, Settings(), NOW), Lock)


@pytest.mark.parametrize("name", ["electronics", "selected", "leaderboard", "pre_selection"])
def test_words_that_contain_another_do_not_name_an_election(name: str) -> None:
    """A shop has electronics, and a game a leaderboard."""
    layout = layout_named("kazoo-lock")
    assert layout is not None

    assert not is_election(f"/shop/{name}", layout, ())


@pytest.mark.parametrize("name", ["election", "leader", "jobsElection", "LEADERS", "elect"])
def test_words_for_an_election_name_one(name: str) -> None:
    """In small and in large letters, at any place."""
    layout = layout_named("kazoo-lock")
    assert layout is not None

    assert is_election(f"/shop/{name}", layout, ())


def test_a_layout_of_the_user_is_found_in_every_order_of_the_listing() -> None:
    """It comes before the built-in layout that its sibling has."""
    own = Layout(name="mine", pattern="^lock-(?P<seq>00000000[01]7)$")
    names = ["lock-0000000001", "lock-0000000017"]
    known = (own, *BY_NAME)

    for some in permutations(names):
        found = sort_by_layout([Znode(Text(name)) for name in some], known)
        assert [str(p.znode.name) for p in found.matches["mine"]] == ["lock-0000000017"]
