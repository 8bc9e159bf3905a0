"""Names that are in no vector: every layout with random ids, numbers and orders."""

import re
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zktop.model.facts import Children, Node, Stat, join
from zktop.model.layouts.layout import LARGEST, SMALLEST, Layout, compiled_pattern, parse_name
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text, clean
from zktop.model.world.world import World

PATH = Text("/locks/one")
NUMBERED = [layout for layout in BY_NAME if "seq" in compiled_pattern(layout.pattern).groupindex]
# Their members conflict by row ranges, by groups, by the mode of the lock or by their data.
SPECIAL = {
    "accumulo-fate-lock",
    "clickhouse-leader-election",
    "curator-custom",
    "hive-lock",
    "mesos-group",
    "named-sequence",
    "zktools",
    "zplock",
}
PLAIN = [
    layout
    for layout in NUMBERED
    if layout.name not in SPECIAL and layout.means in ("mutex", "read-write", "election")
]
FEW = settings(max_examples=max(5, settings().max_examples // 10))  # of each layout
NAMES = st.characters(codec="ascii", categories=("L", "N", "P"), exclude_characters="/")


def name_of(layout: Layout) -> st.SearchStrategy[str]:
    """Names as the clients of this layout write them."""
    return _fitting(layout.pattern)


@cache  # making a strategy from a pattern takes longer than an example
def _fitting(pattern: str) -> st.SearchStrategy[str]:
    names = st.from_regex(compiled_pattern(pattern), fullmatch=True, alphabet=NAMES)
    return names.filter(str.isprintable)


def numbered(layout: Layout, name: str, number: int) -> str:
    """The same name with another number."""
    found = compiled_pattern(layout.pattern).fullmatch(name)
    assume(found is not None and found["seq"] is not None)
    assert found is not None
    return f"{name[: found.start('seq')]}{number:010d}{name[found.end('seq') :]}"


def lock_with(layout: Layout, names: list[str]) -> Lock:
    """A lock of this layout whose members came in this order, each with its own session."""
    root = Stat(1, 1, 0, cversion=len(names), num_children=len(names), pzxid=10 + len(names))
    facts = [
        Node(
            path=join(PATH, name),
            stat=Stat(10 + place, 10 + place, 0, owner=100 + place),
            data=b"",
            zxid=1000,
            at=1,
        )
        for place, name in enumerate(names)
    ]
    listed = tuple(sorted(map(Text, names)))
    world = World().after(Children(path=PATH, names=listed, stat=root, zxid=1000, at=1), *facts)
    own = () if layout in BY_NAME else (layout,)
    asked = Settings(roots=(Root(PATH, layout=layout.name),), layouts=own)
    lock = lock_at(PATH, world, asked, 1)
    assert isinstance(lock, Lock)
    return lock


@pytest.mark.parametrize("layout", NUMBERED, ids=lambda layout: layout.name)
@FEW
@given(st.data())
def test_a_number_is_read_as_the_server_wrote_it(layout: Layout, data: st.DataObject) -> None:
    """Every name that fits a pattern gives its number, unless no server could have written it."""
    name = data.draw(name_of(layout))
    assume(not name.endswith("-000000000"))  # no server writes a minus before nothing
    found = compiled_pattern(layout.pattern).fullmatch(name)
    known = parse_name(layout, name)

    assert found is not None
    if known is not None and known.sequence is not None:
        assert SMALLEST <= known.sequence <= LARGEST
        assert re.search(rf"{known.sequence:010d}$", name)
    elif found["seq"] is not None and known is None and not layout.modes:
        assert not SMALLEST <= int(found["seq"]) <= LARGEST


@pytest.mark.parametrize("layout", PLAIN, ids=lambda layout: layout.name)
@FEW
@given(st.data())
def test_holders_and_blockers_are_those_of_the_rule(layout: Layout, data: st.DataObject) -> None:
    """The first to come holds; a waiter waits, in the end, for all that conflict with it."""
    numbers = data.draw(st.lists(st.integers(0, LARGEST - 1), min_size=2, max_size=6, unique=True))
    names = [numbered(layout, data.draw(name_of(layout)), number) for number in sorted(numbers)]
    assume(len(set(names)) == len(names))
    found = [parse_name(layout, clean(name)) for name in names]
    # An id that ends with "-" makes the number behind it a negative one.
    assume([one.sequence for one in found if one] == sorted(numbers))
    lock = lock_with(layout, names)
    members = list(lock.members)

    assert [member.node for member in members] == names
    for place, member in enumerate(members):
        ahead = {other.node for other in members[:place] if conflict(member, other)}

        assert (member in list(lock.holders)) == (not ahead)
        assert closure(lock, member) >= ahead
        assert all(other.sequence < member.sequence for other in lock.blocked_by(member))


def test_a_group_called_seq_may_match_no_number() -> None:
    """Then the layout's clients have not written the name."""
    ours = Layout(name="ours", pattern="^job-(?P<seq>.+)$")
    lock = lock_with(ours, ["job-0000000007", "job-seven"])

    assert parse_name(ours, "job-seven") is None
    assert [member.node for member in lock.members] == ["job-0000000007"]


def conflict(one: Member, other: Member) -> bool:
    """Two readers share the lock, and no other pair does."""
    return not one.mode == other.mode == "read"


def closure(lock: Lock, member: Member) -> set[str]:
    """Return all members that must go before this one, directly or not."""
    found: set[str] = set()
    todo = [member]
    while todo:
        for other in lock.blocked_by(todo.pop()):
            if other.node not in found:
                found.add(other.node)
                todo.append(other)
    return found
