"""Znodes beside locks that no look has shown are counted by their folder."""

import pytest
from model.make_facts import NOW, lock

from zktop.model.accounting import unseen_znodes
from zktop.model.accounting.unseen_znodes import UnseenZnodes
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat
from zktop.model.text import Text
from zktop.model.world.world import World

FOLDER = Text("/jobs")


def folder(*names: str, created: int, zxid: int, czxid: int = 5) -> Children:
    """A listing of the folder, in which so many znodes were created in all."""
    counted = 2 * created - len(names)
    stat = Stat(czxid, czxid, 0, cversion=counted, num_children=len(names), pzxid=zxid)
    return Children(path=FOLDER, names=tuple(map(Text, names)), stat=stat, zxid=zxid, at=NOW)


def counted(*looks: list[AnyFact], since: int | None = None) -> dict[Text, int]:
    """The znodes that none of these looks, a second apart, has shown."""
    world, examiner, unseen = World(), Examiner(), UnseenZnodes(since)
    for number, facts in enumerate(looks):
        world = world.after(*facts)
        unseen.look(examiner.look(world, NOW + 1_000 * number))
    return dict(unseen.by_folder)


BEFORE: list[AnyFact] = [folder("a", created=1, zxid=900), *lock("/jobs/a", "ann")]


def test_a_listing_counts_the_znodes_that_came_and_went() -> None:
    """Seven were created, of which looks have shown two."""
    after: list[AnyFact] = [folder("a", "b", created=7, zxid=2_000), *lock("/jobs/b", "bob")]

    assert counted(BEFORE, after) == {FOLDER: 5}


def test_znodes_that_a_look_has_shown_are_not_counted() -> None:
    """B came, was seen, and went."""
    came: list[AnyFact] = [Node(path=Text("/jobs/b"), zxid=1_000, at=NOW)]
    went: list[AnyFact] = [Gone(path=Text("/jobs/b"), zxid=1_100, at=NOW)]

    assert counted(BEFORE, came, went, [folder("a", created=2, zxid=2_000)]) == {}


def test_znodes_that_a_look_has_shown_before_the_first_lock_are_not_counted() -> None:
    """B came while nothing in the folder was a lock; the counters of the folder show it later."""
    came: list[AnyFact] = [Node(path=Text("/jobs/b"), zxid=1_000, at=NOW)]
    locked: list[AnyFact] = [folder("a", "b", created=2, zxid=2_000), *lock("/jobs/a", "ann")]

    assert counted([folder("a", created=1, zxid=900)], came, locked) == {}


def test_znodes_that_facts_have_shown_between_two_looks_are_counted() -> None:
    """They are in no report."""
    both: list[AnyFact] = [
        Node(path=Text("/jobs/b"), zxid=1_000, at=NOW),
        Gone(path=Text("/jobs/b"), zxid=1_100, at=NOW),
    ]

    assert counted(BEFORE, both, [folder("a", created=2, zxid=2_000)]) == {FOLDER: 1}


def test_a_folder_that_was_created_again_counts_from_its_own_beginning() -> None:
    """The counters of two znodes cannot be compared."""
    again = folder("a", created=7, zxid=2_000, czxid=1_500)

    assert counted(BEFORE, [again]) == {}


def test_those_from_before_the_period_are_not_counted() -> None:
    """The period begins with the third look."""
    looks = [[folder("a", created=number, zxid=1_000 * number)] for number in (4, 6)]

    assert counted(BEFORE, *looks, since=NOW + 2_000) == {FOLDER: 2}


def test_nothing_is_counted_in_a_large_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compare all its children would take too long."""
    monkeypatch.setattr(unseen_znodes, "MAX_CHILDREN", 0)

    assert counted(BEFORE, [folder("a", created=7, zxid=2_000)]) == {}
