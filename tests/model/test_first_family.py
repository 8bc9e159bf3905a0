"""The short way to a family of which all is heard at once ends where the long way ends."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.facts import Children, Denied, Gone, Node, Stat, ZnodeFact, join
from zktop.model.family import Family
from zktop.model.first_family import first_family
from zktop.model.text import Text

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


@given(heard())
def test_it_is_what_weighing_each_fact_gives(told: tuple[Text, list[ZnodeFact]]) -> None:
    """With the order of the children, and with the ages that no comparison looks at."""
    path, facts = told
    found = first_family(path, facts)

    if found is not None:
        long = Family().after(path, facts)
        assert msgspec.structs.asdict(found) == msgspec.structs.asdict(long)
        assert list(found.members) == list(long.members)


@pytest.mark.parametrize("names", [[], NAMES[:1], NAMES])
def test_it_is_the_way_of_a_first_reading(names: list[Text]) -> None:
    """A listing and all that it names, in its order."""
    path = PATHS[-1]

    assert first_family(path, [listing(path, names), *(read(path, name) for name in names)])
