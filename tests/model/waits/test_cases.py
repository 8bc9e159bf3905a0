"""States with known answers: the stuck actors, the deadlocks and their kinds."""

import pytest
from model.waits.notation import graph, merged, put, queues
from model.waits.stuck import assess, stuck_classes

from zktop.model.waits.assess import Assessment
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.wait_graph import WaitGraph

T01 = "X x: A B ; Y x: B A"
T08 = "X rw: A.R W1.W B.R ; Y rw: B.R W2.W A.R"
T10 = "P sem(2): A C B ; Y x: B A C"
T15 = "E elect: L F ; X x: F L"
T16 = "X x: A B ; Y x: B A ; U x: C D A ; V x: D C"
T17 = "X x: p1s1 p2s2 ; Y x: p2s1 p1s2"
T18 = "F0 x: P0 P4 ; F1 x: P1 P0 ; F2 x: P2 P1 ; F3 x: P3 P2 ; F4 x: P4 P3"

CASES = {
    # name: state, stuck, rule of each core with its actors
    "T01 ring": (T01, "A B", ["D1 A B"]),
    "T02 chain": ("X x: A B ; Y x: B C", "", []),
    "T03 behind": ("X x: A C D E ; Y x: B A ; Z x: C B", "A B C D E", ["D1 A B C"]),
    "T04 two upgraders": ("L rw: A.R B.R A.W B.W", "A B", ["D5 A B"]),
    "T05 one upgrader": ("L rw: A.R B.R A.W", "A", ["D4 A"]),
    "T05b by thread": ("L rw: A1.R B.R A2.W", "", []),
    "T06 re-entrant read": ("L rw: A.W B.W A.R(exempt)", "", []),
    "T06 kazoo": ("L rw: A.W B.W A.R", "A B", ["D6 A B"]),
    "T07 nested read": ("L rw: A.R W.W A.R", "A W", ["D2 A W"]),
    "T08 fairness": (T08, "A B W1 W2", ["D2 A B W1 W2"]),
    "T08b no writers": ("X rw: A.R B.R ; Y rw: B.R A.R", "", []),
    "T09 cycle without deadlock": ("P sem(2): A C B ; Y x: B A", "", []),
    "T10 knot": (T10, "A B C", ["D3 A B C"]),
    "T11 behind a knot": ("P sem(2): A C B D ; Y x: B A C", "A B C D", ["D3 A B C"]),
    "T12 second lease": ("P sem(2): A B C B", "", []),
    "T12b exhausted pool": ("P sem(2): A B A B", "A B", ["D3 A B"]),
    "T13 orphan": ("X x: orphan B C", "B C", []),
    "T14 election": ("E elect: L F1 F2", "", []),
    "T15 entangled": (T15, "", []),
    "T15b blocking": ("E elect!: L F ; X x: F L", "F L", ["D8 F L"]),
    "T16 two cores": (T16, "A B C D", ["D1 A B", "D1 C D"]),
    "T17 sessions": (T17, "", []),
    "T18 philosophers": (T18, "P0 P1 P2 P3 P4", ["D1 P0 P1 P2 P3 P4"]),
    "T18b one is away": (T18.replace(" P4 ;", " ;").replace("P4 ", ""), "", []),
    "T19 readers": ("X rw: A.R B.R C.R ; Y rw: A.R B.R C.R ; Z rw: A.R B.R C.R", "", []),
    "T20 and over or": ("P sem(2): C D A ; X x: A B ; Y x: B A", "A B", ["D1 A B"]),
}


def judged(state: str | WaitGraph, **known: object) -> Assessment:
    """The deadlocks of a state that has lasted."""
    found = graph(state) if isinstance(state, str) else state
    return assess(found, ActorEvidence(now_ms=10_000_000, **known))


@pytest.mark.parametrize(("state", "stuck", "cores"), CASES.values(), ids=CASES)
def test_a_state_has_its_known_answer(state: str, stuck: str, cores: list[str]):
    """Exactly these are stuck, in exactly these independent deadlocks."""
    found = judged(state)
    result = [(made.rule, *sorted(made.actors)) for made in (*found.deadlocks, *found.hints)]

    assert set(stuck_classes(graph(state))) == set(stuck.split())
    assert sorted(made for made in result if made[0] != "D8" or stuck) == [
        tuple(core.split()) for core in cores
    ]


def test_an_actor_that_only_queues_is_behind():
    """T03: D and E are no part of the ring."""
    found = stuck_classes(graph(CASES["T03 behind"][0]))

    assert [found[actor] for actor in "ABCDE"] == ["core"] * 3 + ["behind"] * 2
    assert judged(CASES["T03 behind"][0]).deadlocks[0].behind == 2


def test_an_orphan_is_a_dead_end_and_no_deadlock():
    """T13: nothing waits in a circle."""
    assert stuck_classes(graph("X x: orphan B C")) == {"B": "dead-end", "C": "dead-end"}


def test_a_self_edge_in_a_pool_is_no_core_while_another_client_has_a_lease():
    """Without the orphan A would get its second lease."""
    found = graph("P sem(2): orphan A A")

    assert stuck_classes(found) == {"A": "dead-end"}
    assert not found.cores


