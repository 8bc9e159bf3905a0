"""Simple locks, made in one pass, equal those of the general way."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zktop.model.facts import AnyFact, Children, Denied, Node, Stat, Watches, join, split
from zktop.model.layouts.lock_site import LockSite
from zktop.model.lock_candidates import may_be_lock
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.queue import RankedQueue
from zktop.model.locks.simple_lock import simple_lock
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

ZXID = 1_000_000
TOKENS = [f"{number:032x}" for number in (0, 1, 2, 0xABCDEF << 100)]
UUIDS = [str(UUID(hex=token)) for token in TOKENS]
HEADS = [
    *(f"{token}__lock__" for token in TOKENS),
    *(f"_c_{uuid}-lock-" for uuid in UUIDS),
    *(f"_c_{uuid}-latch-" for uuid in UUIDS),
    *(f"_c_{token}-lock-" for token in TOKENS),
    *("lock-", "lock_", "n_"),
]
NUMBERS = ["0000000000", "0000000001", "0000000002", "0000000003", "0000000010", "0999999999"]
ODD_NUMBERS = ["1000000000", "2147483647", "-000000001", "-2147483648", "000000001", "x", ""]
ODD_NAMES = [f"{TOKENS[0]}__rlock__0000000001", TOKENS[0], "ready", "leases", "a\u2028b", "lock"]
ODD_PATHS = ["/7", "/x/leases", "/x/pool-__lock__", "/t/block_numbers/p", "/0000000001"]
PATHS = ["/locks/a", "/leader/a", "/a/election", "/a"]


class Child(NamedTuple):
    """One child; without an owner it is persistent."""

    name: str
    czxid: int
    owner: int
    data: bytes | None = b"worker"
    is_read: bool = True


@st.composite
def siblings(draw: st.DrawFn) -> list[Child]:
    """Return children that are mostly of one kind, in any order, sometimes with an odd one."""
    kind = draw(st.sampled_from(["__lock__", "-lock-", "-latch-", "lock-", "n_", ""]))
    heads = [head for head in HEADS if head.endswith(kind)]
    numbers = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4, unique=True))
    children = [
        Child(draw(st.sampled_from(heads)) + number, 10 + place, 1 + place)
        for place, number in enumerate(sorted(numbers))
    ]
    last = Child(draw(st.sampled_from(heads)) + "0999999999", 20, 9)
    children.append(draw(st.one_of(st.just(last), odd(last, heads, numbers))))
    by_name = {child.name: child for child in children}
    return draw(st.permutations(list(by_name.values())))


def odd(plain: Child, heads: Sequence[str], taken: Sequence[str]) -> st.SearchStrategy[Child]:
    """Return a child that differs in one way from an ordinary contender."""
    numbers = st.one_of(st.sampled_from(ODD_NUMBERS), st.sampled_from(taken))
    named = st.tuples(st.sampled_from(heads), numbers).map("".join).filter(bool)
    data = st.sampled_from([b"", b"__REVOKE__", b"unlock", b"10.0.0.1", None])
    return st.one_of(
        named.map(lambda name: plain._replace(name=name)),
        st.sampled_from(ODD_NAMES).map(lambda name: plain._replace(name=name)),
        st.integers(0, 12).map(lambda czxid: plain._replace(czxid=czxid)),
        st.integers(0, 2).map(lambda owner: plain._replace(owner=owner)),
        data.map(lambda content: plain._replace(data=content)),
        st.just(plain._replace(is_read=False)),
    )


def facts_of(path: str, children: Sequence[Child], stat: Stat) -> list[AnyFact]:
    """Return the facts of these children and of their parent."""
    names = tuple(Text(child.name) for child in children)
    parent, own = split(path)
    facts: list[AnyFact] = [
        Children(path=Text(path), names=names, stat=stat, zxid=ZXID, at=5),
        Children(path=parent, names=(own,), stat=Stat(1, 1, 0), zxid=ZXID, at=5),
    ]
    for child in children:
        read = Stat(child.czxid, child.czxid, 3, owner=child.owner)
        facts.append(
            Node(
                path=join(path, child.name),
                stat=read if child.is_read else None,
                data=child.data if child.is_read else None,
                zxid=ZXID,
                at=6,
            )
        )
    return facts


ROOTS = [
    None,
    Root("/**"),
    Root("/**", leases=2),
    Root("/**", layout="named-sequence"),
    Root("/**", kind="election", blocking=True),
]
STATS = [Stat(1, 1, 0), Stat(1, 1, 0, cversion=9, num_children=5), Stat(1, 1, 0, cversion=-20)]


def more(path: str, children: Sequence[Child]) -> st.SearchStrategy[list[AnyFact]]:
    """Return further facts: mostly none, or a refusal, or a watch table."""
    watched = tuple(join(path, child.name) for child in children[:1])
    rows = {child.owner: watched for child in children if child.owner}
    return st.sampled_from(
        [
            [],
            [Denied(path=Text(path), what="list", zxid=ZXID + 1, at=7)],
            [Watches(server=Text("zk"), rows=rows, zxid=ZXID, at=7)],
        ]
    )


def simple(path: str, world: World, config: Settings | None = None) -> Lock | None:
    """Return the lock at one path, if it is a simple one."""
    return simple_lock(LockSite(Text(path), world, config or Settings()))


@settings(max_examples=400)
@given(
    st.data(),
    siblings(),
    st.sampled_from(PATHS * 3 + ODD_PATHS),
    st.sampled_from(ROOTS),
    st.sampled_from(STATS),
)
def test_a_simple_lock_is_the_lock_that_the_general_way_makes(
    data: st.DataObject, children: list[Child], path: str, root: Root | None, stat: Stat
) -> None:
    """Down to the last field."""
    world = World().after(*facts_of(path, children, stat), *data.draw(more(path, children)))
    config = Settings((root,) if root else ())
    found = simple(path, world, config)

    if found is not None:
        general = lock_at(path, world, config, 0)
        assert may_be_lock(LockSite(Text(path), world, config))
        assert shown(found) == shown(general)


@settings(max_examples=200)
@given(siblings(), st.sampled_from(PATHS + ODD_PATHS), st.sampled_from(ROOTS))
def test_a_lock_that_had_one_contender_is_the_lock_that_the_general_way_makes(
    children: list[Child], path: str, root: Root | None
) -> None:
    """Its next version depends on its previous one only if a node was foreign or stranded."""
    config = Settings((root,) if root else ())
    earlier, world = (
        World().after(*facts_of(path, some, STATS[0])) for some in (children[:1], children)
    )
    before = lock_at(path, earlier, config, 0)

    if simple(path, world, config) is not None:
        following = lock_at(path, world, config, 0, before)
        assert shown(following) == shown(lock_at(path, world, config, 0))


def test_a_contender_that_stays_is_the_same_object() -> None:
    """So only the other one is compared again."""
    alone, both = (
        World().after(*facts_of("/locks/a", some, Stat(1, 1, 0)))
        for some in ([FIRST], [FIRST, SECOND])
    )
    before = simple("/locks/a", alone)
    after = lock_at("/locks/a", both, Settings(), 0, before)

    assert before is not None
    assert isinstance(after, Lock)
    assert after.holders[0] is before.holders[0]


@pytest.mark.parametrize("head", [HEADS[0], HEADS[4], HEADS[8], HEADS[12], "lock-", "n_"])
def test_contenders_of_one_library_make_a_simple_lock(head: str) -> None:
    """With tokens and sessions of their own."""
    other = head.replace("0", "1")
    children = [Child(f"{other}0000000002", 12, 2), Child(f"{head}0000000001", 11, 1)]
    world = World().after(*facts_of("/locks/a", children, Stat(1, 1, 0)))

    assert simple("/locks/a", world) is not None


FIRST, SECOND = Child("lock-0000000001", 11, 1), Child("lock-0000000002", 12, 2)
MUTEX = Child(f"_c_{UUIDS[0]}-lock-0000000001", 11, 1)


@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_path_that_may_be_part_of_another_lock_is_not_simple(path: str) -> None:
    """A part of a semaphore, a slot of a lease, a counter: the general way reads the parent."""
    world = World().after(*facts_of(path, [FIRST, SECOND], Stat(1, 1, 0)))

    assert simple(path, world) is None


@pytest.mark.parametrize(
    "odd",
    [
        SECOND._replace(owner=0),
        SECOND._replace(name="lock_0000000001"),
        SECOND._replace(name="lock-2000000002"),
        SECOND._replace(name="config"),
        SECOND._replace(czxid=0),
        SECOND._replace(data=b"__REVOKE__"),
        SECOND._replace(is_read=False),
    ],
    ids=[
        "persistent",
        "same number",
        "large number",
        "stranger",
        "no arrival",
        "revoked",
        "unread",
    ],
)
def test_one_odd_child_is_enough_for_the_general_way(odd: Child) -> None:
    """Its reasons differ: no session, a number twice, a name of another layout."""
    world = World().after(*facts_of("/locks/a", [FIRST, odd], Stat(1, 1, 0)))

    assert simple("/locks/a", world) is None


def test_watch_tables_may_show_that_a_mutex_is_a_semaphore() -> None:
    """Curator's old semaphore has the same names; its waiters watch further back."""
    world = World().after(*facts_of("/locks/a", [MUTEX], Stat(1, 1, 0)))
    table = Watches(server=Text("zk"), rows={}, zxid=ZXID, at=7)

    assert simple("/locks/a", world) is not None
    assert simple("/locks/a", world.after(table)) is None


def shown(lock: Lock | NotALock) -> object:
    """Return every field of a lock as plain values."""
    if isinstance(lock, NotALock):
        return lock
    fields = msgspec.structs.asdict(lock)
    del fields["queues"]
    return fields, [queue_shown(queue) for queue in lock.queues]


def queue_shown(queue: object) -> object:
    """Return every field of a queue as plain values."""
    assert isinstance(queue, RankedQueue)
    waits = [(queue.blocked_by(member), queue.expected(member)) for member in queue.members]
    return [getattr(queue, name) for name in RankedQueue.__slots__ if name[0] != "_"], waits
