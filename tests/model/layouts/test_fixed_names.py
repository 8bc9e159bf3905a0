"""Locks recognised by nodes with fixed names: the nodes must be what the library writes."""

from collections.abc import Mapping, Sequence

import pytest
from model.layouts.vectors import lock_of

from zktop.model.locks.lock import Lock, NotALock

KAZOO = "9f1c2d3e4b5a60718293a4b5c6d7e8f9__lock__0000000000"


def found_at(
    root: str,
    children: Sequence[str],
    *,
    below: Mapping[str, Sequence[str]] | None = None,
) -> Lock | NotALock:
    """What is at this root; sessions own only the nodes below its children."""
    return lock_of(
        {
            "root": root,
            "children": [_node(name, is_owned=False) for name in children],
            "subnodes": {
                name: [_node(one, is_owned=True) for one in names]
                for name, names in (below or {}).items()
            },
        }
    )


def _node(name: str, *, is_owned: bool) -> dict[str, object]:
    return {"name": name, "owner": "0x1001" if is_owned else "0x0", "czxid": 100}


@pytest.mark.parametrize(
    ("children", "below"),
    [
        pytest.param(["locks", "leases"], {"locks": [KAZOO]}, id="a lock of kazoo"),
        pytest.param(["locks", "leases"], {"locks": ["orders"], "leases": ["h1"]}, id="folders"),
        pytest.param(["master", "backup-masters"], {"master": ["n_0000000000"]}, id="HBase"),
        pytest.param(["leader", "members"], {"leader": ["n_0000000000"]}, id="Patroni"),
    ],
)
def test_folders_with_the_names_of_nodes_are_no_lock(
    children: list[str], below: dict[str, list[str]]
) -> None:
    """The lock is in one of them."""
    assert isinstance(found_at("/app2", children, below=below), NotALock)


@pytest.mark.parametrize(
    ("entries", "is_known"), [(["entry-100-0000000007"], True), (["a", "b"], False), ([], False)]
)
def test_a_locking_queue_without_taken_is_known_by_its_entries(
    entries: list[str], *, is_known: bool
) -> None:
    """Somebody deleted that folder: nothing is held, and other folders have `entries`, too."""
    found = found_at("/lq", ["entries"], below={"entries": entries})

    assert isinstance(found, Lock) == is_known
    assert not (isinstance(found, Lock) and found.holders)


def test_a_lock_in_a_folder_called_locks_is_found_beside_leases() -> None:
    """It is no part of a semaphore."""
    lock = lock_of(
        {
            "root": "/app2/locks",
            "children": [_node(KAZOO, is_owned=True)],
            "siblings": {"leases": []},
        }
    )

    assert isinstance(lock, Lock)


def test_a_fixed_node_of_no_session_holds_nothing() -> None:
    """Nobody could release it."""
    lock = found_at("/y", ["leader", "members", "config", "status"])

    assert isinstance(lock, Lock)
    assert lock.holders == ()


def test_masters_that_stand_by_without_an_active_one_are_an_election() -> None:
    """During a failover; an operator looks exactly then."""
    lock = found_at("/hbase", ["backup-masters"], below={"backup-masters": ["m2,16000,1"]})

    assert isinstance(lock, Lock)
    assert (lock.layout, lock.holders) == ("hbase-master", ())


def test_the_marker_of_clickhouse_alone_is_an_election() -> None:
    """Many servers may lead, and none has a node."""
    lock = found_at("/clickhouse/t/leader_election", ["leader_election-0"])

    assert isinstance(lock, Lock)
    assert (lock.layout, lock.holders) == ("clickhouse-leader-election", ())
