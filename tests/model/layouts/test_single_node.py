"""One ephemeral node as a lock: which path is the lock, the node's or its folder's."""

import pytest
from model.builders import NOW, session, world

from zktop.model.examiner import Examiner
from zktop.model.facts import Children, Node, Stat, join
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Root, Settings
from zktop.model.text import Text


def locks(folder: str, name: str, *roots: str) -> list[str]:
    """The paths of all locks in a world of one folder with one ephemeral node."""
    stat = Stat(5, 5, 0, cversion=1, num_children=1, pzxid=6)
    node = Stat(6, 6, 0, owner=session("ann"))
    known = world(
        Children(path=Text(folder), names=(Text(name),), stat=stat, zxid=9, at=NOW),
        Node(path=join(folder, name), stat=node, data=b"ann", zxid=9, at=NOW),
    )
    examiner = Examiner(Settings(roots=tuple(map(Root, roots))))
    return [str(path) for path in examiner.look(known, NOW).paths]


@pytest.mark.parametrize(
    ("folder", "name", "lock"),
    [
        pytest.param("/app", "leader", "/app/leader", id="a folder of anything"),
        pytest.param("/exclusive_lock", "lock", "/exclusive_lock", id="a folder that is a lock"),
        pytest.param("/locks/job", "me", "/locks/job", id="a folder among locks"),
    ],
)
def test_a_single_node_is_one_lock(folder: str, name: str, lock: str) -> None:
    """It is not listed twice, as itself and as what its folder holds."""
    assert locks(folder, name, "/**") == [lock]


def test_a_folder_that_the_user_names_is_the_lock() -> None:
    """Whatever it is called."""
    assert "/app" in locks("/app", "leader", "/app")


LOCK = "/app/lock"


def folder_of(*names: str) -> Children:
    """A listing; one with more children is newer."""
    stat = Stat(5, 5, 0, cversion=len(names), num_children=len(names), pzxid=6)
    texts = tuple(map(Text, names))
    return Children(path=Text(LOCK), names=texts, stat=stat, zxid=8 + len(names), at=NOW)


def child(name: str, data: bytes, owner: int = 0) -> Node:
    """A child of it."""
    stat = Stat(6, 6, 0, owner=owner)
    return Node(path=join(LOCK, name), stat=stat, data=data, zxid=9, at=NOW)


@pytest.mark.parametrize("data", [b"20990115", b"2099-W03", b"2099-01-01"])
def test_a_folder_of_dates_is_not_shedlock(data: bytes) -> None:
    """ShedLock writes a time as well."""
    dated, leased = child("schema", data), child("schema", b"2099-01-01T00:00:00Z")

    assert isinstance(_made(dated), NotALock)
    assert isinstance(_made(leased), Lock)


def _made(schema: Node) -> Lock | NotALock:
    return lock_at(LOCK, world(folder_of("schema"), schema), Settings(), NOW)


def test_a_member_has_the_layout_of_its_lock() -> None:
    """Also after the lock has turned out to be another one."""
    known = world(folder_of("master"), child("master", b"host:1", session("ann")))
    first = lock_at(LOCK, known, Settings(), NOW)
    assert isinstance(first, Lock)
    later = known.after(folder_of("master", "backup-masters"))
    second = lock_at(LOCK, later, Settings(), NOW, first)

    assert isinstance(second, Lock)
    assert (first.layout, second.layout) == ("single-node", "hbase-master")
    assert [one.layout for one in second.members] == ["hbase-master"]
