"""Scenes that show the flaws of recipes; the flaws themselves are in `demo/recipes`."""

from zktop.demo.scenes.scene import behind, contends, first, move
from zktop.demo_types import Scene

NAIVE_SORT = Scene(
    "naive-sort",
    "Sorted by the whole name",
    "`read-` sorts before `write-`: a reader walks in while a writer holds the lock.",
    (
        first(contends("w", "rw-naive", "catalogue", "write")),
        move(
            "r asks to read; by its name it is first, and so it goes in",
            contends("r", "rw-naive", "catalogue", "read"),
            until="r acquired",
        ),
    ),
    "By its number r has to wait, but r thinks it has the lock. A report can only hint at that.",
)

MIXED = Scene(
    "mixed-libraries",
    "Two libraries in one lock",
    "Each looks only at names of its own kind: they share a lock that excludes neither.",
    (first(contends("ann", "kazoo-lock", "jobs"), contends("bob", "get-watch", "jobs")),),
    "Two kinds of names below one lock, and two holders at once.",
)

FAILED_POLL = Scene(
    "failed-poll",
    "A failed poll, mistaken for the lock",
    "No response is not an empty list: a client that sees no one is not alone.",
    (
        first(contends("ann", "poll", "Lock", poll_s=0.3)),
        behind(contends("bob", "poll", "Lock", poll_s=0.3, flaw="failed-poll-holds")),
        move(
            "bob's connection breaks for a moment, and bob thinks that nobody is before him",
            do="bob cut 0.5",
            until="bob acquired, bob connected",
        ),
    ),
    "ann holds the lock; bob believes he holds it. ZooKeeper shows no error: bob is wrong.",
)

BUSY_TIME_OUT = Scene(
    "busy-time-out",
    "Milliseconds taken for microseconds",
    "A wait that ends a thousand times too early: list, watch, list, watch, and so on.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(
            contends("bob", "predecessor", "Mutex", timeout_s=20, rounds=0, flaw="microseconds")
        ),
    ),
    "Hundreds of requests a second from one waiter, where two would do in all.",
)

SPIN = Scene(
    "spin",
    "A writer that spins",
    "It asks again without waiting for anything, as fast as the server answers.",
    (
        first(contends("r", "rw-naive", "catalogue", "read")),
        move(
            "w wants to write, and asks, and asks",
            contends("w", "rw-naive", "catalogue", "write", flaw="spin"),
            until="w decided",
        ),
    ),
    "The server's load, and a waiter without any watch.",
)

NO_RECHECK = Scene(
    "no-recheck",
    "A notification without a recheck",
    "The second of three leaves, and the third sleeps forever, even when it is first.",
    (
        first(contends("one", "predecessor", "Mutex")),
        behind(contends("two", "predecessor", "Mutex")),
        behind(contends("three", "predecessor", "Mutex", flaw="no-recheck")),
        move(
            "the second is closed; the third is notified, and no longer watches anything",
            do="two cancel",
            until="three notified, three decided",
            ended="two",
        ),
        move(
            "the first releases after a while, and no one is notified",
            do="one release",
            ended="one",
            rest_s=4.0,
        ),
    ),
    "three is alone in the queue and could have the lock, but does not know it.",
)
