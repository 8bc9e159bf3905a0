"""What a deadlock is called: one sentence for each kind."""

import unicodedata

import pytest
from hypothesis import given
from model.waits import random_states as w
from model.waits.notation import graph
from model.waits.stuck import assess
from msgspec.structs import replace

from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

NAMES = DisplayNames(
    owners={"A": "worker-a", "B": "worker-b", "C": "worker-c", "W": "pick-9"},
    paths={"/X": "/locks/orders", "/Y": "/locks/stock", "/Z": "/locks/bin"},
)

SENTENCES = {
    "two": (
        "X rw: A.W@1 B.W@8 ; Y x: B@2 A@7",
        (
            "worker-a holds the write lock of /locks/orders and waits for /locks/stock, which "
            "worker-b holds; "
            "worker-b waits for the write lock of /locks/orders."
        ),
    ),
    "three": (
        "X x: A@1 C@9 ; Y x: B@2 A@7 ; Z x: C@3 B@8",
        (
            "worker-a holds /locks/orders and waits for /locks/stock, which worker-b holds; "
            "worker-b waits for /locks/bin, which worker-c holds; "
            "worker-c waits for /locks/orders, which worker-a holds."
        ),
    ),
    "soft": (
        "Y rw: A.R@1 W.W@2 B.R@8 ; X x: B@3 A@7",
        (
            "worker-a holds the read lock of /locks/stock and waits for /locks/orders, which "
            "worker-b holds; "
            "worker-b waits for the read lock of /locks/stock because pick-9 is queued to write."
        ),
    ),
    "soft twice": (
        "X rw: A.R@1 W.W@3 B.R@8 ; Y rw: B.R@2 C.W@4 A.R@7",
        (
            "worker-a holds the read lock of /locks/orders and waits for the read lock of "
            "/locks/stock, which worker-b holds, "
            "because worker-c is queued to write; "
            "worker-b waits for the read lock of /locks/orders because pick-9 is queued to write."
        ),
    ),
    "read again": (
        "X rw: A.R W.W A.R",
        (
            "worker-a holds the read lock of /locks/orders and asks for the read lock of "
            "/locks/orders again, but pick-9 is "
            "queued to write in between and waits for worker-a."
        ),
    ),
    "self": (
        "X rw: A.R B.R A.W",
        (
            "worker-a reads /locks/orders and now wants to write /locks/orders; "
            "that can only succeed after its own read lock is gone."
        ),
    ),
    "upgraders": (
        "X rw: A.R B.R A.W B.W",
        (
            "worker-a and worker-b both read /locks/orders and both want to write it; "
            "each waits for the other's read lock."
        ),
    ),
    "three upgraders": (
        "X rw: A.R B.R C.R A.W B.W C.W",
        (
            "worker-a, worker-b and worker-c all read /locks/orders and all want to write it; "
            "each waits for the others' read locks."
        ),
    ),
    "knot": (
        "P sem(2): A C B ; Y x: B A C",
        (
            "Both leases of /P are held by worker-a and worker-c. worker-a and worker-c wait for "
            "/locks/stock, which worker-b holds, and worker-b waits for a lease of /P: "
            "no lease can be returned."
        ),
    ),
    "exhausted": (
        "P sem(2): A B A B",
        (
            "Both leases of /P are held by worker-a and worker-b. worker-a and worker-b wait for "
            "another lease of /P: no lease can be returned."
        ),
    ),
    "knot with a queue": (
        "P sem(2): A C A ; X rw: A.R B.W C.R",
        (
            "Both leases of /P are held by worker-a and worker-c. worker-b and worker-c wait for "
            "/locks/orders, which worker-a holds, and worker-a waits for another lease of /P: "
            "no lease can be returned."
        ),
    ),
    "knot around a pool of one": (
        "P sem(2): A B C ; Q sem(1): C A B D",
        (
            "The only lease of /Q is held by worker-c. worker-c waits for a lease of /P, and "
            "worker-a and worker-b wait for a lease of /Q: no lease can be returned."
        ),
    ),
    "double": (
        "X x: A A",
        (
            "worker-a holds /locks/orders and asks for /locks/orders again, behind itself; "
            "it waits for itself."
        ),
    ),
    "election": (
        "E elect!: A@1 B@8 ; X x: B@2 A@7",
        (
            "worker-a holds /E and waits for /locks/orders, which worker-b holds; "
            "worker-b waits for /E."
        ),
    ),
}


@pytest.mark.parametrize(("state", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_deadlock_is_told_in_one_sentence(state: str, sentence: str):
    """With owner labels, lock paths and modes; the closing request comes last."""
    found = assess(graph(state), ActorEvidence(now_ms=100_000), NAMES)
    (made,) = (*found.deadlocks, *found.hints)

    assert made.sentence == sentence


def test_a_knot_counts_the_leases_that_are_out():
    """Three, although the config says two; and C, not A, has waited the least."""
    out = [WaitRequest(f"p{n}", actor, "lease", n, n) for n, actor in enumerate("ABC", 1)]
    out[2] = replace(out[2], exempt=True)
    wants = WaitRequest("p4", "D", "lease", 7, 7)
    mutex = [WaitRequest(f"m{n}", actor, "exclusive", n, n) for n, actor in ((4, "D"), (8, "A"))]
    mutex += [WaitRequest(f"m{n}", actor, "exclusive", n, n) for n, actor in ((9, "B"), (10, "C"))]
    found = WaitGraph(
        [
            WaitQueue("/p", "pool", (*out, wants), capacity=2, seen_zxid=100),
            WaitQueue("/m", "exclusive", tuple(mutex), seen_zxid=100),
        ]
    )
    (made,) = assess(found, ActorEvidence(now_ms=100_000), DisplayNames()).deadlocks

    assert made.sentence.startswith("All 3 leases of /p are held by A, B and C.")
    assert not any("least" in way.why for way in made.ways_out if way.actor != "C")


def test_a_ring_of_six_names_its_ends():
    """Six parts are too many to read."""
    locks = "abcdef"
    state = " ; ".join(
        f"{lock} x: {lock.upper()}@{n + 1} {locks[n - 1].upper()}@{n + 10}"
        for n, lock in enumerate(locks)
    )
    (made,) = assess(graph(state), ActorEvidence(now_ms=72_000)).deadlocks

    assert made.sentence == (
        "Ring of 6: F -> A -> ... -> E -> F; oldest wait F 1m02s, closed by E at 00:00:15Z."
    )


@given(w.worlds())
def test_clean_names_make_clean_sentences(queues: list[WaitQueue]):
    """No control character comes from us, and nothing ever fails."""
    found = assess(WaitGraph(queues), ActorEvidence(now_ms=0))
    texts = [t for made in (*found.deadlocks, *found.hints) for t in texts_of(made)]

    assert not [t for t in texts for char in t if unicodedata.category(char) == "Cc"]
    assert all(texts)


def texts_of(made) -> list[str]:
    """All the text in a deadlock."""
    clues = [clue.text for clue in made.evidence]
    return [made.sentence, made.signature, *clues, *(way.why for way in made.ways_out)]
