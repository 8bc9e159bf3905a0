"""Several roots whose paths begin alike: each lock is read, whichever root covers it."""

import pytest
from kazoo.client import KazooClient
from servers import RunningServer
from zk.observed import Observation, observing

MEMBER = "0123456789abcdef0123456789abcdef__lock__0000000000"
LOCKS = ("app-1", "db-1", "app-1/inner")

pytestmark = pytest.mark.parametrize(
    "way", [{"persistent": True}, {"persistent": False}], ids=["persistent", "one-shot"]
)


@pytest.fixture
def locks(client: KazooClient, root: str) -> list[str]:
    """Locks beside each other, and one inside another; each has a member."""
    for lock in LOCKS:
        client.create(f"{root}/{lock}/{MEMBER}", b"ann", makepath=True)
    return [f"{root}/{lock}" for lock in LOCKS]


@pytest.mark.parametrize(
    "patterns",
    [
        ("app-*", "db-*"),
        ("app-*", "**"),
        ("**", "app-*"),
        ("db-*", "*"),
        ("*", "app-1/inner"),
        ("*/inner", "app-*"),
        ("*/inner", "app-1", "db-1"),
    ],
    ids=" ".join,
)
def test_every_lock_that_a_root_covers_is_read(
    zookeeper: RunningServer,
    root: str,
    locks: list[str],
    way: dict[str, object],
    patterns: tuple[str, ...],
) -> None:
    """The first root does not hide locks of the others."""
    covered = [lock for lock in locks if "db-1" not in lock or patterns != ("*/inner", "app-*")]
    with observing(zookeeper.address, *(f"{root}/{one}" for one in patterns), **way) as live:
        assert [lock for lock in locks if _is_read(live, lock)] == covered


def test_a_new_lock_of_any_root_is_read(
    zookeeper: RunningServer, client: KazooClient, root: str, way: dict[str, object]
) -> None:
    """Also of the second of two roots that begin at the same znode."""
    with observing(zookeeper.address, f"{root}/app-*", f"{root}/db-*", **way) as live:
        for lock in (f"{root}/app-2", f"{root}/db-2"):
            client.create(f"{lock}/{MEMBER}", b"ann", makepath=True)
            live.until(lambda _world, lock=lock: _is_read(live, lock))


def test_roots_that_begin_at_one_znode_share_its_watch(
    zookeeper: RunningServer, root: str, way: dict[str, object]
) -> None:
    """A recursive watch reports all changes below it; without them, the base has two watches."""
    with observing(zookeeper.address, f"{root}/app-*", f"{root}/**", **way) as live:
        assert live.source.cost().watches == (1 if way["persistent"] else 2)


def test_a_lock_found_by_the_search_is_read_whole(
    zookeeper: RunningServer, root: str, locks: list[str], way: dict[str, object]
) -> None:
    """A root of the user has listed it before, but does not cover its members."""
    lock = locks[1]
    found = {"looks_like_a_lock": lambda _path, names: MEMBER in names}
    with observing(zookeeper.address, f"{root}/*/inner", "/**", **found, **way) as live:
        live.until(lambda _world: _is_read(live, lock))


def _is_read(live: Observation, lock: str) -> bool:
    node = live.world.node(f"{lock}/{MEMBER}")
    return node is not None and node.data == b"ann"
