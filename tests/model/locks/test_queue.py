"""Queues of names that no vector has: order, holders and blockers, against a slow oracle."""

import random
import re
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model.locks.lock_worlds import (
    DEFAULT_SETTINGS,
    ROOT,
    ZXID,
    child,
    gone,
    lock_in,
    nodes,
    world_of,
)
from model.locks.slow_queue import ORDERS, blockers, closure

from zktop.model.facts import Children
from zktop.model.layouts.layout import (
    LARGEST,
    MACROS,
    SMALLEST,
    Layout,
    ParsedName,
    parse_name,
    sequence_text,
)
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks import client_order, folder
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.shapes import layout_named
from zktop.model.locks.update_lock import update_lock
from zktop.model.root_entry import Root
from zktop.model.settings import Settings

UNSURE = {"hive-lock", "accumulo-fate-lock", "medallion-semaphore", "permit-semaphore"}
SENSIBLE = [
    one for one in BY_NAME if "{SEQ}" in one.pattern and one.name != "clickhouse-leader-election"
]
PLAIN = [
    one
    for one in SENSIBLE
    if one.order in ORDERS
    and one.means != "semaphore"
    and not (one.guessed or one.reentrant or one.name in UNSURE)
]

numbers = st.one_of(
    st.integers(0, 30),
    st.integers(SMALLEST, LARGEST),
    st.sampled_from([SMALLEST, SMALLEST + 1, -1_000_000_000, -999_999_999, -1, 0, LARGEST]),
)


def names_of(layout: Layout, number: int) -> st.SearchStrategy[str]:
    """Return names that this layout's clients could write with this number."""
    pattern = layout.pattern.replace("{SEQ}", re.escape(sequence_text(number)))
    pattern = pattern.replace("(?P<id>.+?)", r"(?P<id>[a-z0-9_.]{1,12})")
    pattern = pattern.replace("(?P<name>.+?[-_]?)", r"(?P<name>[a-z]{1,8}[-_])")
    pattern = pattern.replace("(?P<name>.*?[-_]?)", r"(?P<name>[a-z]{1,8}[-_])")
    for macro in ("{H32}", "{U36}"):
        pattern = pattern.replace(macro, MACROS[macro])
    return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)


@pytest.mark.parametrize("layout", SENSIBLE, ids=lambda layout: layout.name)
@settings(max_examples=20)
@given(data=st.data(), number=numbers)
def test_reads_the_number_that_was_written(layout: Layout, data: st.DataObject, number: int):
    """Whatever the number: what the server prints, the layout reads."""
    name = data.draw(names_of(layout, number))

    found = parse_name(layout, name)

    assert found is not None
    assert found.sequence == number


@pytest.mark.parametrize("layout", PLAIN, ids=lambda layout: layout.name)
@settings(max_examples=20)
@given(data=st.data(), wanted=st.lists(numbers, min_size=2, max_size=9))
def test_blocks_whom_the_rule_says(layout: Layout, data: st.DataObject, wanted: list[int]):
    """Holders wait for no member; blocked_by leads to all members before, and to no others."""
    names = [data.draw(names_of(layout, number)) for number in wanted]
    world = world_of(sorted(set(names)), data=[b""] * len(set(names)))
    lock = lock_in(world)
    members = list(lock.members)

    assume(lock.layout == layout.name)  # a few such names another library writes as well
    keys = [ORDERS[layout.order](member.sequence or 0) for member in members]

    assert keys == sorted(keys)
    for member in members:
        all_blockers = blockers(layout, members, member)
        assert (lock.state(member) == "holds") == (not all_blockers)
        assert closure(lock, member) >= all_blockers
        direct = {other.node for other in lock.blocked_by(member)}
        assert direct <= all_blockers
        assert lock.member(member.node) is member


def test_a_writer_waits_for_all_members_with_the_number_before_it():
    """Equal numbers do not wait for one another, so none of them stands for the others."""
    first, other = "0" * 32, "1" * 32
    names = [f"{first}__lock__{7:010d}", f"{first}__rlock__{7:010d}", f"{other}__lock__{7:010d}"]
    lock = lock_in(world_of([*names, f"{other}__lock__{8:010d}"]))
    writer = list(lock.members)[-1]

    assert set(nodes(lock.blocked_by(writer))) == set(names)


@pytest.mark.parametrize(
    "name", ["kazoo-lock", "curator-mutex", "plain-lock", "guid-lock", "go-rw"]
)
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_next_version_is_what_a_fresh_look_gives(name: str, seed: int):
    """Members come and go one by one; reuse of the previous version changes nothing."""
    layout = layout_named(name)
    assert layout is not None
    dice = random.Random(seed)
    world, taken = world_of([_name(layout, dice, n) for n in range(4)]), 4
    lock = lock_in(world)
    for step in range(1, 12):
        known = list(lock.family.members)
        if dice.random() < 0.5 and len(known) > 1:
            fact = gone(dice.choice(known), zxid=ZXID + step)
        else:
            taken += dice.randint(1, 3)
            fact = child(_name(layout, dice, taken), czxid=ZXID + step, zxid=ZXID + step)
        world = world.after(fact)
        lock = lock_in(world, previous=lock)
        fresh = lock_in(world)

        assert _shown(lock) == _shown(fresh)


