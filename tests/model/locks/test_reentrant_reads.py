"""Reads that hold because their own session holds the write lock."""

import pytest
from model.locks.lock_worlds import ROOT, lock_in, nodes, world_of
from model.make_facts import NOW, ZK1, session, watches

WRITER = "_c_d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01-__WRIT__0000000001"
READER = "_c_50b2c3d4-2222-4c3b-8a55-0f6b1b8f7a02-__READ__0000000002"


def holders(data: bytes, names: tuple[str, str] = (WRITER, READER)) -> list[str]:
    """The holders where ann has both nodes, and her session watches that of the writer."""
    ann = session("ann")
    world = world_of(names, owners=[ann, ann], data=[data, b"10.0.0.1"], next_sequence=3)
    table = watches(ZK1, {"ann": (f"{ROOT}/{names[0]}",)}, at=NOW)
    return nodes(lock_in(world.after(table)).queues[0].holders)


@pytest.mark.parametrize("data", [b"", b"__REVOKE__"])
def test_a_revocable_writer_watches_its_own_node(data: bytes) -> None:
    """Such a watch is no wait, so the read of the same session may hold, too."""
    assert holders(data) == [WRITER, READER]


def test_a_read_whose_session_watches_an_ordinary_writer_waits() -> None:
    """Curator writes an address into nodes that are not revocable."""
    assert holders(b"10.0.0.1") == [WRITER]


def test_writers_of_other_libraries_are_not_revocable() -> None:
    """Menagerie's nodes are always empty."""
    names = "writeLock-0000000001", "readLock-0000000002"

    assert holders(b"", names) == [names[0]]
