"""`zktop check` on deadlocks of real clients, and on near misses."""

from collections.abc import Callable

import pytest
from clients.client_processes import ClientProcess, Stage
from clients.commands import Check
from clients.deadlocks import DEADLOCKS, NEAR_MISSES, a_leader_that_waits_for_a_candidate
from clients.snapshots import snapshot_when

from zktop.model.root_entry import Root

pytestmark = pytest.mark.zookeeper


@pytest.mark.parametrize(
    ("rule", "made"), DEADLOCKS, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_deadlock_fails(
    stage: Stage, check: Check, rule: str, made: Callable[[Stage], list[ClientProcess]]
) -> None:
    """The exit code is 1 with a sentence; a snapshot names the clients."""
    actors = {person.session for person in made(stage)}
    patterns = {"path": f"{stage.root}/*", "interop": True, "blocking": True}

    answer = check(roots=[patterns])
    seen = snapshot_when(lambda seen: seen.deadlocks, stage, Root(**patterns))

    assert (answer.code, answer.err) == (1, "")
    assert [line.split()[0] for line in answer.lines if line[0] == "D"] == [rule]
    assert seen.deadlocks == [(rule, actors)]


@pytest.mark.parametrize("made", NEAR_MISSES, ids=lambda one: one.__name__)
def test_a_near_miss_is_fine(stage: Stage, check: Check, made: Callable[[Stage], None]) -> None:
    """The exit code is 0."""
    made(stage)

    answer = check(roots=[{"path": f"{stage.root}/*", "blocking": True}])

    assert (answer.code, answer.err) == (0, "")
    assert answer.lines[0].startswith("OK: ")
    assert answer.lines[0].endswith(" 0 deadlocks")


# Hints, which the user has to judge.


def test_a_candidate_may_go_on(stage: Stage, check: Check) -> None:
    """Candidates that may not be parked are a hint, no deadlock."""
    a_leader_that_waits_for_a_candidate(stage)

    answer, strict = check(), check("--fail-on", "D8", "--min-confidence", "C1")

    assert (answer.code, answer.lines[0]) == (0, "OK: 2 locks, 0 deadlocks")
    assert strict.code == 1
    assert strict.lines[0].startswith("D8 election-entangled (C1): ")


def test_a_second_request_of_one_session_may_be_a_threads(stage: Stage, check: Check) -> None:
    """A session with two requests may have two threads: a hint, no deadlock."""
    (ann,) = stage.kazoo("ann")
    ann.acquire("Lock", f"{stage.root}/orders")
    ann.ask("TolerantLock", f"{stage.root}/orders")

    answer, strict = check(), check("--fail-on", "D6", "--min-confidence", "C1")

    assert (answer.code, answer.lines[0]) == (0, "OK: 1 lock, 0 deadlocks")
    assert strict.code == 1
    assert strict.lines[0].startswith("D6 double-request (C1): ")


@pytest.mark.parametrize(("identity", "code"), [("session", 0), ("owner", 1)])
def test_programs_with_a_session_of_each_library(
    stage: Stage, check: Check, identity: str, code: int
) -> None:
    """Opposite orders across kazoo and Curator deadlock only programs with two sessions."""
    kazoo, curator = stage.kazoo("ann", "bob"), stage.curator("ann", "bob")
    kazoo[0].acquire("Lock", f"{stage.root}/orders")
    curator[1].acquire("InterProcessMutex", f"{stage.root}/stock")
    curator[0].ask("InterProcessMutex", f"{stage.root}/stock")
    kazoo[1].ask("Lock", f"{stage.root}/orders")

    answer = check(actors={"identity": identity})

    assert answer.code == code
    assert [line for line in answer.lines if line.startswith("D1 ")] == (
        [line for line in answer.lines if "ann" in line and "bob" in line] if code else []
    )


def test_two_libraries_that_are_blind_to_each_other(stage: Stage, check: Check) -> None:
    """Both get every lock: no deadlock, but two holders."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.curator("bob")
    for one, recipe, paths in ((ann, "Lock", "xy"), (bob, "InterProcessMutex", "yx")):
        for path in paths:
            one.acquire(recipe, f"{stage.root}/{path}")

    answer = check()

    rules = [line.split()[0] for line in answer.lines]
    assert (answer.code, rules[:2]) == (1, ["S2", "S2"])
    assert not any(rule.startswith("D") for rule in rules)
