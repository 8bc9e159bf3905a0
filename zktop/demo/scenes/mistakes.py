"""Scenes that show what is wrong with some recipes."""

from zktop.demo.scenes.scene import (
    End,
    Heard,
    LockEnd,
    Move,
    Scene,
    Tell,
    behind,
    contends,
    first,
)

NAIVE_SORT = Scene(
    "naive-sort",
    "Sorted by the whole name",
    "`read-` sorts before `write-`: a reader walks in while a writer holds the lock.",
    (
        first(contends("w", "rw-naive", "catalogue", "write")),
        Move(
            "r wants to read; by its name it is first",
            (contends("r", "rw-naive", "catalogue", "read"),),
            (Heard("r", "acquired"),),
        ),
    ),
    "By number r has to wait; r thinks that it holds.",
    End({"catalogue": LockEnd(("w",), ("r",))}, believed={"catalogue": ("r", "w")}),
)

MIXED = Scene(
    "mixed-libraries",
    "Two libraries in one lock",
    "Each looks only at nodes of its own form: they queue in one place and do not exclude.",
    (first(contends("ann", "kazoo-lock", "jobs"), contends("bob", "get-watch", "jobs")),),
    "Two families of names below one lock, and two holders.",
    End(
        {"jobs": LockEnd(("ann", "bob"))},
        findings=("S2",),
        believed={"jobs": ("ann", "bob")},
    ),
)

FAILED_POLL = Scene(
    "failed-poll",
    "A poll that failed, taken for the lock",
    "No answer is not an empty answer: one who cannot see anybody is not alone.",
    (
        first(contends("ann", "poll", "Lock", poll_s=0.3)),
        behind(contends("bob", "poll", "Lock", poll_s=0.3, flaw="failed-poll-holds")),
        Move(
            "bob's connection breaks for a moment, and bob thinks that nobody is before it",
            (Tell("bob", "cut", 0.5),),
            (Heard("bob", "acquired"), Heard("bob", "connected")),
        ),
    ),
    "ann holds, bob thinks so too, and both sessions live.",
    End({"Lock": LockEnd(("ann",), ("bob",))}, believed={"Lock": ("ann", "bob")}),
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
    End({"Mutex": LockEnd(("ann",), ("bob",))}, busy=("bob",)),
)

SPIN = Scene(
    "spin",
    "A writer that spins",
    "It asks again without waiting for anything, as fast as the server answers.",
    (
        first(contends("r", "rw-naive", "catalogue", "read")),
        Move(
            "w wants to write, and asks, and asks",
            (contends("w", "rw-naive", "catalogue", "write", flaw="spin"),),
            (Heard("w", "decided"),),
        ),
    ),
    "The server's load, and a waiter without any watch.",
    End({"catalogue": LockEnd(("r",), ("w",))}, findings=("L6",), busy=("w",)),
)

NO_RECHECK = Scene(
    "no-recheck",
    "A notification that rechecks nothing",
    "The middle one of three goes, and the last sleeps for good, though it is first in the end.",
    (
        first(contends("one", "predecessor", "Mutex")),
        behind(contends("two", "predecessor", "Mutex")),
        behind(contends("three", "predecessor", "Mutex", flaw="no-recheck")),
        Move(
            "the second is closed; the third is notified, and watches nothing any more",
            (Tell("two", "cancel"),),
            (Heard("three", "notified"), Heard("three", "decided")),
            ("two",),
        ),
        Move("the first releases, and nobody hears it", (Tell("one", "release"),), (), ("one",)),
    ),
    "The only one in the queue, and it does not hold.",
    End({"Mutex": LockEnd(("three",))}, findings=("L2",), believed={"Mutex": ("one",)}),
)
