"""What a deadlock carries: steps, identity, ways out, confidence and its evidence."""

from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from model.waits import random_states as w
from model.waits.notation import graph, queues
from model.waits.stuck import assess, stuck_classes
from msgspec.structs import replace

from zktop.model.waits import ways_out
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.find_stuck import stuck_actors
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, queue_name
from zktop.model.waits.ways_out import kill_or_wait

RING = "X x: A@1 B@8 ; Y x: B@2 A@7"
STILL = {"A": 7_100, "B": 8_100}
WATCHED = frozenset({("/X", "lock-0000000008"), ("/Y", "lock-0000000007")})


def only(state: str | WaitGraph, now_ms: int = 100_000, **known: object) -> Deadlock:
    """The one deadlock (or hint) of a state."""
    found = graph(state) if isinstance(state, str) else state
    made = assess(found, ActorEvidence(now_ms=now_ms, **known))
    (deadlock,) = (*made.deadlocks, *made.hints)
    return deadlock


def test_steps_come_in_the_order_of_the_requests_and_the_last_closes():
    """The oldest wait comes first."""
    made = only(RING)

    assert [(s.actor, s.czxid, s.blocker, s.closing) for s in made.steps] == [
        ("A", 7, "B", False),
        ("B", 8, "A", True),
    ]
    assert [[place.lock for place in step.holds] for step in made.steps] == [["/X"], ["/Y"]]
    assert made.since_ms == 8_000


def test_a_step_has_the_public_words():
    """The blocker is called `for` in JSON."""
    step = msgspec.to_builtins(only(RING).steps[0])

    assert step["for"] == "B"
    assert step["waits"] == {"lock": "/Y", "node": "lock-0000000007", "mode": "exclusive"}


def test_hard_and_soft_edges_are_told_apart():
    """A queued writer is a soft blocker: cancelling it costs nothing."""
    made = only("X rw: A.R W1.W B.R ; Y rw: B.R W2.W A.R")

    assert {step.blocker: step.edge for step in made.steps} == {
        "W1": "soft",
        "W2": "soft",
        "A": "hard",
        "B": "hard",
    }
    assert [way.actor for way in made.ways_out[:2]] == ["W2", "W1"]
    assert made.ways_out[0].why == "holds nothing"


@pytest.mark.parametrize(("state", "actor"), [(RING, "B"), ("X x: A@1 B@8 ; Y x: B@2 A@8", "A")])
def test_one_way_out_has_waited_the_least(state: str, actor: str) -> None:
    """The newest request; of two in one transaction, the first that is listed."""
    ways = only(state).ways_out

    assert [way.actor for way in ways if "has waited the least" in way.why] == [actor]
    assert ways[0].actor == actor


def test_a_client_that_waits_for_itself_is_compared_with_no_other() -> None:
    """It alone "has waited the least": so it has waited the longest, too."""
    (way,) = only("X rw: A.R@1 A.W@2 ; Y x: B@3 C@4").ways_out

    assert (way.actor, way.why) == ("A", "holds one lock")


def test_a_disconnected_client_is_the_first_way_out() -> None:
    """Its session expires by itself, although another client has waited less."""
    ways = only(RING, cut_off={"A"}).ways_out

    assert [(way.actor, way.why) for way in ways] == [
        ("A", "is disconnected and expires by itself"),
        ("B", "holds one lock and has waited the least"),
    ]
    assert [kill_or_wait(way.why) for way in ways] == ["wait for", "kill"]


def test_a_disconnected_client_is_the_first_way_out_of_a_large_ring() -> None:
    """Even if so many clients have newer requests that it would not be tried."""
    names = "ABCDEFGH"
    ring = " ; ".join(
        f"{name} x: {name}@{at} {names[at - 1]}@{20 + at - 1 if at else 30}"
        for at, name in enumerate(names)
    )
    ways = only(ring, cut_off={"A"}).ways_out

    assert (ways[0].actor, kill_or_wait(ways[0].why)) == ("A", "wait for")
    assert len(ways) == 7


def test_a_client_whose_end_breaks_no_deadlock_comes_after_one_that_does() -> None:
    """Although it holds fewer locks: C keeps A waiting as well."""
    ways = only("X x: A@1 B@8 C@9 ; Y rw: B.R@2 C.R@3 A.W@7 ; Z x: A@4").ways_out

    assert ways[0].actor == "A"
    assert ways[0].frees == 3
    assert all(way.frees == 1 for way in ways[1:])


