"""One ephemeral node as a lock: which path is the lock, the node's or its folder's."""

import pytest
from model.builders import NOW, session, world

from zktop.model.examiner import Examiner
from zktop.model.facts import Children, Node, Stat, join
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
