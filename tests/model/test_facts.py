"""Facts: numbers as ZooKeeper means them, and clean text."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.facts import (
    AnyFact,
    Children,
    Connection,
    Connections,
    Node,
    Stat,
    Watches,
    join,
    split,
)
from zktop.model.session_ids import session_id, session_text
from zktop.model.text import Text


@pytest.mark.parametrize(
    ("creations", "children"),
    [(0, 0), (17, 3), (2**30, 5), (2**31 - 1, 1), (2**31, 7), (2**32 - 1, 2)],
)
def test_the_next_sequence_follows_from_what_a_client_sees(creations: int, children: int) -> None:
    """A Stat has twice the creations minus the children, as a signed 32-bit number."""
    seen = (2 * creations - children) & 0xFFFF_FFFF
    signed = seen - 2**32 if seen >= 2**31 else seen
    stat = Stat(czxid=1, mzxid=1, ctime=0, cversion=signed, num_children=children)

    assert stat.next_sequence == creations & 0x7FFF_FFFF


@given(st.integers(0, 2**64 - 1))
def test_a_session_id_is_the_same_signed_and_unsigned(unsigned: int) -> None:
    """JSON prints ids of servers from 128 on as negative numbers."""
    signed = unsigned - 2**64 if unsigned >= 2**63 else unsigned

    assert session_id(signed) == unsigned
    assert int(session_text(session_id(signed)), 16) == unsigned


@given(st.lists(st.text(st.characters(exclude_characters="/"), min_size=1), max_size=4))
def test_a_path_is_its_parent_and_its_name(names: list[str]) -> None:
    """Splitting and joining are inverse."""
    path = "/" + "/".join(names)

    if names:
        assert join(*split(path)) == path
    else:
        assert split(path) == ("", "")


HOSTILE = Text("evil\x1b[2J\n")


@pytest.mark.parametrize(
    "fact",
    [
        Node(path=HOSTILE, zxid=1, at=1),
        Children(path=HOSTILE, names=(HOSTILE,), stat=Stat(1, 1, 0), zxid=1, at=1),
        Watches(server=Text("zk1"), rows={1: (HOSTILE,)}, zxid=1, at=1),
        Connections(server=Text("zk1"), rows=(Connection(1, HOSTILE),), zxid=1, at=1),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_text_in_a_fact_is_clean(fact: AnyFact) -> None:
    """A fact cleans its text when it is made or decoded."""
    again = msgspec.json.decode(msgspec.json.encode(fact), type=AnyFact)

    assert "\x1b" not in repr(fact).replace("\\x1b", "\x1b")
    assert again == fact
