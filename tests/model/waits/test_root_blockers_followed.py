"""Root blockers between two rankings: what is followed is what a ranking would say."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.waits.notation import graph, queues

from zktop.model.waits import root_blockers as forest
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.root_blockers import LISTED, Forest, RootBlocker
from zktop.model.waits.state import WaitQueue, WaitRequest

NOW = 1_000_000


class Follower:
    """A forest that is told of changes alone, beside one that ranks everything each time."""

    def __init__(self, text: str) -> None:
        self.graph, self.forest = WaitGraph(), Forest()
        self.unranked: set[str] = set()
        self.changed(*queues(text))
        self.rank()

    def changed(self, *made: WaitQueue) -> None:
        """All these changed since the last look."""
        for queue in made:
            self.graph.replaced(queue.lock, queue)
        for queue in made:
            if not self.forest.followed(self.graph, queue.lock, queue, at_leisure=True):
                self.unranked.add(queue.lock)

    def rank(self) -> None:
        """Rank them all again."""
        for lock in self.unranked:
            self.forest.replaced(lock, self.graph.queues[lock])
        self.unranked.clear()
        self.forest.roots(self.graph, NOW)

    def says(self) -> set[tuple[tuple[str, ...], int, int]]:
        """Whom the forest shows now."""
        return told(self.forest.aged(NOW))

    def truth(self) -> set[tuple[tuple[str, ...], int, int]]:
        """What a forest from nothing says."""
        return told(self.fresh().roots(self.graph, NOW))

    def fresh(self) -> Forest:
        """Give a forest from nothing."""
        fresh = Forest()
        for lock, queue in self.graph.queues.items():
            fresh.replaced(lock, queue)
        return fresh


def told(roots: tuple[RootBlocker, ...]) -> set[tuple[tuple[str, ...], int, int]]:
    """Without what only sorts them; nobody is behind one whose waiters count elsewhere."""
    return {(root.actors, root.blocked, root.blocked_ms) for root in roots if root.blocked}


@pytest.mark.parametrize(
    "after",
    ["X x: B@20 C@30", "X x: A@1 B@20 C@30 D@40", "X x: C@30", "X x:", "X rw: A.R@1 B.R@20 C.W@3"],
)
def test_a_queue_of_strangers_is_followed(after: str):
    """Somebody leaves, somebody comes, nobody is left, the lock is another one."""
    one = Follower("X x: A@1 B@20 C@30 ; Y x: E@2 F@3")
    one.changed(*queues(after))

    assert not one.unranked
    assert one.says() == one.truth()


def test_who_moves_from_one_lock_to_another_is_found_there():
    """Both changes come in one look, in either order."""
    for first, second in (("X x: B@20", "Z x: A@40 C@50"), ("Z x: A@40 C@50", "X x: B@20")):
        one = Follower("X x: A@1 B@20")
        one.changed(*queues(first), *queues(second))

        assert one.says() == one.truth() == {(("A",), 1, NOW - 50_000)}


def test_a_queue_with_somebody_who_stands_elsewhere_waits_for_the_ranking():
    """Who is behind whom there depends on the others."""
    one = Follower("X x: A@1 B@20 ; Y x: B@2 C@30")
    one.changed(*queues("Y x: B@2 C@30 D@31"))

    assert one.unranked == {"/Y"}


def test_a_crowd_waits_for_the_ranking():
    """To count ten thousand waiters again at each change would keep everything else waiting."""
    crowd = " ".join(f"A{n}@{n}" for n in range(1, 502))
    one = Follower("X x: A1@1 A2@2")
    one.changed(*queues(f"X x: {crowd}"))

    assert one.unranked == {"/X"}


@pytest.mark.parametrize(
    "after",
    [range(2, 600), [*range(1, 600), 600], [*range(1, 300), *range(302, 600)], range(1, 400)],
)
def test_a_crowd_that_was_counted_once_is_followed(after: Iterable[int]):
    """Its holder leaves, somebody comes, two of the middle leave, and it is no crowd any more."""
    one = Follower(f"X x: {_crowd(range(1, 600))} ; Y x: E@2 F@3")
    one.changed(*queues(f"X x: {_crowd(after)}"))

    assert not one.unranked
    assert one.says() == one.truth()


def test_a_crowd_is_followed_at_leisure_only():
    """To look for the difference takes longer than anything else that is done with a small one."""
    one = Follower(f"X x: {_crowd(range(1, 600))}")
    (queue,) = queues(f"X x: {_crowd(range(2, 600))}")
    one.graph.replaced(queue.lock, queue)

    assert not one.forest.followed(one.graph, queue.lock, queue)


def test_readers_in_front_of_a_crowd_are_counted_anew():
    """How many of them hold is not known without a look at them."""
    crowd = _crowd(range(2, 600))
    one = Follower(f"X rw: A.W@1 {crowd}")
    one.changed(*queues(f"X rw: A.R@1 {crowd}"))

    assert one.unranked == {"/X"}
    one.rank()
    assert one.says() == one.truth()


def _crowd(numbers: Iterable[int]) -> str:
    return " ".join(f"A{number}@{number}" for number in numbers)


def test_whoever_takes_over_the_longest_queue_leaves_nobody_out():
    """Its next holder has more behind it than any other, so nobody else can be missing."""
    names = [f"l{n}" for n in range(LISTED + 5)]
    small = " ; ".join(f"{n} x: {n}A@{k + 500} {n}B@{k + 600}" for k, n in enumerate(names))
    one = Follower(f"X x: {_crowd(range(1, 20))} ; {small}")
    one.changed(*queues(f"X x: {_crowd(range(2, 20))}"))

    assert len(one.says()) == LISTED
    assert not one.forest.is_behind
    one.changed(*queues(f"X x: {_crowd(range(17, 20))}"))
    assert len(one.says()) == LISTED
    assert not one.forest.is_behind
    one.changed(*queues("X x: A18@997 A19@998"))
    assert len(one.says()) == LISTED
    assert one.forest.is_behind


def test_a_list_that_was_cut_says_when_somebody_may_be_missing():
    """The one that comes next is known only when all are ranked."""
    names = [f"l{n}" for n in range(LISTED + 5)]
    one = Follower(" ; ".join(f"{n} x: {n}A@{k + 1} {n}B@{k + 500}" for k, n in enumerate(names)))
    was_behind = one.forest.is_behind
    one.changed(*queues("l0 x: l0B@500"))

    assert not was_behind
    assert one.forest.is_behind
    assert len(one.says()) == LISTED - 1
    one.rank()
    assert not one.forest.is_behind
    assert len(one.says()) == LISTED


def test_where_as_many_wait_everywhere_nobody_is_outdone_by_time():
    """All waits grow alike, so the worst stay the worst."""
    names = [f"l{n}" for n in range(LISTED + 5)]
    one = Follower(" ; ".join(f"{n} x: {n}A@{k + 1} {n}B@{k + 500}" for k, n in enumerate(names)))

    assert one.forest.is_right(10 * NOW)


def test_a_longer_queue_comes_among_the_worst_in_time():
    """Its waits grow faster than those of the least on the list, which had a start."""
    names = [f"l{n}" for n in range(LISTED)]
    small = " ; ".join(f"{n} x: {n}A@1 {n}B@{k + 1}" for k, n in enumerate(names))
    one = Follower(f"{small} ; X x: {' '.join(f'X{n}@998' for n in range(100))}")
    listed = {actors for actors, _, _ in one.says()}
    when = next(at for at in range(NOW, 2 * NOW, 100) if not one.forest.is_right(at))

    assert when > NOW
    assert ("X0",) not in listed
    assert ("X0",) in {root.actors for root in one.fresh().roots(one.graph, when)}


@given(
    queued=st.lists(st.lists(st.integers(1, NOW // 1000), min_size=2, max_size=5), max_size=9),
    later=st.integers(NOW, 3 * NOW),
)
def test_a_list_that_is_right_is_what_a_ranking_would_say(queued: list[list[int]], later: int):
    """As long as nothing has changed; of those with as much behind them anybody may be named."""
    story = " ; ".join(
        f"l{n} x: {' '.join(f'l{n}P{k}@{at}' for k, at in enumerate(one))}"
        for n, one in enumerate([[1, 2], *queued])
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "LISTED", 3)
        one = Follower(story)
        if one.forest.is_right(later):
            rankings = one.forest.aged(later), one.fresh().roots(one.graph, later)

            ours, fresh = ([root.blocked_ms for root in roots] for roots in rankings)
            assert ours == fresh


KINDS = ("exclusive", "read-write", "pool", "single")
MODES = {"read-write": ("read", "write"), "pool": ("lease",)}


@given(st.randoms(use_true_random=False))
def test_with_nobody_unranked_it_is_what_a_ranking_would_say(chance: random.Random):
    """Whatever changes, and however many at once."""
    one = Follower("a x: A1@1")
    for number in range(12):
        locks = chance.sample("abcdef", chance.randint(1, 3))
        one.changed(*(_queue(f"/{lock}", number, chance) for lock in locks))
        if one.unranked and chance.random() < 0.5:
            one.rank()
        if not one.unranked:
            assert one.says() == one.truth()


@given(st.randoms(use_true_random=False))
def test_a_ranking_after_some_changes_is_what_a_ranking_of_all_would_say(chance: random.Random):
    """Main waits are looked for again only where somebody has begun or ended to wait."""
    one = Follower("a x: A1@1")
    for number in range(12):
        locks = chance.sample("abcdef", chance.randint(1, 3))
        one.changed(*(_queue(f"/{lock}", number, chance, shared="WXYZ") for lock in locks))
        one.rank()
        assert one.says() == one.truth()


def _queue(lock: str, number: int, chance: random.Random, shared: str = "XY") -> WaitQueue:
    """Mostly people of its own, and now and then somebody who is elsewhere too."""
    kind = chance.choice(KINDS)
    mine = [f"{lock}{n}" for n in range(6)] + list(shared)
    requests = tuple(
        WaitRequest(
            node=f"n-{place}",
            actor=actor,
            mode=chance.choice(MODES.get(kind, ("exclusive",))),
            czxid=number * 10 + place + 1,
            since_ms=chance.randint(1, 1000),
        )
        for place, actor in enumerate(chance.sample(mine, chance.randint(0, 4)))
    )
    return WaitQueue(lock, kind, requests, chance.randint(1, 2) if kind == "pool" else None)


def test_a_deadlock_is_still_named_when_it_is_no_more():
    """Until the next ranking; it is the deadlock itself that says when it is over."""
    one = Follower("X x: A@1 B@8 ; Y x: B@2 A@7")
    one.changed(*queues("X x: A@1 ; Y x: B@2 A@7"))

    assert graph("X x: A@1 ; Y x: B@2 A@7").stuck_set.cores == ()
    assert [root.actors for root in one.forest.aged(NOW)] == [("A", "B")]
