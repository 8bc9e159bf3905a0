"""D: what the wait engine decides, as findings; with a near miss each."""

import msgspec
import pytest
from model.findings.cases import ensemble_context, found, only
from model.make_facts import session
from model.waits.notation import graph, learned
from model.waits.stuck import assess

from zktop.model.findings.context import EnsembleContext
from zktop.model.findings.deadlocks import tangled_nodes
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order_story import inversions

RING = "X x: A B ; Y x: B A"
STATES = {
    # rule: a state with it, and one that looks like it and is none
    "D1": (RING, "X x: A B ; Y x: B C"),
    "D2": ("L rw: A.R W.W A.R", "L rw: A.R W.W B.R"),
    "D3": ("P sem(2): A C B ; Y x: B A C", "P sem(2): A C B ; Y x: B A"),
    "D4": ("L rw: A.R B.R A.W", "L rw: A1.R B.R A2.W"),
    "D5": ("L rw: A.R B.R A.W B.W", "L rw: A.R B.R A.W"),
    "D6": ("X x: A A", "X x: A1 A2"),
    "D8": ("E elect!: L F ; X x: F L", "E elect!: L F ; X x: L F"),
}


def judged(state: str, *, now_ms: int = 1_000_000, still: bool = True) -> list[Deadlock]:
    """What the wait graph says about a state in which all actors are idle."""
    made = graph(state)
    since = dict.fromkeys("ABCDELFW", 1) if still else {}
    said = assess(made, ActorEvidence(now_ms=now_ms, still_since_ms=since))
    return [*said.deadlocks, *said.hints]


def state(text: str) -> EnsembleContext:
    """Everything that concerns no single lock, in this state."""
    return ensemble_context(deadlocks=judged(text))


@pytest.mark.parametrize("rule", STATES)
def test_d1_d2_d3_d4_d5_d6_d8_fires_once_for_its_state(rule: str) -> None:
    """With the engine's own id, sentence and confidence."""
    made = next(one for one in judged(STATES[rule][0]) if one.rule == rule)
    finding = only(rule, state(STATES[rule][0]))

    assert (finding.id, finding.confidence) == (made.id, made.confidence)
    assert finding.sentence.startswith(made.sentence)


@pytest.mark.parametrize("rule", STATES)
def test_d1_d2_d3_d4_d5_d6_d8_is_quiet_for_its_near_miss(rule: str) -> None:
    """A state that looks alike and goes on by itself."""
    assert not found(rule, state(STATES[rule][1]))


def test_a_finding_of_a_deadlock_names_all_its_places_and_locks() -> None:
    """What is folded under it is found by these."""
    finding = only("D1", state(RING))

    assert finding.locks == ("/X", "/Y")
    assert len(finding.nodes) == 4
    assert {node for _, node in tangled_nodes(judged(RING)[0])} == set(finding.nodes)


def test_sessions_are_given_where_an_actor_is_one() -> None:
    """Merged or split actors have names instead."""
    (made,) = judged(RING)
    alice, bob = f"{session('alice'):#x}", f"{session('bob'):#x}"
    named = msgspec.structs.replace(made, actors=(alice, bob))

    finding = only("D1", ensemble_context(deadlocks=[named]))

    assert finding.sessions == (session("alice"), session("bob"))
    assert not only("D1", state(RING)).sessions


def test_a_hint_is_no_alarm() -> None:
    """A session that asks twice is mostly two threads (T26)."""
    (made,) = judged("X x: A A")
    hint = msgspec.structs.replace(made, confidence="C1")

    assert only("D6", ensemble_context(deadlocks=[hint])).severity == "info"


def test_the_cheapest_way_out_stops_a_process() -> None:
    """It names a process to stop, and never a node to delete."""
    advice = only("D1", state(RING)).advice

    assert "Never delete the node of a live session" in advice
    assert "Cheapest: kill" in advice


def orders(*states: str) -> EnsembleContext:
    """What is known of the order of locks after these states, none of which was a deadlock."""
    return ensemble_context(inversions=inversions(learned(*states)))


ONE, OTHER = "orders rw: A.W@1 ; stock x: A@2", "orders rw: B.W@8 ; stock x: B@7"


def test_d9_fires_for_two_orders_of_two_locks() -> None:
    """A potential deadlock is information, never an alarm."""
    finding = only("D9", orders(ONE, OTHER))

    assert (finding.severity, finding.lock) == ("info", None)
    assert finding.sentence.startswith("Potential deadlock: ")


def told(missed_by_ms: int | None, deadlocked_at: int | None = None) -> list[str]:
    """The evidence for two orders that came so close."""
    (made,) = inversions(learned(ONE, OTHER))
    close = msgspec.structs.replace(made, missed_by_ms=missed_by_ms, deadlocked_at=deadlocked_at)
    return [clue.text for clue in only("D9", ensemble_context(inversions=[close])).evidence]


def test_the_evidence_of_d9_says_how_close_it_came() -> None:
    """Unless it has happened, which the sentence says."""
    assert "did not happen: missed by 2s" in told(2_300)
    assert "ran at the same time" in told(0)
    assert told(None) == told(0, deadlocked_at=1) == told(2_300, deadlocked_at=1)


def test_d9_is_quiet_for_one_order() -> None:
    """All take orders first."""
    assert not found("D9", orders(ONE, "orders rw: B.W@7 ; stock x: B@8"))


KEYS = "user-1 x: A@1 ; user-2 x: A@2"


def test_d10_fires_for_locks_of_one_class_in_no_order() -> None:
    """The advice is to sort the keys."""
    finding = only("D10", orders(KEYS, "user-1 x: B@8 ; user-2 x: B@7"))

    assert "Sort the keys" in finding.advice


def test_d10_is_quiet_for_sorted_keys() -> None:
    """One direction is an order."""
    assert not found("D10", orders(KEYS, "user-1 x: B@7 ; user-2 x: B@8"))


def test_nothing_is_said_of_elections_and_chains() -> None:
    """Followers on standby and queues that move are healthy (T14)."""
    assert not judged("E elect: L A B")
