"""How each scene must end: what a report shows, and what the contenders believe."""

from dataclasses import dataclass, field

from zktop.model.waits.deadlock import DeadlockKind


@dataclass(frozen=True)
class Queue:
    """The holders and waiters of one lock, by contenders' names, in the order of the queue."""

    holders: tuple[str, ...] = ()
    waiters: tuple[str, ...] = ()


@dataclass(frozen=True)
class SceneEnd:
    """What a report shows at the end of a scene, and what its contenders believe.

    `findings` appear once their thresholds have passed; there may be others. `deadlocks` are
    complete. `believed` is the largest set of contenders that believed at one time that they held
    the lock, given only where it differs from the queue's holders. `woken` is how many contenders
    the last move notified.
    """

    locks: dict[str, Queue]
    deadlocks: tuple[DeadlockKind, ...] = ()
    findings: tuple[str, ...] = ()
    believed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    woken: dict[str, int] = field(default_factory=dict)
    busy: tuple[str, ...] = ()  # contenders that send requests without end


ENDS: dict[str, SceneEnd] = {
    "queue": SceneEnd({"Mutex": Queue(("bob",), ("cid", "dot"))}, woken={"Mutex": 1}),
    "three-windows": SceneEnd({"lockKey_7": Queue(("one",), ("three",))}, woken={"lockKey_7": 1}),
    "polling": SceneEnd({"Lock": Queue(("bob",), ("cid",))}, findings=("L6",)),
    "herd": SceneEnd({"Lock": Queue(("bob",), ("cid", "dot", "eve", "fay"))}, woken={"Lock": 5}),
    "no-herd": SceneEnd(
        {"Lock": Queue(("bob",), ("cid", "dot", "eve", "fay"))}, woken={"Lock": 1}
    ),
    "single-herd": SceneEnd({"exclusive_lock": Queue(("ann",), ("bob", "cid", "dot"))}),
    "readers-and-writers": SceneEnd({"catalogue": Queue(("r1", "r2"), ("w1", "r3", "w2"))}),
    "read-write-herd": SceneEnd(
        {"catalogue": Queue(("host2",), ("host3", "host4", "host5"))}, woken={"catalogue": 3}
    ),
    "time-out": SceneEnd({"Mutex": Queue(("ann",), ("cid",))}),
    "work-fails": SceneEnd({"lockKey_7": Queue(("two",))}, woken={"lockKey_7": 1}),
    "crash": SceneEnd({"Mutex": Queue(("bob",))}, woken={"Mutex": 1}),
    "oversleep": SceneEnd({"Mutex": Queue(("bob",))}, believed={"Mutex": ("ann", "bob")}),
    "election": SceneEnd({"leader": Queue(("bob",), ("cid",))}, woken={"leader": 1}),
    "ab-ba": SceneEnd(
        {"orders": Queue(("ann",), ("bob",)), "stock": Queue(("bob",), ("ann", "cid"))},
        deadlocks=("cycle",),
        findings=("D1",),
    ),
    "philosophers": SceneEnd(
        {
            "fork0": Queue(("plato",), ("hume",)),
            "fork1": Queue(("hypatia",), ("plato",)),
            "fork2": Queue(("kant",), ("hypatia",)),
            "fork3": Queue(("arendt",), ("kant",)),
            "fork4": Queue(("hume",), ("arendt",)),
        },
        deadlocks=("cycle",),
        findings=("D1",),
    ),
    "upgrade": SceneEnd(
        {"catalogue": Queue(("ann", "bob"), ("ann", "bob"))},
        deadlocks=("upgraders",),
        findings=("D5",),
    ),
    "fairness": SceneEnd(
        {"orders": Queue(("ann",), ("wim", "bob")), "stock": Queue(("bob",), ("wes", "ann"))},
        deadlocks=("fairness",),
        findings=("D2",),
    ),
    "knot": SceneEnd(
        {
            "gpu": Queue(("ann", "bob"), ("cid", "dot")),
            "disk": Queue(("cid", "dot"), ("ann", "bob")),
        },
        deadlocks=("knot",),
        findings=("D3",),
    ),
    "naive-sort": SceneEnd(
        {"catalogue": Queue(("w",), ("r",))}, findings=("S1",), believed={"catalogue": ("r", "w")}
    ),
    "mixed-libraries": SceneEnd(
        {"jobs": Queue(("ann", "bob"))}, findings=("S2",), believed={"jobs": ("ann", "bob")}
    ),
    "starvation": SceneEnd({"catalogue": Queue(("r0",), ("w",))}, findings=("P8",)),
    "orphan": SceneEnd(
        {"import": Queue(("ann",), ("bob",))}, findings=("B1",), believed={"import": ("ann",)}
    ),
    "ghost": SceneEnd(
        {"Mutex": Queue(("ann",), ("ann", "bob"))}, findings=("B3",), believed={"Mutex": ()}
    ),
    "lost-wake-up": SceneEnd({"Mutex": Queue(("ann",), ("cid",))}, findings=("L3",)),
    "no-recheck": SceneEnd(
        {"Mutex": Queue(("three",))}, findings=("L2",), believed={"Mutex": ("one",)}
    ),
    "failed-poll": SceneEnd(
        {"Lock": Queue(("ann",), ("bob",))}, believed={"Lock": ("ann", "bob")}
    ),
    "busy-time-out": SceneEnd({"Mutex": Queue(("ann",), ("bob",))}, busy=("bob",)),
    "spin": SceneEnd({"catalogue": Queue(("r",), ("w",))}, findings=("L6",), busy=("w",)),
    "traffic": SceneEnd(
        {"orders": Queue(("ann",), ("bob",)), "stock": Queue(("bob",), ("ann", "cid"))},
        deadlocks=("cycle",),
        findings=("D1",),
    ),
}
