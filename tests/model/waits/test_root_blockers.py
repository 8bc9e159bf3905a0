"""Root blockers: the actors that all waiting leads to."""

from itertools import dropwhile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.waits.notation import graph, queues
from model.waits.random_states import is_granted, worlds
from msgspec.structs import replace

from zktop.model.waits import root_blockers as ranked
from zktop.model.waits.root_blockers import (
    MAX_LISTED,
    RootBlocker,
    blockers_later,
    ranking,
)
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest


def roots(found: WaitGraph, now_ms: int = 1_000_000) -> tuple[RootBlocker, ...]:
    """The root blockers of a state."""
    *_, last = ranking(found, now_ms, {})
    return last or ()


def test_waits_add_up_at_the_root():
    """C waits for B, which waits for A: both are A's."""
    (root,) = roots(graph("X x: A@1 B@20 ; Y x: B@2 C@30"), now_ms=100_000)

    assert (root.actors, root.blocked, root.blocked_ms) == (("A",), 2, 80_000 + 70_000)


def test_no_waiting_time_is_negative():
    """The clock of the leader, which dates the nodes, may be ahead of ours."""
    (root,) = roots(graph("X x: A@1 B@20"), now_ms=10_000)

    assert root.blocked_ms == 0


def test_the_most_blocked_time_comes_first():
    """Not the longest queue."""
    found = roots(graph("X x: A@1 B@900 C@901 ; Y x: D@2 E@3"))

    assert [root.actors for root in found] == [("D",), ("A",)]


def test_a_deadlock_is_one_root():
    """An actor behind it waits for all of it."""
    (root,) = roots(graph("X x: A@1 B@8 ; Y x: B@2 A@7 D@9"), now_ms=10_000)

    assert (root.actors, root.core, root.blocked) == (("A", "B"), 0, 3)


def test_a_waiter_in_two_queues_counts_once():
    """In the one where it has waited longer."""
    found = roots(graph("X x: A@1 C@10 ; Y x: B@2 C@11"), now_ms=20_000)

    assert [(root.actors, root.blocked) for root in found] == [(("A",), 1)]


def test_readers_before_the_first_writer_do_not_wait():
    """R R W R: two wait."""
    (root,) = roots(graph("L rw: A.R B.R C.W D.R"))

    assert (root.actors, root.blocked) == (("A",), 2)


def test_a_node_without_an_owner_can_be_a_root():
    """An orphan blocks like any other holder."""
    (root,) = roots(graph("X x: orphan@1 B@2"))

    assert root.actors == ("nobody:/X/1",)


def test_a_pool_that_will_open_is_not_followed_in_circles():
    """T09: the first of the ring stands for it."""
    found = roots(graph("P sem(2): A@1 C@2 B@8 ; Y x: B@3 A@7"))

    assert sum(root.blocked for root in found) == 2


def test_a_waiter_counts_under_the_blocker_of_the_holder_before_it():
    """A holds rows that C does not want: E, who waits for C, waits for B."""
    rows = WaitQueue(
        "/rows",
        "conflict",
        tuple(WaitRequest(name.lower(), name, "write", n, n) for n, name in enumerate("ABC")),
        conflicts={"c": ("b",)},
    )
    (other,) = queues("X x: C@10 E@11")

    assert [(root.actors, root.blocked) for root in roots(WaitGraph([rows, other]))] == [
        (("B",), 2)
    ]


def test_a_waiter_counts_under_a_member_that_blocks_it():
    """A holds rows that C and D do not want: B blocks them, although A came first."""
    rows = WaitQueue(
        "/rows",
        "conflict",
        tuple(WaitRequest(name.lower(), name, "write", n, n) for n, name in enumerate("ABCD")),
        conflicts={"c": ("b",), "d": ("b", "c")},
    )

    assert [(root.actors, root.blocked) for root in roots(WaitGraph([rows]))] == [(("B",), 2)]


def test_waits_grow_with_time():
    """A thousand milliseconds later each of two waits is a second longer."""
    found = graph("X x: A@1 B@20 ; Y x: B@2 C@30")

    assert blockers_later(roots(found, 100_000), 1_000) == roots(found, 101_000)


def test_an_undated_wait_does_not_grow():
    """A request without a znode has no time of creation."""
    queue = graph("X x: A@1 B@20").queues["/X"]
    undated = replace(
        queue, requests=(queue.requests[0], replace(queue.requests[1], since_ms=None))
    )
    (root,) = blockers_later(roots(WaitGraph([undated])), 1_000)

    assert (root.blocked, root.undated, root.blocked_ms) == (1, 1, 0)


