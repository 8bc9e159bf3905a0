"""The short way to a family of which all is heard at once ends where the long way ends."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import as_sibling
from msgspec.structs import replace

from zktop.model.facts import Children, Denied, Gone, Node, NodeBatch, Stat, ZnodeFact, join
from zktop.model.text import Text
from zktop.model.world.family import Family, FamilyFact, first_family

PATHS = [Text("/"), Text("/locks"), Text("/locks/a")]
NAMES = [Text(name) for name in ("a", "b", "c")]


def listing(path: Text, names: list[Text], zxid: int = 50) -> Children:
    """All children at one transaction."""
    stat = Stat(7, 7, 0, cversion=len(names), num_children=len(names))
    return Children(path=path, names=tuple(names), stat=stat, zxid=zxid, at=zxid + 1)


def read(path: Text, name: Text, zxid: int = 51) -> Node:
    """One child as it was read then."""
    return Node(path=join(path, name), stat=Stat(8, 8, 0), data=b"x", zxid=zxid, at=zxid)


@st.composite
def heard(draw: st.DrawFn) -> tuple[Text, list[ZnodeFact]]:
    """A listing and its reads, mostly; sometimes one is missing, doubled, elsewhere or odd."""
    path = draw(st.sampled_from(PATHS))
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=draw(st.booleans())))
    zxids = st.integers(48, 53)
    facts: list[ZnodeFact] = [listing(path, names, draw(zxids))]
    facts += [read(path, name, draw(zxids)) for name in names]
    odd: list[ZnodeFact] = [
        Node(path=join(path, Text("a")), zxid=52, at=52),
        Gone(path=join(path, Text("a")), zxid=52, at=52),
        Denied(path=join(path, Text("b")), what="read", zxid=52, at=52),
        Denied(path=path, what="list", zxid=52, at=52),
        read(path, Text("d")),
        listing(path, names, 53),
    ]
    if draw(st.booleans()):
        place = draw(st.integers(0, len(facts)))
        facts[place : place + draw(st.integers(0, 1))] = [draw(st.sampled_from(odd))]
    return path, facts


def together(facts: list[ZnodeFact]) -> list[FamilyFact]:
    """The same, with reads that follow one another and are equally old told by one fact."""
    told: list[FamilyFact] = []
    for one in map(as_sibling, facts):
        last = told[-1] if told else None
        if (
            isinstance(last, NodeBatch)
            and isinstance(one, NodeBatch)
            and (last.zxid, last.at) == (one.zxid, one.at)
        ):
            told[-1] = replace(
                last,
                names=last.names + one.names,
                stats=last.stats + one.stats,
                data=last.data + one.data,
            )
        else:
            told.append(one)
    return told


@given(heard())
def test_siblings_say_what_as_many_nodes_say(told: tuple[Text, list[ZnodeFact]]) -> None:
    """To a family that knows nothing, and to one that knows half of it."""
    path, facts = told
    half = facts[: len(facts) // 2]
    for before in (Family(), Family().after(path, half) if half else Family()):
        one_by_one, at_once = before.after(path, facts), before.after(path, together(facts))

        assert msgspec.structs.asdict(at_once) == msgspec.structs.asdict(one_by_one)
        assert list(at_once.members) == list(one_by_one.members)


@given(heard())
def test_it_is_what_weighing_each_fact_gives(told: tuple[Text, list[ZnodeFact]]) -> None:
    """With the order of the children, and with the ages that no comparison looks at."""
    path, facts = told
    long = Family().after(path, facts)
    for found in (first_family(path, facts), first_family(path, together(facts))):
        if found is not None:
            assert msgspec.structs.asdict(found) == msgspec.structs.asdict(long)
            assert list(found.members) == list(long.members)


@pytest.mark.parametrize("names", [[], NAMES[:1], NAMES])
def test_it_is_the_way_of_a_first_reading(names: list[Text]) -> None:
    """A listing and all that it names, in its order."""
    path = PATHS[-1]
    facts: list[ZnodeFact] = [listing(path, names), *(read(path, name) for name in names)]

    assert first_family(path, facts)
    assert first_family(path, together(facts))


@given(heard(), st.integers(1, 2))
def test_what_is_read_later_is_weighed_likewise(
    told: tuple[Text, list[ZnodeFact]], known: int
) -> None:
    """The reads of a family that was listed before, or of which more is known than that."""
    path, facts = told
    later = together(facts)
    before = Family().after(path, later[:known])
    found = first_family(path, later[1:], before) if later[1:] else None

    if found is not None:
        long = before.after(path, later[1:])
        assert msgspec.structs.asdict(found) == msgspec.structs.asdict(long)
        assert list(found.members) == list(long.members)


def test_what_was_listed_before_is_read_at_one_go() -> None:
    """A look may come between a listing and its reads."""
    path = PATHS[-1]
    (read_later,) = together([read(path, name) for name in NAMES])
    listed = first_family(path, [listing(path, NAMES)])

    assert listed
    assert first_family(path, [read_later], listed)
