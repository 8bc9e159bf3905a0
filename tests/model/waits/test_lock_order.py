"""Lock-order inversions: found before they happen, and only where they can."""

import pytest
from model.waits.notation import learn, learned, queues
from msgspec.structs import replace

from zktop.model.format import fold_path
from zktop.model.waits import lock_order
from zktop.model.waits.lock_order import LockOrderGraph, OrderActor
from zktop.model.waits.lock_order_story import Inversion, inversions
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import queue_name


def found(*states: str, **actors: OrderActor) -> tuple[Inversion, ...]:
    """The potential deadlocks of these states."""
    return inversions(learned(*states, **actors))


ONE = "orders rw: A.W@1 ; stock x: A@2"
OTHER = "orders rw: B.W@8 ; stock x: B@7"


def test_two_actors_with_opposite_orders_could_deadlock():
    """Neither ever waited: that is the point."""
    (made,) = found(ONE, OTHER)

    assert (made.rule, made.confidence) == ("D9", "C2")
    assert made.sentence == (
        "Potential deadlock: B asked for the write lock of /orders while holding /stock; "
        "A asked for /stock while holding the write lock of /orders; if these overlap, none can "
        "continue."
    )
    assert [(turn.column, turn.verb, turn.mode, turn.lock) for turn in made.turns] == [
        (0, "got", "exclusive", "/stock"),
        (1, "got", "write", "/orders"),
        (0, "asks", "write", "/orders"),
        (1, "asks", "exclusive", "/stock"),
    ]


def test_the_odd_one_out_goes_against_the_majority():
    """Counted by acquisitions, each once, however often it is seen."""
    again = "orders rw: A.W@3 ; stock x: A@4"
    (made,) = found(ONE, ONE, again, OTHER)

    assert made.majority == "/orders before /stock (2 of 3 times)"
    assert made.odd_one_out == ("B",)


def test_the_odd_one_out_of_two_clients_with_one_name_has_its_session():
    """As in the sentence: the name alone stands for both."""
    again = "orders rw: A.W@3 ; stock x: A@4"
    (made,) = found(ONE, again, OTHER, A=OrderActor("A", "web"), B=OrderActor("B", "web"))

    assert made.majority == "/orders before /stock (2 of 3 times)"
    assert made.odd_one_out == ("web …B",)


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("0x100000d0d270000", "0x100000d0d270001", ("web …0001", "web …0000")),
        ("0x100000d0d270000", "0x200000d0d280000", ("web {B}", "web {A}")),
    ],
    ids=["of one server", "the first ones of two servers"],
)
def test_clients_with_one_name_are_told_apart(first: str, second: str, shown: tuple[str, str]):
    """By the last digits of their sessions, or by all: each server counts from 0."""
    (made,) = found(ONE, OTHER, A=OrderActor(first, "web"), B=OrderActor(second, "web"))

    assert made.actors == tuple(name.format(A=first, B=second) for name in shown)


def test_no_order_is_usual_if_both_are_as_frequent():
    """Half of the times is no majority."""
    (made,) = found(ONE, OTHER)

    assert (made.majority, made.odd_one_out) == ("", ())


def test_one_order_is_no_danger():
    """However many actors follow it."""
    assert not found(ONE, "orders rw: B.W@7 ; stock x: B@8")


def test_one_actor_cannot_deadlock_with_itself():
    """It took both orders, one after the other."""
    assert not found(ONE, "orders rw: A.W@8 ; stock x: A@7")


def test_one_identity_in_two_sessions_is_one_actor():
    """A restart is no second actor."""
    assert not found(ONE, OTHER, A=OrderActor("w", "A"), B=OrderActor("w", "B"))


def test_a_gate_keeps_them_apart():
    """Both take `big` first, so never both are inside."""
    assert not found(f"{ONE} ; big x: A@0001", f"{OTHER} ; big x: B@6")


def test_a_gate_that_both_only_read_is_none():
    """Readers do not keep each other out."""
    one = "big rw: A.R@1 ; orders rw: A.W@2 ; stock x: A@3"
    other = "big rw: B.R@6 ; orders rw: B.W@8 ; stock x: B@7"

    assert {"/orders", "/stock"} in [{turn.lock for turn in i.turns} for i in found(one, other)]


def test_two_that_only_read_need_a_writer_between_them():
    """One level less sure."""
    (made,) = found("a rw: A.R@1 ; b x: A@2", "a rw: B.R@8 ; b x: B@7")

    assert made.confidence == "C1"
    assert "with a writer queued in between" in made.sentence