def test_a_wait_of_unknown_age_is_no_main_wait():
    """A hidden request may be young: C counts where it is known to have waited."""
    (root,) = roots(graph("X x: A@1 C@0 ; Y x: B@2 C@11"), now_ms=20_000)

    assert root.actors == ("B",)


def test_a_node_without_an_owner_waits_for_nothing():
    """No client is blocked by the one before it."""
    assert roots(graph("X x: orphan@1 orphan@2")) == ()


def test_no_more_than_a_screen_could_show_are_listed():
    """Those with the most blocked time."""
    found = roots(graph(" ; ".join(f"L{n} x: h{n}@1 w{n}@{n + 2}" for n in range(MAX_LISTED + 5))))

    assert len(found) == MAX_LISTED
    assert found[0].actors == ("h0",)


@given(worlds(), st.data())
def test_they_are_what_the_definition_says(queues: list[WaitQueue], data: st.DataObject):
    """Of any small state: every waiter once, under the root of its oldest wait."""
    dates = data.draw(st.randoms(use_true_random=False))
    queues = [
        replace(queue, requests=tuple(replace(r, since_ms=dates.choice((None, r.czxid * 100)))
                                      for r in queue.requests))
        for queue in queues
    ]  # fmt: skip
    found = {(root.actors, root.blocked, root.undated, root.blocked_ms)
             for root in roots(WaitGraph(queues), 10_000)}  # fmt: skip

    assert found == defined(queues, 10_000)


def defined(queues: list[WaitQueue], now_ms: int) -> set[tuple[tuple[str, ...], int, int, int]]:
    """The root blockers by definition."""
    cores = {a: core.actors for core in WaitGraph(queues).cores for a in core.actors}
    waits: dict[str, tuple[int, str, str, WaitRequest, str]] = {}
    for queue in queues:
        for place, request in enumerate(queue.requests):
            if request.releases and not is_granted(queue, queue.requests, place):
                first = (queue.conflicts or {}).get(request.node) or (queue.requests[0].node,)
                head = next(one.actor for one in queue.requests if one.node == first[0])
                wait = (request.czxid, queue.lock, request.node, request, head)
                waits[request.actor] = min(
                    wait, waits.get(request.actor, wait), key=lambda w: w[:3]
                )
    behind: dict[tuple[str, ...], list[WaitRequest]] = {}
    for _, _, _, request, head in waits.values():
        path = [head]
        while path[-1] not in cores and path[-1] in waits and path.count(path[-1]) == 1:
            path.append(waits[path[-1]][4])
        root = path[-1]
        if path.count(root) > 1:
            root = min(dropwhile(root.__ne__, path), key=lambda actor: waits[actor][:3])
        behind.setdefault(tuple(sorted(cores.get(root, (root,)))), []).append(request)
    return {_summed(actors, some, now_ms) for actors, some in behind.items()}


def _summed(
    actors: tuple[str, ...], some: list[WaitRequest], now_ms: int
) -> tuple[tuple[str, ...], int, int, int]:
    since = [request.since_ms for request in some if request.since_ms is not None]
    return actors, len(some), len(some) - len(since), sum(now_ms - at for at in since)


def test_a_long_queue_is_a_step_of_a_ranking(monkeypatch: pytest.MonkeyPatch):
    """The work for a queue grows with its requests, and a hundred long ones would stop the UI."""
    monkeypatch.setattr(ranked, "WORK_PER_STEP", 2)
    short, long = (graph(queues) for queues in ("X x: A@1 ; Y x: B@2", "X x: A@1 B@2 C@3"))

    assert [blockers is None for blockers in ranking(short, 100_000, {})] == [False]
    assert [blockers is None for blockers in ranking(long, 100_000, {})] == [True, False]


def test_a_queue_that_is_removed_during_a_ranking_still_counts(monkeypatch: pytest.MonkeyPatch):
    """A ranking in steps sees the queues of its first step, also those that are gone by then."""
    monkeypatch.setattr(ranked, "WORK_PER_STEP", 1)
    found = graph("X x: A@1 B@20 ; Y x: C@2 D@30 ; Z x: E@3 F@40")
    steps = ranking(found, 100_000, {})
    next(steps)
    found.remove("/Z")
    *_, last = steps

    assert len(last) == 3
