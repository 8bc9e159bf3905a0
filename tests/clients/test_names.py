"""Clients of one name on one host, as Curator's are by default: zktop tells them apart."""

import pytest
from clients.client_processes import Hire, Person, Stage
from clients.commands import Check
from clients.snapshots import glance_when

pytestmark = pytest.mark.zookeeper

LABEL = "127.0.0.1"
PEOPLE = [
    ("kazoo", "Lock", [LABEL] * 6),
    ("curator", "InterProcessMutex", [f"{LABEL}#{number}" for number in range(6)]),
]


def hired(stage: Stage, library: str, names: list[str]) -> list[Person]:
    """Clients of this library that all write the same label."""
    hire: Hire = getattr(stage, library)
    return hire(*names)


@pytest.mark.parametrize(("library", "recipe", "names"), PEOPLE, ids=["kazoo", "curator"])
def test_a_deadlock_of_two_equals_reads_as_two(
    stage: Stage, check: Check, library: str, recipe: str, names: list[str]
) -> None:
    """By their addresses, in the sentence and in the ways out."""
    ann, bob = hired(stage, library, names[:2])
    ann.acquire(recipe, f"{stage.root}/one")
    bob.acquire(recipe, f"{stage.root}/two")
    ann.ask(recipe, f"{stage.root}/two")
    bob.ask(recipe, f"{stage.root}/one")

    def is_told(seen: object) -> bool:
        shot = getattr(seen, "shot", {})
        return bool(shot["deadlocks"]) and all(one["client"] for one in shot["sessions"].values())

    seen = glance_when(is_told, stage, f"{stage.root}/*")
    (deadlock,) = seen.shot["deadlocks"]
    clients = {seen.of(one.session)["client"] for one in (ann, bob)}

    assert {step["owner"] for step in deadlock["steps"]} == {LABEL}
    assert {step["name"] for step in deadlock["steps"]} == clients
    assert all(client in deadlock["sentence"] for client in clients)
    assert {way["client"] for way in deadlock["ways_out"]} == clients
    told = next(line for line in check().lines if line.startswith("D1 "))
    assert all(client in told for client in clients)


@pytest.mark.parametrize(("library", "recipe", "names"), PEOPLE, ids=["kazoo", "curator"])
def test_six_equals_in_a_queue_have_six_names(
    stage: Stage, library: str, recipe: str, names: list[str]
) -> None:
    """With the tables their addresses, and at once the ends of their sessions."""
    people = hired(stage, library, names)
    people[0].acquire(recipe, f"{stage.root}/orders")
    for one in people[1:]:
        one.ask(recipe, f"{stage.root}/orders")

    def called(seen: object) -> list[str]:
        (lock,) = getattr(seen, "shot", {})["locks"] or [{"holders": [], "waiters": []}]
        return [one["name"] for one in (*lock["holders"], *lock["waiters"])]

    first = glance_when(lambda seen: len(called(seen)) == 6, stage, f"{stage.root}/*")
    later = glance_when(
        lambda seen: all(":" in name for name in called(seen)), stage, f"{stage.root}/*"
    )

    assert len(set(called(first))) == 6
    assert set(called(later)) == {later.of(one.session)["client"] for one in people}