def test_same_facts_give_the_same_object():
    """An unchanged lock is not made again."""
    world = world_of(["lock-0000000001", "lock-0000000002"])
    lock = lock_in(world)

    assert lock_in(world, previous=lock) is lock


def test_unchanged_members_are_the_same_objects():
    """A new version shares the members of the old one."""
    world = world_of(["lock-0000000001", "lock-0000000002"])
    lock = lock_in(world)
    newcomer = child("lock-0000000003", czxid=ZXID + 1, zxid=ZXID + 1)
    after = lock_in(world.after(newcomer), previous=lock)

    assert next(iter(after.members)) is next(iter(lock.members))


def test_a_small_change_takes_the_short_way():
    """The quick path is really taken where it is meant to be."""
    world = world_of([f"lock-{n:010d}" for n in range(5)])
    lock = lock_in(world)
    after = world.after(gone("lock-0000000002", zxid=ZXID + 1))

    assert update_lock(lock, LockSite(lock.path, after, DEFAULT_SETTINGS)) is not None


def test_a_contender_of_another_lock_in_the_folder_has_a_queue_of_its_own():
    """Its layout is the same, but its group is not; `previous` had one queue."""
    settings = Settings(roots=(Root(ROOT, layout="named-sequence"),))
    world = world_of(["alpha-0000000000", "alpha-0000000001"], next_sequence=9)
    before = lock_at(ROOT, world, settings, 0)
    other = child("beta-0000000002", czxid=ZXID + 1, zxid=ZXID + 1)
    after = lock_at(ROOT, world.after(other), settings, 0, before)

    assert isinstance(after, Lock)
    assert [nodes(queue.members) for queue in after.queues] == [
        ["alpha-0000000000", "alpha-0000000001"],
        ["beta-0000000002"],
    ]


def test_a_lock_that_was_only_listed_once_more_keeps_its_queue():
    """No member is compared again: the order is as it was."""
    names = [f"lock-{n:010d}" for n in range(5)]
    world = world_of(names)
    lock = lock_in(world)
    (known,) = [world.families[path] for path in world.families if path == lock.path]
    listed = Children(
        path=lock.path, names=tuple(known.members), stat=known.stat, zxid=ZXID + 5, at=known.at
    )
    after = update_lock(lock, LockSite(lock.path, world.after(listed), DEFAULT_SETTINGS))

    assert after is not None
    assert after.queues[0] is lock.queues[0]
    assert after.seen_zxid == ZXID + 5


def _shown(lock: Lock) -> tuple[object, ...]:
    """Return all that two versions of a lock must agree about."""
    members = [(member.node, member.mode, lock.expected(member)) for member in lock.members]
    found = lock.warnings, lock.kind, lock.foreign
    return nodes(lock.holders), nodes(lock.waiters), members, found


def _name(layout: Layout, dice: random.Random, number: int) -> str:
    """Write a name without hypothesis: quicker in long runs."""
    hexadecimal = "".join(dice.choices("0123456789abcdef", k=32))
    uuid = UUID(hexadecimal)
    mode = dice.choice(["read", "write"])
    return {
        "kazoo-lock": f"{hexadecimal}__{dice.choice(['lock', 'rlock'])}__{sequence_text(number)}",
        "curator-mutex": f"_c_{uuid}-lock-{sequence_text(number)}",
        "plain-lock": f"lock-{sequence_text(number)}",
        "guid-lock": f"host-{dice.randint(1, 3)}-lock-{sequence_text(number)}",
        "go-rw": f"_c_{hexadecimal}-{mode}-{sequence_text(number)}",
    }[layout.name]


def test_many_locks_of_one_parent_are_read_in_a_few_passes(monkeypatch: pytest.MonkeyPatch):
    """Each has a queue of its own; none of them reads the names of all the others."""
    reads: list[str] = []

    def counted(layout: Layout, name: str) -> ParsedName | None:
        reads.append(name)
        return parse_name(layout, name)

    for module in (client_order, folder):
        monkeypatch.setattr(module, "parse_name", counted)
    names = [f"job-{n:04d}-{n:010d}" for n in range(200)]
    chosen = Settings(roots=(Root(ROOT, layout="named-sequence"),))
    lock = lock_at(ROOT, world_of(names), chosen, 0)

    assert isinstance(lock, Lock)
    assert len(lock.queues) == len(nodes(lock.holders)) == len(names)
    assert len(reads) < 20 * len(names)
