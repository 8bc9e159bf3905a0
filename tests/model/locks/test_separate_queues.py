"""Locks of their own that share a folder."""

from weakref import ref

import pytest
from model.findings.cases import At, curator, facts, k, plain
from model.make_facts import NOW, session
from model.semaphores import POOL, curator_pool, reports
from ui.fake_feed import frames

from zktop.model.locks.lock import Lock
from zktop.model.locks.open_folder import part_held_by
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE

SHARED = "/locks/shared"
TWO_NAMES = (plain("ann", 0, "stock-"), plain("bob", 1, "stock-"), plain("xen", 2, "price-"))


def lock_of(*children: At, layout: str | None = None) -> Lock:
    """The lock of these children."""
    settings = Settings(roots=(Root(path=SHARED, layout=layout),))
    (frame,) = frames((NOW, facts(*children, path=SHARED)), settings=settings)
    return frame.report.records[frame.report.paths[0]].lock


def test_clients_that_name_their_lock_wait_only_for_those_of_that_name() -> None:
    """The waiters of a holder are those of its queue."""
    lock = lock_of(*TWO_NAMES, layout="named-sequence")

    assert lock.has_separate_queues
    assert [one.owner for one in part_held_by(lock, session("ann")).waiters] == [session("bob")]
    assert [*part_held_by(lock, session("xen")).waiters] == []


def test_a_member_is_found_without_a_search_through_all_queues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder may have thousands of them: a snapshot of 10,000 took 19 s."""
    lock = lock_of(*(plain("ann", n, f"{n}-") for n in range(40)), layout="named-sequence")
    members, asked = list(lock.members), list[str]()
    kind = type(lock.queues[0])
    find = kind.find
    monkeypatch.setattr(kind, "find", lambda queue, node: asked.append(node) or find(queue, node))
    for member in members:
        assert lock.member(member.node) is member
        assert WatchCheck(lock, NO_ENSEMBLE).of(member).verdict == "none-needed"

    assert len(asked) <= 2 * len(members)


@pytest.mark.parametrize(
    "children",
    [
        (k("ann", 0), k("bob", 1)),
        (k("ann", 0), curator("bob", 1), k("cid", 2)),
    ],
)
def test_clients_that_count_each_other_are_in_one_queue(children: tuple[At, ...]) -> None:
    """Also clients of two libraries."""
    lock = lock_of(*children)

    assert not lock.has_separate_queues
    assert part_held_by(lock, session("bob")) is lock


def test_nothing_keeps_a_lock_whose_queues_were_compared() -> None:
    """Its queues end with it."""
    lock = lock_of(*TWO_NAMES, layout="named-sequence")
    queue = ref(lock.queues[0])
    assert lock.has_separate_queues
    del lock

    assert queue() is None


def test_the_gate_of_a_semaphore_is_no_lock_of_its_own() -> None:
    """Clients there wait for the leases."""
    (report,) = reports(curator_pool())

    assert not report.records[report.paths[0]].lock.has_separate_queues
    assert report.paths == (POOL,)
