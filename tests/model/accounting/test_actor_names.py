"""Actors with one name are told apart by their sessions."""

import pytest
from model.make_facts import NOW

from zktop.model.accounting.actor_names import ActorNames
from zktop.model.examiner import Examiner
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

ONE = 0x100_000D_0D27_0000


@pytest.mark.parametrize(
    ("other", "shown"),
    [
        (ONE + 1, ["web …0000", "web …0001"]),
        (0x200_000D_0D28_0000, ["web 0x100000d0d270000", "web 0x200000d0d280000"]),
    ],
    ids=["of one server", "the first ones of two servers"],
)
def test_equal_names_end_with_as_many_digits_as_they_need(other: int, shown: list[str]) -> None:
    """The last four, or all: each server counts its sessions from 0."""
    names, report = ActorNames(), Examiner(Settings()).look(World(), NOW)
    actors = [session_text(ONE), session_text(other)]
    for actor in actors:
        names.note(actor, int(actor, 16), Text("web"), report)

    assert list(names.unique(actors).values()) == shown
