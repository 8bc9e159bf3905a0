"""Names that several libraries write: the watches that tables show decide who waits for whom."""

from collections.abc import Mapping, Sequence

import pytest
from model.layouts.vectors import lock_of

from zktop.model.locks.lock import Lock, Target
from zktop.model.text import Text

UUIDS = [f"{digit}8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01" for digit in "d15"]


def lock_with(
    root: str, names: Sequence[str], watched: Mapping[str, int] | None = None, **options: object
) -> Lock:
    """A lock whose children have sessions of their own; `watched`: child -> place of the watcher.

    `00-config` belongs to no session.
    """
    owners = [f"{0x1000 + place:#x}" for place in range(len(names))]
    children = [
        {"name": name, "owner": "0x0" if name == "00-config" else owner, "czxid": 100 + place}
        for place, (name, owner) in enumerate(zip(names, owners, strict=True))
    ]
    if watched is not None:
        options["watchers"] = {name: [owners[place]] for name, place in watched.items()}
    lock = lock_of({"root": root, "children": children, "options": options})
    assert isinstance(lock, Lock)
    return lock


def order_of(lock: Lock) -> tuple[list[str], list[str]]:
    """The names of the holders and of the waiters."""
    return [str(one.node) for one in lock.holders], [str(one.node) for one in lock.waiters]


@pytest.mark.parametrize("is_table_read", [True, False])
def test_the_election_of_the_documentation_is_one_queue(*, is_table_read: bool) -> None:
    """Each name begins with a uuid of its own: `guid-n_` and a number."""
    names = [f"{uuid}-n_{number:010d}" for number, uuid in enumerate(UUIDS)]
    watched = {names[0]: 1, names[1]: 2} if is_table_read else None
    lock = lock_with("/election", names, watched)

    assert order_of(lock) == (names[:1], names[1:])
    assert lock.kind == "election"


def test_watches_show_that_an_id_is_before_the_number() -> None:
    """The ids sort the other way round, so neither whole names nor own groups explain them."""
    names = [f"h{9 - number}-{number:010d}" for number in range(3)]
    lock = lock_with("/app/leader", names, {names[0]: 1, names[1]: 2})

    assert order_of(lock) == (names[:1], names[1:])


def test_a_waiter_behind_several_holders_watches_the_node_before_it() -> None:
    """The Node library zk-lock lets the first ones hold, and watches that node all the same."""
    names = [f"lock-{number:010d}" for number in range(4)]
    lock = lock_with("/locks/k1", names, max_leases=2)

    assert [lock.queues[0].expected(waiter) for waiter in lock.waiters] == [
        (Target(Text(before), "exists"),) for before in names[1:3]
    ]


@pytest.mark.parametrize("name", ["write-0000000001", "host-W-0000000001"])
def test_a_watch_shows_that_a_client_sorts_whole_names(name: str) -> None:
    """It waits for a child that its own layout does not know."""
    lock = lock_with("/app/rw", ["00-config", name], {"00-config": 1})

    assert lock.holders == ()
    assert "blocked-by-foreign" in lock.warnings


@pytest.mark.parametrize(
    ("root", "names"),
    [
        ("/mesos/log_replicas", ["0000000001", "0000000002"]),
        ("/mesos", ["info_0000000001", "0000000002", "json.info_0000000003"]),
    ],
)
def test_bare_numbers_can_be_those_of_mesos(root: str, names: list[str]) -> None:
    """Old masters and the replicas of its log write nothing before the number."""
    lock = lock_with(root, names)

    assert lock.layout == "mesos-group"
    assert order_of(lock) == (names[:1], names[1:])


@pytest.mark.parametrize(
    "names",
    [
        [f"_c_{uuid}-__WRIT__2147483647" for uuid in UUIDS],
        [
            f"_c_{uuid}-__{mode}__2147483647"
            for uuid, mode in zip(UUIDS, ("READ", "WRIT", "READ"), strict=True)
        ],
    ],
    ids=["writers", "a writer between readers"],
)
def test_after_the_last_number_the_first_in_the_listing_holds(names: list[str]) -> None:
    """All nodes have the same number; only a read of the writer's own session is its twin."""
    assert order_of(lock_with("/app/rw", names))[0] == names[:1]


@pytest.mark.parametrize("prefix", ["job-", "_c_{uuid}-job-"], ids=["named", "Curator"])
def test_a_guess_outlasts_the_last_number(prefix: str) -> None:
    """There the counter sticks, so the newest node has the number that follows."""
    names = [
        f"{prefix.format(uuid=uuid)}{number}"
        for uuid, number in zip(UUIDS, (2147483646, 2147483647), strict=False)
    ]

    assert order_of(lock_with("/locks/x", names)) == (names[:1], names[1:])


def test_a_uuid_in_a_name_is_no_owner() -> None:
    """It is new at each attempt."""
    lock = lock_with("/locks/a", [f"{UUIDS[0].replace('-', '')}-lock-0000000001"])

    assert [holder.label for holder in lock.holders] == [None]