def test_a_queued_writer_is_a_way_out_of_a_large_ring() -> None:
    """It holds nothing, although so many clients have newer requests."""
    names = "ABCDEFGH"
    ring = [
        f"{name} x: {name}@{at} {names[at - 1]}@{20 + at}" for at, name in enumerate(names) if at
    ]
    (first, *_) = only(" ; ".join((*ring, "A rw: A.R@0 W.W@10 H.R@30"))).ways_out

    assert (first.actor, first.why) == ("W", "holds nothing")


def test_a_client_is_tried_once_as_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try walks through the whole ring, and a deadlock is judged again at many looks."""
    tried = Mock(side_effect=stuck_actors)
    monkeypatch.setattr(ways_out, "stuck_actors", tried)
    found = graph(RING)
    for _ in range(3):
        only(found, cut_off={"A"})

    assert tried.call_count == 2


def test_a_knot_shows_every_holder():
    """All members of the group must be seen to be stuck."""
    made = only("P sem(2): A C B ; Y x: B A C")

    assert {step.actor for step in made.steps} == {"A", "B", "C"}


def test_a_knot_is_closed_by_the_last_client_that_could_have_returned_a_lease():
    """Although the ring that is shown may be older."""
    made = only("P sem(2): A@1 C@2 B@5 ; Y x: B@3 A@6 C@9")

    assert [(step.actor, step.closing) for step in made.steps][-1] == ("C", True)
    assert [step.closing for step in made.steps].count(True) == 1
    assert made.since_ms == 9_000


def test_the_identity_stays_while_others_come_and_go():
    """Neither queueing behind it nor passing through it changes what it is."""
    alone = only("X x: A@1 B@8 ; Y x: B@2 A@7")
    crowded = only("X x: A@1 V@5 B@8 D@9 ; Y x: B@2 A@7")

    assert crowded.id == alone.id
    assert set(crowded.actors) == {"A", "B", "V"}
    assert alone.id.startswith("D1-")


def test_an_older_ring_keeps_its_name_when_a_newer_one_joins_it():
    """The core grows; the deadlock keeps its id."""
    grown = only("X x: A@1 B@8 ; Y x: B@2 A@7 C@11 ; Z x: C@3 A@12")

    assert grown.id == only(RING).id
    assert set(grown.actors) == {"A", "B", "C"}


def test_all_of_one_sort_have_one_signature():
    """The screen says how often a deadlock has recurred, whatever the ids in its names."""
    one = only("user/1 x: w1@1 w2@8 ; user/2 x: w2@2 w1@7")
    other = only("user/3 x: w8@1 w9@8 ; user/4 x: w9@2 w8@7")

    assert one.signature == other.signature == "D1 X:/user/* w*"
    assert one.id != other.id


@pytest.mark.parametrize(
    ("known", "confidence"),
    [
        ({}, "C2"),
        ({"still_since_ms": STILL}, "C3"),
        ({"still_since_ms": {**STILL, "A": 50_000}}, "C2"),
        ({"still_since_ms": STILL, "now_ms": 9_000}, "C2"),
        ({"threads": {"A", "B"}}, "C3"),
        ({"threads": {"A", "B"}, "watched": WATCHED}, "C4"),
        ({"threads": {"A", "B"}, "watched": WATCHED, "now_ms": 9_000}, "C2"),
        ({"still_since_ms": STILL, "watched": WATCHED}, "C3"),
        ({"still_since_ms": STILL, "concurrent": {"A"}}, "C1"),
        ({"quiet_ms": {"A": 30_000, "B": 30_000}}, "C3"),
        ({"quiet_ms": {"A": 30_000, "B": 29_999}}, "C2"),
        ({"quiet_ms": {"A": 30_000}}, "C2"),
        ({"quiet_ms": {"A": 30_000, "B": 30_000}, "astray": WATCHED}, "C2"),
        ({"quiet_ms": {"A": 30_000, "B": 30_000}, "concurrent": {"A"}}, "C1"),
    ],
)
def test_confidence_follows_from_what_is_known(known: dict[str, object], confidence: str):
    """Threads and watches prove, silence supports, tables that are missing leave doubt."""
    assert only(RING, **known).confidence == confidence


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (
            {"quiet_ms": {"A": 30_000, "B": 31_000}},
            "no requests but pings in the 30 s that zktop has watched",
        ),
        (
            {"quiet_ms": {"A": 30_000, "B": 1_000}},
            "not watched for 30 s yet, or sent requests meanwhile: B",
        ),
        ({"quiet_ms": {"A": 30_000}}, "no server shows whether the clients send requests"),
        ({"still_since_ms": STILL}, "no requests but pings since the ring closed"),
    ],
)
def test_the_evidence_says_when_its_requests_were_seen(known: dict[str, object], text: str):
    """And it assumes one blocked thread per client."""
    texts = [clue.text for clue in only(RING, **known).evidence]

    assert text in texts
    assert "assumes one blocked thread per client" in texts


def test_the_evidence_about_time_is_in_plain_words():
    """When all nodes existed, and how recently the deadlock formed."""
    texts = [clue.text for clue in only(RING, now_ms=9_000).evidence]

    assert any(text.startswith("all lock nodes existed at the same time (zxid") for text in texts)
    assert "formed less than 2s ago" in texts


@pytest.mark.parametrize(
    ("known", "supports", "text"),
    [
        ({"concurrent": {"A"}}, False, "A acted while it should have been blocked"),
        ({"now_ms": 9_000}, False, "formed less than 2s ago"),
        ({"still_since_ms": STILL}, True, "no requests but pings since the ring closed"),
        ({"watched": WATCHED}, True, "every waiter watches what its recipe needs"),
        (
            {"quiet_ms": {"A": 30_000, "B": 31_000}},
            True,
            "no requests but pings in the 30 s that zktop has watched",
        ),
    ],
)
def test_a_clue_is_for_or_against_the_deadlock(
    known: dict[str, object],
    supports: bool,  # noqa: FBT001  a parameter of pytest
    text: str,
):
    """It is listed only where it was seen."""
    assert (supports, text) in [
        (clue.supports, clue.text) for clue in only(RING, **known).evidence
    ]
    assert text not in [clue.text for clue in only(RING).evidence]


@pytest.mark.parametrize(
    "known",
    [
        {"still_since_ms": {**STILL, "A": 50_000}},
        {"watched": frozenset({min(WATCHED)})},
        {"quiet_ms": {"A": 30_000, "B": 30_000}, "astray": frozenset({min(WATCHED)})},
    ],
)
def test_what_is_known_of_one_client_supports_no_deadlock_of_two(known: dict[str, object]):
    """All of its clients have to be silent, and to have their watches."""
    made = only(RING, **known)

    assert made.confidence == "C2"
    assert [clue.text[:25] for clue in made.evidence if clue.supports] == [
        "all lock nodes existed at"
    ]


def test_two_requests_of_a_client_in_one_queue_are_against_a_deadlock():
    """Two of its threads may have made them."""
    clues = [(clue.supports, clue.text) for clue in only("X x: A A").evidence]

    assert (False, "A is in one queue twice: perhaps two threads") in clues


def test_a_rule_that_names_actors_is_not_said_to_name_threads():
    """It may as well merge the sessions of a process, which has several."""
    clues = [(clue.supports, clue.text) for clue in only(RING, threads={"A", "B"}).evidence]

    assert clues[0] == (True, "your rule names every client")


def test_a_guessed_layout_is_a_hint():
    """The order may be another one."""
    guessed = [replace(queue, guessed=True) for queue in queues(RING)]

    assert only(WaitGraph(guessed), still_since_ms=STILL).confidence == "C1"


@pytest.mark.parametrize(
    ("state", "relist"),
    [
        ("X x: A@1 B@8 C@50 ; Y x: B@2 A@7", ()),
        ("X x: C@3 A@7 B@50 ; P sem(2): A@1 B@2 C@8", ("/P",)),
    ],
    ids=["ring", "knot"],
)
def test_only_a_knot_needs_all_members_at_one_time(state: str, relist: tuple[str, ...]):
    """A client behind a ring may have come after the other lock was listed."""
    first, second = queues(state)
    listed = [replace(first, seen_zxid=60), replace(second, seen_zxid=20)]
    made = assess(WaitGraph(listed), ActorEvidence(now_ms=100_000))

    assert (made.relist, len(made.deadlocks)) == (relist, 0 if relist else 1)


def test_one_guessed_layout_makes_all_of_it_a_hint():
    """The layout of the other lock may be sure."""
    first, second = queues(RING)
    made = only(WaitGraph([replace(first, guessed=True), second]), still_since_ms=STILL)
    clues = [(clue.supports, clue.text) for clue in made.evidence if "layout" in clue.text]

    assert made.confidence == "C1"
    assert clues == [(False, "the layout of /X is a guess")]


def test_an_age_that_nothing_shows_is_not_young():
    """The request that closed the ring is hidden: no evidence against it, and none for it."""
    found = [
        replace(q, requests=(q.requests[0], replace(q.requests[1], since_ms=None)))
        for q in queues(RING)
    ]
    clues = {clue.text: clue.supports for clue in only(WaitGraph(found)).evidence}

    assert clues.get("its duration is unknown", False) is None
    assert not [clue for clue in clues if clue.startswith("formed")]


def test_the_number_of_a_queue_is_in_no_text():
    """A lock with two queues has one path."""
    numbered = [
        replace(queue, lock=queue_name(queue.lock, 1), guessed=True) for queue in queues(RING)
    ]
    made = only(WaitGraph(numbered))

    assert {clue.text for clue in made.evidence if "layout" in clue.text} == {
        "the layout of /X is a guess",
        "the layout of /Y is a guess",
    }
    assert made.signature == only(RING).signature


@pytest.mark.parametrize(
    ("known", "confidence"),
    [
        ({}, "C2"),
        ({"still_since_ms": {"A": 0}}, "C2"),
        ({"still_since_ms": {"A": 0}, "usual_hold_ms": {"/L": 100}, "now_ms": 203_000}, "C3"),
        ({"still_since_ms": {"A": 0}, "usual_hold_ms": {"/L": 100_000}, "now_ms": 203_000}, "C2"),
        ({"threads": {"A"}, "now_ms": 203_000}, "C3"),
    ],
)
def test_an_upgrade_within_a_session_needs_more(known: dict[str, object], confidence: str):
    """D4: another thread may hold the read lock, unless all was silent for long."""
    assert only("L rw: A.R B.R A.W", **known).confidence == confidence


def test_a_double_request_of_a_thread_is_a_deadlock():
    """D6: by session it is a hint, by thread it is certain enough."""
    by_thread = assess(graph("X x: A A"), ActorEvidence(now_ms=999_000, threads={"A"}))

    assert [(made.rule, made.confidence) for made in by_thread.deadlocks] == [("D6", "C3")]


def test_the_learned_timeout_is_part_of_the_evidence():
    """T21: it may resolve by itself."""
    made = only(RING, patience_ms={"B": 10_000})
    text = "may resolve by itself: B has given up before, after 10 s"

    assert (False, text) in [(clue.supports, clue.text) for clue in made.evidence]


def test_all_who_wait_for_a_single_node_are_free_once_it_is_gone():
    """Also those that wait for it twice, and an upgrade that an orphan blocks as well."""
    assert frees("L rw: orphan.R A.R A.W; N single: A B B") == {"A": 2}


def test_a_lease_goes_to_the_next_although_another_one_is_never_returned():
    """The waiter has no place in another lock, and no lease has a client of its own."""
    assert frees("L rw: A.R A.W; S sem(2): orphan A B") == {"A": 2}


def test_an_actor_that_is_stopped_counts_as_freed():
    """Also if that frees no other."""
    assert frees("S sem(2): B! B! A orphan! orphan! B") == {"A": 1, "B": 2}


def frees(state: str) -> dict[str, int]:
    """How many actors each way out of the only deadlock frees."""
    (made,) = assess(graph(state), ActorEvidence(now_ms=0)).deadlocks
    return {way.actor: way.frees for way in made.ways_out}


@given(w.worlds())
def test_ways_out_free_as_many_as_they_say(found: list[WaitQueue]):
    """By taking the actor out of the world and asking again."""
    whole = WaitGraph(found)
    for made in assess(whole, ActorEvidence(now_ms=0)).deadlocks:
        for way in made.ways_out:
            rest = [_without(queue, way.actor) for queue in found]
            freed = set(stuck_classes(whole)) - set(stuck_classes(WaitGraph(rest)))

            assert way.frees == len(freed)


def _without(queue: WaitQueue, actor: str) -> WaitQueue:
    kept = tuple(request for request in queue.requests if request.actor != actor)
    is_let_go = queue.kind == "single" and kept[:1] != queue.requests[:1]
    return replace(queue, requests=() if is_let_go else kept)
