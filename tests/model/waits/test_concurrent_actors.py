"""Sessions with several threads: rings through them are hints, and never come and go."""

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from model.make_facts import NOW, ZK1, connections, kazoo_name, lock, row, session, world
from model.waits.notation import graph
from model.waits.stuck import assess

from zktop.model.examiner import Examiner
from zktop.model.facts import Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.assess import Assessment
from zktop.model.waits.choose_ring import ActorEvidence

LATE = 10_000_000


def judged(state: str, **known: object) -> Assessment:
    """The assessment of a state long after it came about."""
    return assess(graph(state), ActorEvidence(now_ms=LATE, **known))


@pytest.mark.parametrize(
    "state",
    [
        "X x: A B ; Y x: B A ; Z x: C A",  # A waits in two locks
        "X x: A B A ; Y x: B A",  # A waits in Y, and behind itself
        "X x: A B ; Y x: B A A",  # twice in one queue
        "X rw: A.R B.W ; Y x: B A ; Z x: C A",
        "P sem(1): A B ; Y x: B A ; Z x: C A",
    ],
)
def test_a_ring_through_several_threads_is_a_hint(state: str) -> None:
    """Which of its threads waits for what is not visible."""
    found = judged(state, still_since_ms={"A": 0, "B": 0})

    assert not found.deadlocks
    assert {hint.confidence for hint in found.hints} == {"C1"}
    assert any("it has several threads" in clue.text for clue in found.hints[0].evidence)


@pytest.mark.parametrize(
    "state",
    [
        "X x: A B ; Y x: B A",
        "X x: A B C ; Y x: B A ; Z x: D C",  # C waits once, and is no part of it
        "X x: A C B ; Y x: B A ; Z x: D C",  # ... not where it queues in between
        "L rw: A.R B.R A.W B.W",  # one thread asks for more than it holds
        "L rw: A.R W.W A.R",
        "P sem(2): A B A B",
    ],
)
def test_one_wait_at_a_time_is_one_thread(state: str) -> None:
    """As with recipes that take several locks one after another."""
    found = judged(state, still_since_ms=dict.fromkeys("ABCW", 0))

    assert [deadlock.confidence for deadlock in found.deadlocks] == ["C3"]


@pytest.mark.parametrize(
    "state",
    [
        "X x: H A B ; Y x: K B A",
        "X x: H A B ; Y x: B A",
        "X x: H A B C ; Y x: H B C A ; Z x: H C A B",
    ],
)
def test_a_client_that_holds_nothing_is_in_no_deadlock(state: str) -> None:
    """H and K will go; which of the others goes on then is open."""
    found = judged(state)

    assert not (*found.deadlocks, *found.hints, *found.relist)


WORKING = "X x: A@1 B@8 ; Y x: B@2 A@7 ; Z x: C@3 A@5"  # A has a thread that waits for Z


@pytest.mark.parametrize(
    ("released", "age_ms", "is_shown"),
    [(7, 1_000, True), (9, 1_000, False), (9, 29_999, False), (9, 30_000, True)],
)
def test_a_ring_through_working_threads_is_a_hint_once_it_has_lasted(
    released: int,
    age_ms: int,
    is_shown: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """A released something after B closed the ring, so the ring may open at any moment."""
    known = ActorEvidence(now_ms=8_000 + age_ms, released={"A": released})
    found = assess(graph(WORKING), known)

    assert bool(found.hints) is is_shown
    assert not found.deadlocks


def test_a_hint_stays_although_shorter_rings_come_and_go() -> None:
    """A core shows its shortest ring; where threads work, the one that was closed first."""
    long = "X x: A@1 B@8 ; Y x: B@2 C@7 ; Z x: C@3 A@6 ; W x: D@4 A@5"
    short = f"{long} ; V x: C@9 B@50"
    hints = [
        assess(graph(state), ActorEvidence(now_ms=90_000, released={"A": 60})).hints
        for state in (long, short)
    ]

    assert [[len(one.steps) for one in some] for some in hints] == [[3], [3]]
    assert hints[0][0].id == hints[1][0].id


SESSIONS, LOCKS = 6, 5


def pools(dice: random.Random, steps: int, every_ms: int) -> Iterator[Report]:
    """Sessions with a thread for every lock; some holder goes, and asks again at once."""
    owners = [f"s{number}" for number in range(SESSIONS)]
    known = [connections(ZK1, *map(row, owners))]
    queues: dict[str, list[tuple[str, Text]]] = {}
    for path in (f"/l{number}" for number in range(LOCKS)):
        dice.shuffle(owners)
        known += lock(path, *owners)
        queues[path] = [(owner, kazoo_name(owner, at)) for at, owner in enumerate(owners)]
    now, examiner = world(*known), Examiner()
    for step in range(steps):
        yield examiner.look(now, NOW + step * every_ms)
        path = dice.choice(list(queues))
        owner, node = queues[path].pop(0)
        again, zxid, at = kazoo_name(owner, 100 + step), 1_000 + 2 * step, NOW + step * every_ms
        queues[path].append((owner, again))
        stat = Stat(zxid + 1, zxid + 1, at, owner=session(owner))
        now = now.after(
            Gone(path=join(path, node), zxid=zxid, at=at),
            Node(path=join(path, again), stat=stat, data=owner.encode(), zxid=zxid + 1, at=at),
        )


@pytest.mark.parametrize("every_ms", [25, 500, 3_000])
@pytest.mark.parametrize("seed", range(4))
def test_thread_pools_at_work_give_no_alarm(seed: int, every_ms: int) -> None:
    """No deadlock comes and goes with each change, nor a hint at one."""
    looks = list(pools(random.Random(seed), 150, every_ms))
    hints = [{finding.id for finding in made.findings if finding.rule == "D1"} for made in looks]
    shown = [name for before, after in pairwise([set(), *hints]) for name in after - before]

    assert not any(made.deadlocks for made in looks)
    assert not any(finding.severity == "critical" for made in looks for finding in made.findings)
    # Once until one of its threads works, and once more when it has lasted.
    assert all(shown.count(name) <= 2 for name in shown)


def test_thread_pools_that_stand_still_are_a_hint() -> None:
    """Information, from the time on that it has lasted."""
    owners = ["ann", "bob"]
    facts = [
        fact
        for path, some in (("/x", owners), ("/y", owners[::-1]), ("/z", ["cid", *owners]))
        for fact in lock(path, *some)
    ]
    examiner, now = Examiner(), world(*facts)
    looks = [examiner.look(now, NOW + late) for late in (1_000, 2_000, 4_000, 60_000)]
    found = [[finding for finding in made.findings if finding.rule == "D1"] for made in looks]

    assert [len(some) for some in found] == [0, 0, 1, 1]
    assert (found[-1][0].severity, found[-1][0].confidence) == ("info", "C1")
    assert not looks[-1].deadlocks
