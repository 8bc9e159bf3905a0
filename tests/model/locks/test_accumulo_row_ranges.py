"""Accumulo's locks on ranges of rows: who blocks whom."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from model.locks.lock_worlds import lock_in, world_of
from model.locks.slow_queue import closure

from zktop.model.locks.accumulo_row_ranges import range_of
from zktop.model.locks.lock import Lock, Member

ENDS = {"": "N", "f": "PZg==", "m": "PbQ==", "t": "PdA=="}


def lock_of(requests: Sequence[tuple[str, str, str]]) -> Lock:
    """A table with these requests: mode, the rows' start and end."""
    names = [
        f"flock#{mode}~FATE:USER:6f9e2c1a-0001-4a4a-8a8a-{place:012d}"
        f"~{ENDS[start]}~{ENDS[end]}#{place:010d}"
        for place, (mode, start, end) in enumerate(requests)
    ]
    return lock_in(world_of(names))


def conflicts(lock: Lock, member: Member) -> set[str]:
    """The nodes before it whose rows it wants, unless both read."""
    start, end = range_of(member.node)
    earlier = lock.queues[0].members[: lock.queues[0].members.index(member)]
    rivals = [one for one in earlier if not one.mode == member.mode == "read"]
    ranges = ((one.node, range_of(one.node)) for one in rivals)
    return {node for node, (first, last) in ranges if max(start, first) < min(end, last)}


def test_a_writer_of_the_whole_table_is_the_only_blocker_of_the_next_request() -> None:
    """It waits for all the others itself; otherwise each pair would be listed."""
    lock = lock_of([("WRITE", "", ""), ("READ", "", "m"), ("WRITE", "", ""), ("READ", "f", "t")])
    last = lock.queues[0].members[3]

    assert [one.sequence for one in lock.blocked_by(last)] == [2]
    assert [one.sequence for one in lock.members_before(last)] == [0, 2]


def test_a_writer_waits_for_all_readers_of_its_rows() -> None:
    """A reader of the whole table does not wait for the others."""
    lock = lock_of([("READ", "f", "t"), ("READ", "", ""), ("WRITE", "", "")])
    writer = lock.queues[0].members[2]

    assert [one.sequence for one in lock.blocked_by(writer)] == [0, 1]


requests = st.tuples(
    st.sampled_from(["READ", "WRITE"]), st.sampled_from([*ENDS]), st.sampled_from([*ENDS])
)


@given(st.lists(requests, min_size=2, max_size=12))
def test_the_blockers_lead_to_all_conflicts(made: list[tuple[str, str, str]]) -> None:
    """Those that are left out are blockers of those that are not."""
    lock = lock_of(made)

    for member in lock.waiters:
        assert conflicts(lock, member) <= closure(lock, member)
        assert {one.node for one in lock.members_before(member)} == conflicts(lock, member)
