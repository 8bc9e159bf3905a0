"""Clients with equal labels on one host, as Curator writes by default."""

import pytest
from clients.client_processes import ClientProcess, Stage, StartClients
from clients.commands import Check
from clients.snapshots import snapshot_when

pytestmark = pytest.mark.zookeeper

LABEL = "127.0.0.1"
WAITERS = [
    ("kazoo", "Lock", [LABEL] * 6),
    ("curator", "InterProcessMutex", [f"{LABEL}#{number}" for number in range(6)]),
]


def started(stage: Stage, library: str, names: list[str]) -> list[ClientProcess]:
    """Clients of this library that all write the same label."""
    start_clients: StartClients = getattr(stage, library)
    return start_clients(*names)


@pytest.mark.parametrize(("library", "recipe", "names"), WAITERS, ids=["kazoo", "curator"])
def test_equal_labels_in_a_deadlock_are_distinguished(
    stage: Stage, check: Check, library: str, recipe: str, names: list[str]
) -> None:
    """The sentence and the ways out have their addresses."""
    ann, bob = started(stage, library, names[:2])
    ann.acquire(recipe, f"{stage.root}/one")
    bob.acquire(recipe, f"{stage.root}/two")
    ann.ask(recipe, f"{stage.root}/two")
    bob.ask(recipe, f"{stage.root}/one")

    def is_told(seen: object) -> bool:
        shot = getattr(seen, "shot", {})
        return bool(shot["deadlocks"]) and all(one["client"] for one in shot["sessions"].values())

    seen = snapshot_when(is_told, stage, f"{stage.root}/*")
    (deadlock,) = seen.shot["deadlocks"]
    clients = {seen.of(one.session)["client"] for one in (ann, bob)}

    assert {step["owner"] for step in deadlock["steps"]} == {LABEL}
    assert {step["name"] for step in deadlock["steps"]} == clients
    assert all(client in deadlock["sentence"] for client in clients)
    assert {way["client"] for way in deadlock["ways_out"]} == clients
    found = next(line for line in check().lines if line.startswith("D1 "))
    assert all(client in found for client in clients)


@pytest.mark.parametrize(("library", "recipe", "names"), WAITERS, ids=["kazoo", "curator"])
def test_six_equal_labels_in_a_queue_have_six_names(
    stage: Stage, library: str, recipe: str, names: list[str]
) -> None:
    """Addresses distinguish them with the tables, and ends of session ids without."""
    members = started(stage, library, names)
    members[0].acquire(recipe, f"{stage.root}/orders")
    for one in members[1:]:
        one.ask(recipe, f"{stage.root}/orders")

    def called(seen: object) -> list[str]:
        (lock,) = getattr(seen, "shot", {})["locks"] or [{"holders": [], "waiters": []}]
        return [one["name"] for one in (*lock["holders"], *lock["waiters"])]

    first = snapshot_when(lambda seen: len(called(seen)) == 6, stage, f"{stage.root}/*")
    later = snapshot_when(
        lambda seen: all(":" in name for name in called(seen)), stage, f"{stage.root}/*"
    )

    assert len(set(called(first))) == 6
    assert set(called(later)) == {later.of(member.session)["client"] for member in members}
