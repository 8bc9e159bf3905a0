"""Facts packed in pieces, and tables packed without the rows that they share."""

import pytest
from model.make_facts import NOW, lock, no_watches, watches

from zktop.model.facts import AnyFact
from zktop.model.text import Text
from zktop.model.world.world import World, facts_between, facts_of
from zktop.ui.past import packed_facts
from zktop.ui.past.packed_facts import (
    facts_in,
    packed,
    packed_together,
    pieces,
    unpacked,
)

ZK = Text("zk1:2181")
LOCKED = World().after(*(fact for n in range(5) for fact in lock(f"/{n}", "alice", "bob")))
MANY = {f"worker-{number}": (f"/locks/{number:0200}",) for number in range(400)}


def after(known: World, quickly: bytes) -> World:
    """The world after a step."""
    for piece in unpacked(quickly):
        known = known.after(*facts_in(piece, known))
    return known


def step(before: World, later: World) -> bytes:
    """What changed from one world to the next, packed."""
    return packed(pieces(facts_between(before, later), (), before))


@pytest.mark.parametrize("most", [1, 2, 1_000])
def test_pieces_of_any_size_have_the_same_facts(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same order, also when the last piece is full."""
    monkeypatch.setattr(packed_facts, "PIECE_FACTS", most)
    facts = list(facts_of(LOCKED))
    found = list(unpacked(packed(pieces(facts))))

    assert [fact for piece in found for fact in facts_in(piece, World())] == facts
    assert [piece.is_last for piece in found] == [*[False] * (len(found) - 1), True]
    assert len(found) == -(-len(facts) // most)


def test_facts_are_made_when_their_piece_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """All facts of ten thousand locks at once would take as much memory as the locks."""
    monkeypatch.setattr(packed_facts, "PIECE_FACTS", 2)
    facts = iter([*facts_of(LOCKED)])
    next(pieces(facts))

    assert len([*facts]) == len([*facts_of(LOCKED)]) - 2 * 2  # one piece ahead


def test_steps_packed_together_are_the_same_one_after_the_other() -> None:
    """A block is compressed once more when it is full."""
    empty: list[AnyFact] = []
    steps = [packed(pieces(facts)) for facts in (facts_of(LOCKED), empty)]

    assert list(unpacked(packed_together(steps))) == [
        piece for one in steps for piece in unpacked(one)
    ]


def test_a_table_that_did_not_change_takes_next_to_nothing() -> None:
    """With ten thousand locks it would be megabytes, every few seconds."""
    before = LOCKED.after(watches(ZK, MANY))
    later = before.after(watches(ZK, MANY, at=NOW + 9_000))
    content = step(before, later)

    assert len(content) < 200
    assert after(before, content).tables == later.tables


def test_of_a_table_only_changed_rows_are_packed() -> None:
    """Some sessions watch something else, and some are gone."""
    before = LOCKED.after(watches(ZK, MANY))
    changed = {**MANY, "worker-3": ("/other",)}
    del changed["worker-9"]
    later = before.after(watches(ZK, changed, at=NOW + 9_000))
    content = step(before, later)

    assert len(content) < 250
    assert after(before, content).tables == later.tables


def test_a_table_without_rows_is_packed_as_it_is() -> None:
    """A server that stops listing watches has none, which is not the same as unchanged ones."""
    before = LOCKED.after(watches(ZK, MANY))
    for table in (watches(ZK, {}, at=NOW + 9_000), no_watches(ZK, at=NOW + 9_000)):
        later = before.after(table)
        assert after(before, step(before, later)).tables == later.tables
