"""Scenes that show the flaws of recipes. The flaws themselves are in `demo/recipes`."""

from zktop.demo.scenes.building_blocks import behind, contends, first, move
from zktop.demo_types.scene_moves import Scene

NAIVE_SORT = Scene(
    "naive-sort",
    "Sorted by the whole name",
    "`read-` sorts before `write-`: a reader enters while a writer holds the lock.",
    (
        first(contends("w", "rw-naive", "catalogue", "write")),
        move(
            "r requests a read lock; by its name it is first, so it enters",
            contends("r", "rw-naive", "catalogue", "read"),
            until="r acquired",
        ),
    ),
    "By its number r must wait, but r believes it holds the lock. zktop can only hint at that.",
    group="Readers and writers",
)

MIXED = Scene(
    "mixed-libraries",
    "Two libraries in one lock",
    "Each library looks only at its own names, so both clients hold the lock at once.",
    (first(contends("ann", "kazoo-lock", "jobs"), contends("bob", "get-watch", "jobs")),),
    "Two kinds of node names below one lock, and two holders.",
    group="Client bugs",
)

FAILED_POLL = Scene(
    "failed-poll",
    "A failed poll taken for an empty queue",
    "A failed listing is not an empty list: a client that sees no others may still not be alone.",
    (
        first(contends("ann", "poll", "Lock", poll_s=0.3)),
        behind(contends("bob", "poll", "Lock", poll_s=0.3, flaw="failed-poll-holds")),
        move(
            "bob's connection breaks for a moment, and bob believes that the queue is empty",
            do="bob cut 0.5",
            until="bob acquired, bob connected",
        ),
    ),
    "Both believe that they hold the lock, but only ann does. zktop sees what bob watches "
    "(nothing), but not what it believes.",
    group="Client bugs",
)

BUSY_TIME_OUT = Scene(
    "busy-time-out",
    "Milliseconds taken for microseconds",
    "Each wait ends a thousand times too early: list, watch, list, watch, and so on.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(
            contends("bob", "predecessor", "Mutex", timeout_s=20, rounds=0, flaw="microseconds")
        ),
    ),
    "One waiter sends hundreds of requests per second. Two in total would do.",
    group="Client bugs",
)

SPIN = Scene(
    "spin",
    "A writer that spins",
    "It retries without waiting, as fast as the server responds.",
    (
        first(contends("r", "rw-naive", "catalogue", "read")),
        move(
            "w requests a write lock, again and again",
            contends("w", "rw-naive", "catalogue", "write", flaw="spin"),
            until="w decided",
        ),
    ),
    "The load of the server, and a waiter without a watch.",
    group="Client bugs",
)

NO_RECHECK = Scene(
    "no-recheck",
    "A notification without a recheck",
    "The second of three leaves, and the third sleeps forever, even when it is first in line.",
    (
        first(contends("one", "predecessor", "Mutex")),
        behind(contends("two", "predecessor", "Mutex")),
        behind(contends("three", "predecessor", "Mutex", flaw="no-recheck")),
        move(
            "two leaves; three is notified, but does not set a new watch",
            do="two cancel",
            until="three notified, three decided",
            ended="two",
        ),
        move(
            "one releases, and no client is notified",
            do="one release",
            ended="one",
            rest_s=4.0,
        ),
    ),
    "three is alone in the queue and could have the lock, but does not know it.",
    group="Client bugs",
)