def test_followers_stand_by():
    """T14: drawn, but no alarm, even where the root is marked as blocking."""
    assert stuck_classes(graph("E elect!: L F1 F2")) == {"F1": "standby", "F2": "standby"}


def test_an_entangled_election_is_a_hint():
    """T15: the leader waits for a lock whose holder waits to lead."""
    found = judged(T15)

    assert not found.deadlocks
    assert [(made.rule, made.confidence, set(made.actors)) for made in found.hints] == [
        ("D8", "C1", {"L", "F"})
    ]


def test_an_entangled_election_of_threads_is_a_deadlock():
    """T15: identities that name threads leave no other thread to go on."""
    known = {"threads": {"L", "F"}}

    assert [made.confidence for made in judged(T15, **known).deadlocks] == ["C3"]


def test_a_blocking_election_is_a_deadlock():
    """T15 with its option: an ordinary wait."""
    (made,) = judged("E elect!: L F ; X x: F L").deadlocks

    assert (made.rule, made.kind) == ("D8", "election")


def test_merging_sessions_shows_the_ring_and_undoing_it_hides_it():
    """T17b, T29: the verdict names the rule that made it."""
    names = {"p1s1": "p1", "p1s2": "p1", "p2s1": "p2", "p2s2": "p2"}
    found = WaitGraph(queues(T17))
    for queue in merged(queues(T17), names):
        put(found, queue)
    (made,) = judged(found).deadlocks

    assert set(made.actors) == {"p1", "p2"}
    assert "by your merge rule p1 is p1s1, p1s2" in [clue.text for clue in made.evidence]

    for queue in queues(T17):
        put(found, queue)

    assert not judged(found).deadlocks


def test_one_session_with_many_members_is_no_alarm():
    """T26: a pool of threads that contends through one client."""
    found = judged("X x: " + "S " * 20)

    assert not found.deadlocks
    assert [(made.rule, made.confidence) for made in found.hints] == [("D6", "C1")]


def test_an_inferred_capacity_caps_the_verdict_and_a_larger_one_clears_it():
    """T28: M was only guessed from what was seen."""
    still = {"still_since_ms": dict.fromkeys("ABC", 0)}
    known, guessed = judged(T10, **still), judged(T10.replace("sem(2)", "sem(2?)"), **still)

    assert known.deadlocks[0].confidence == "C3"
    assert guessed.deadlocks[0].confidence == "C2"
    assert not judged(T10.replace("sem(2)", "sem(3)")).deadlocks


def test_a_pool_of_unknown_size_blocks_no_client():
    """Unknown is not a reason for alarm."""
    assert not stuck_classes(graph("P sem: A B A B"))


def test_equal_numbers_of_a_reentrant_reader_are_one_holder():
    """T31: write and read of one session, then a writer that merely waits."""
    found = judged("L rw: A.W@5 A.R(exempt)@7 B.W@9")

    assert (found.deadlocks, found.hints) == ((), ())


def test_the_order_is_that_of_the_queue_and_not_of_names():
    """T32: after a wrap the newest has the smallest number; the caller gives the order."""
    assert not stuck_classes(graph("X x: A@7 B@8 C@9 ; Y x: A@1 B@2"))


def test_waiters_of_a_single_node_wait_for_its_holder_only():
    """After a release any of them may win, so two waiters never block each other."""
    assert set(stuck_classes(graph("S single: H A B ; X x: A H"))) == {"H", "A", "B"}
    assert not stuck_classes(graph("S single: H A B ; X x: B A"))


def test_followers_stay_stuck_when_something_else_opens():
    """A leader that is free still leads."""
    found = graph("E elect!: L F ; X x: A@1 B@8 ; Y x: B@2 A@7")
    (asked,) = [r for r in found.queues["/X"].requests if r.actor == "B"]

    assert len(stuck_classes(found)) == 3

    found.replace(queues("X x: A@1")[0], created=(), deleted=(asked,))

    assert stuck_classes(found) == {"F": "standby"}


def test_a_stuck_actor_that_asks_for_more_takes_others_along():
    """Its new place counts at once, in a queue without stuck actors before."""
    found = graph("X x: A@1 B@8 ; Y x: B@2 A@7 ; Z x: Q@3")
    (later,) = queues("Z x: Q@3 A@20 C@21 ; Q x: C")[:1]
    put(found, later)

    assert "C" not in stuck_classes(graph("X x: A@1 B@8 ; Y x: B@2 A@7 ; Z x: Q@3 C@21"))
    assert stuck_classes(found)["C"] == "behind"


def test_a_newcomer_to_an_election_that_is_entangled_takes_those_behind_it_along():
    """It closes a ring while another candidate leaves the same election."""
    found = graph("E elect!: L@1 F@2 ; X x: A@3 L@9 ; Y x: L@4 B@10")
    len(found.cores)
    (later,) = queues("E elect!: L@1 A@11")
    put(found, later)

    assert stuck_classes(found) == {"L": "core", "A": "core", "B": "behind"}