def test_three_can_make_a_ring():
    """The search goes on beyond pairs."""
    (made,) = found("a x: A@1 ; b x: A@2", "b x: B@3 ; c x: B@4", "c x: C@5 ; a x: C@6")

    assert set(made.actors) == {"A", "B", "C"}


def test_alike_locks_are_one_class():
    """Other users, other groups, the same danger."""
    (made,) = found("user/1 x: A@1 ; group/7 x: A@2", "group/9 x: B@3 ; user/4 x: B@4")

    assert {fold_path(turn.lock) for turn in made.turns} == {"/user/*", "/group/*"}


def test_within_a_class_both_directions_are_a_danger():
    """D10: sort the keys."""
    (made,) = found("user/1 x: A@1 ; user/2 x: A@2", "user/5 x: B@4 ; user/6 x: B@3")

    assert made.rule == "D10"
    assert {fold_path(turn.lock) for turn in made.turns} == {"/user/*"}


def test_within_a_class_one_direction_is_fine():
    """They do sort the keys."""
    assert not found("user/1 x: A@1 ; user/2 x: A@2", "user/5 x: B@3 ; user/6 x: B@4")


def test_a_pool_of_several_leases_is_no_danger():
    """It takes as many actors as leases."""
    assert not found("p sem(2): A@1 ; b x: A@2", "p sem(2): B@8 ; b x: B@7")
    assert found("p sem(1): A@1 ; b x: A@2", "p sem(1): B@8 ; b x: B@7")


def test_standby_is_no_danger():
    """A leader for weeks would make an order with everything."""
    assert not found("e elect: A@1 ; b x: A@2", "e elect: B@8 ; b x: B@7")


def test_a_concurrent_asker_is_a_hint():
    """The lock that it had may be another thread's."""
    (made,) = found(ONE, OTHER, A=OrderActor("A", "A", is_concurrent=True))

    assert made.confidence == "C1"


def test_how_close_it_came_is_the_gap_between_the_windows():
    """A was done at 5.7 s, B asked at 8 s."""
    known = learned(ONE)
    known.ended("/stock", "lock-0000000002", 5_700)
    learn(known, OTHER)
    (made,) = inversions(known)

    assert made.missed_by_ms == 2_300


def test_clients_that_asked_in_the_same_millisecond_overlap():
    """Both were in both locks at once."""
    known = LockOrderGraph()
    both = [
        replace(queue, requests=tuple(replace(one, since_ms=9_000) for one in queue.requests))
        for queue in queues("a x: A@1 B@4 ; b x: B@2 A@3")
    ]
    known.learn(WaitGraph(both), ["A", "B"], lambda actor: OrderActor(actor, actor), lambda _: 0)
    known.ended("/b", "lock-0000000003", 9_500)
    known.ended("/a", "lock-0000000004", 9_500)

    assert [made.missed_by_ms for made in inversions(known)] == [0]


def test_the_number_of_a_queue_is_in_no_story():
    """Its path leads to the lock."""
    known = LockOrderGraph()
    for state in (ONE, OTHER):
        numbered = [replace(queue, lock=queue_name(queue.lock, 1)) for queue in queues(state)]
        found = WaitGraph(numbered)
        known.learn(found, found.tangled, lambda actor: OrderActor(actor, actor), lambda _: 0)
    (made,) = inversions(known)

    assert "\0" not in made.sentence + made.majority
    assert {turn.lock for turn in made.turns} == {"/orders", "/stock"}


def test_a_root_that_was_made_anew_is_another_lock():
    """Its generation is part of the vertex."""
    known = LockOrderGraph()
    learn(known, ONE, generations={"/orders": 1, "/stock": 1})
    learn(known, OTHER, generations={"/orders": 5, "/stock": 5})

    assert not inversions(known)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch):
    """What was confirmed longest ago is forgotten, its dangers too."""
    monkeypatch.setattr(lock_order, "MAX_EDGES", 3)
    known = LockOrderGraph()
    learn(known, ONE)
    learn(known, OTHER)
    for name in "cdefgh":
        learn(known, f"{name} x: A@1 ; {name}{name} x: A@2")

    assert len(known) == 3
    assert not inversions(known)


