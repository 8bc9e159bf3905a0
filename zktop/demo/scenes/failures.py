"""Scenes in which something fails: processes, sessions, connections, answers."""

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

CRASH = Scene(
    "crash",
    "The holder is killed",
    "Its session outlives it: the lock is free only when the session has expired.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        Move("ann is killed; ZooKeeper does not know yet", (Tell("ann", "kill"),), (), ("ann",)),
        Move(
            "the session expires, and bob has the lock", (), (Heard("bob", "acquired", ever=True),)
        ),
    ),
    "The countdown to the end of ann's session.",
    End({"Mutex": LockEnd(("bob",))}, woken={"Mutex": 1}),
)

OVERSLEEP = Scene(
    "oversleep",
    "The holder oversleeps its session",
    "A pause longer than the session: the lock goes to the next while the first still believes.",
    (
        Move(
            "ann has the lock, and then everything in it stands still, heartbeats and all",
            (contends("ann", "predecessor", "Mutex", work="oversleep", sleep_sessions=3.0),),
            (Heard("ann", "working"),),
        ),
        Move(
            "bob asks, and has the lock as soon as ann's session has expired",
            (contends("bob", "predecessor", "Mutex"),),
            (Heard("bob", "acquired"),),
        ),
        Move(
            "ann wakes up, works on, and then finds out",
            (),
            (Heard("ann", "lost", ever=True),),
            ("ann",),
        ),
    ),
    "Two believe at once: what they write to needs a fencing number, such as the node's czxid.",
    End({"Mutex": LockEnd(("bob",))}, believed={"Mutex": ("ann", "bob")}),
)

ORPHAN = Scene(
    "orphan",
    "A node that nobody owns",
    "A node that is not ephemeral outlives its client, and everybody waits for nobody.",
    (
        first(contends("ann", "kazoo-lock", "import", flaw="persistent")),
        Move("ann is killed, and her node stays", (Tell("ann", "kill"),), (), ("ann",)),
        behind(contends("bob", "kazoo-lock", "import")),
    ),
    "The holder has no session: nothing will ever expire.",
    End({"import": LockEnd(("ann",), ("bob",))}, findings=("B1",), believed={"import": ("ann",)}),
)

GHOST = Scene(
    "ghost",
    "A ghost after a lost answer",
    "The create arrived, its answer did not; who creates again queues behind itself.",
    (
        behind(
            contends("ann", "predecessor", "Mutex", flaw="blind-retry"),
            "ann's connection breaks, she creates again, and waits for her own ghost",
        ),
        behind(contends("bob", "predecessor", "Mutex")),
    ),
    "Two nodes of one session; the second one watches the first.",
    End({"Mutex": LockEnd(("ann",), ("ann", "bob"))}, findings=("B3",), believed={"Mutex": ()}),
)

LOST_WAKE_UP = Scene(
    "lost-wake-up",
    "A lost wake-up",
    "The one before went between listing and watching: the watch is on a node that is no more.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        Move(
            "bob has listed the queue, and dawdles before it sets its watch",
            (contends("bob", "predecessor", "Mutex", flaw="void-watch"),),
            (Heard("bob", "decided"),),
        ),
        Move(
            "ann releases just now: bob watches a node that will never come back",
            (Tell("ann", "release"),),
            (Heard("bob", "watching"),),
            ("ann",),
        ),
    ),
    "bob is first in the queue, and does not know it.",
    End({"Mutex": LockEnd(("bob",))}, findings=("L3",), believed={"Mutex": ("ann",)}),
)

ELECTION = Scene(
    "election",
    "An election and a fail-over",
    "The leader holds the lock and the others stand by; one of them leads when it dies.",
    (
        first(contends("ann", "kazoo-election", "leader")),
        behind(contends("bob", "kazoo-election", "leader"), "bob stands by"),
        behind(contends("cid", "kazoo-election", "leader"), "cid stands by"),
        Move("the leader is killed", (Tell("ann", "kill"),), (), ("ann",)),
        Move("its session expires, and bob leads", (), (Heard("bob", "acquired", ever=True),)),
    ),
    "Nobody leads while ann's session runs out.",
    End({"leader": LockEnd(("bob",), ("cid",))}, woken={"leader": 1}),
)