def test_an_actor_that_waits_twice_shows_no_order():
    """A waits for both locks that B holds: two threads, each with an order of its own."""
    twice = "orders x: C@1 A@3 ; stock x: D@2 A@5"

    assert len(learned(twice)) == 0


def test_the_lock_order_of_an_actor_is_forgotten_when_it_waits_twice():
    """A looked like one thread until it waited for `big`, too."""
    first = "orders rw: B.W@1 A.W@4 ; stock x: A@2"
    known = learned(first)
    learn(known, f"{first} ; big x: D@5 A@6")
    learn(known, OTHER)

    assert not inversions(known)


def test_many_locks_of_one_class_count_as_one_acquisition():
    """The one that it got last stands for all; the others are gates."""
    known = learned("user/1 x: A@1 ; user/2 x: A@2 ; user/3 x: A@3 ; orders x: A@4")

    edge = known.edge("/user/*", "/orders")
    assert edge is not None
    assert (edge.count, [sample.held.lock for sample in edge.samples.values()]) == (1, ["/user/3"])


def test_a_released_gate_is_remembered():
    """What A owned when it asked for `c` counts, not what it owns when it asks for `d`."""
    known = learned("user/1 x: A@1 ; user/2 x: A@2 ; c x: A@3")
    learn(known, "user/1 x: A@1 ; c x: A@3 ; d x: A@9")

    edge = known.edge("/user/*", "/c")
    assert edge is not None
    assert [sample.gates for sample in edge.samples.values()] == [{("/user/1", False)}]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> LockOrderGraph:
    """A took /a and /b with nodes 1 and 2; this order is forgotten, the nodes are still there."""
    monkeypatch.setattr(lock_order, "MAX_EDGES", 2)
    known = learned("a x: A@1 ; b x: A@2", "c x: S@1 ; cc x: S@2", "d x: S@1 ; dd x: S@2")
    assert known.edge("/a", "/b") is None
    return known


TWICE = "a x: A@1 ; b x: A@2 ; p x: D@5 A@6 ; q x: D@7 A@8"


def test_what_was_learned_of_a_forgotten_order_can_be_taken_back(forgetful: LockOrderGraph):
    """A waits twice only after its order was forgotten."""
    learn(forgetful, TWICE)

    assert forgetful.edge("/a", "/b") is None


def test_an_order_that_was_learned_anew_is_not_taken_back_for_the_forgotten_one(
    forgetful: LockOrderGraph,
):
    """A's nodes 1 and 2 are two threads; nodes 21 and 22 were taken in order."""
    learn(forgetful, "a x: A@21 ; b x: A@22")
    learn(forgetful, TWICE)

    edge = forgetful.edge("/a", "/b")
    assert edge is not None
    assert (edge.count, len(edge.samples)) == (1, 1)


def test_a_lock_that_it_waits_for_is_not_held():
    """Another thread of A takes the other lock: neither ever had both."""
    assert not found("a x: Z@1 A@5 ; b x: A@7", "b x: Z@11 B@15 ; a x: B@17")


def test_the_odd_one_out_is_no_client_whose_order_was_taken_back():
    """W turned out to be several threads, so only V takes them the other way."""
    usual = ("a x: U@1 ; b x: U@2", "a x: T@11 ; b x: T@12")
    threads = "b x: W@41 ; a x: W@42"
    twice = f"{threads} ; c x: Z@3 W@45 ; d x: Z@4 W@46"
    (made,) = found(*usual, "b x: V@31 ; a x: V@32", threads, twice)

    assert made.odd_one_out == ("V",)


def test_counts_without_a_sample_are_taken_back_too():
    """Only the orders of four clients are kept as samples; the sixth was several threads."""
    states = [f"a x: {name}@{at}1 ; b x: {name}@{at}2" for at, name in enumerate("PQRSTU", 1)]
    known = learned(*states)
    learn(known, f"{states[-1]} ; c x: D@3 U@65 ; d x: D@4 U@66")

    edge = known.edge("/a", "/b")
    assert edge is not None
    assert (edge.count, sorted(edge.by_owner)) == (5, [*"PQRST"])


def test_an_asker_that_turns_out_to_be_concurrent_makes_it_a_hint():
    """It was one thread when the order was first seen."""
    known = learned(ONE, OTHER)
    again = "orders rw: A.W@13 ; stock x: A@14"
    learn(known, again, A=OrderActor("A", "A", is_concurrent=True))

    assert [made.confidence for made in inversions(known)] == ["C1"]
