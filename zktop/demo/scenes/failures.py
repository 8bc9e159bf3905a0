"""Scenes with failures: of processes, sessions, connections and responses."""

from zktop.demo.scenes.scene import behind, contends, first, move
from zktop.demo_types import Scene

CRASH = Scene(
    "crash",
    "The holder is killed",
    "Its session outlives it: the lock is free only once the session has expired.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        move("ann is killed; ZooKeeper does not know yet", do="ann kill", ended="ann"),
        move("the session expires, and bob has the lock", until="bob acquired"),
    ),
    "The countdown to the end of ann's session.",
)

OVERSLEEP = Scene(
    "oversleep",
    "The holder oversleeps its session",
    "After a pause longer than its session, the holder still believes in a lock it has lost.",
    (
        move(
            "ann has the lock, and then her process stops, heartbeats included",
            contends("ann", "predecessor", "Mutex", work="oversleep", sleep_sessions=3.0),
            until="ann working",
        ),
        move(
            "bob asks, and has the lock as soon as ann's session has expired",
            contends("bob", "predecessor", "Mutex"),
            until="bob acquired",
        ),
        move("ann wakes up, goes on working, and then finds out", until="ann lost", ended="ann"),
    ),
    "For a while both believed they held it. Writes should carry a fencing number (the czxid).",
)

WORK_FAILS = Scene(
    "work-fails",
    "The work raises an exception",
    "A lock must be released however the work ends: `finally`, or a `with` block.",
    (
        first(contends("one", "get-watch", "lockKey_7", work="raise")),
        behind(contends("two", "get-watch", "lockKey_7")),
        move(
            "the work of the first raises; its lock is released all the same",
            do="one release",
            until="one failed, two acquired",
            ended="one",
        ),
    ),
    "two has the lock at once: no session has to expire, as it does when a holder dies.",
)

ORPHAN = Scene(
    "orphan",
    "A node that nobody owns",
    "A node that is not ephemeral stays when its client dies, and the queue waits for no one.",
    (
        first(contends("ann", "kazoo-lock", "import", flaw="persistent")),
        move("ann is killed, and her node stays", do="ann kill", ended="ann"),
        behind(contends("bob", "kazoo-lock", "import")),
    ),
    "The holder has no session, so nothing will expire. After a minute it is called an orphan.",
)

GHOST = Scene(
    "ghost",
    "A ghost after a lost answer",
    "The create arrived, its response did not; a client that creates again queues behind itself.",
    (
        behind(
            contends("ann", "predecessor", "Mutex", flaw="blind-retry"),
            "ann's connection breaks, she creates again, and waits for her own ghost",
        ),
        behind(contends("bob", "predecessor", "Mutex")),
    ),
    "Two nodes of one session; the second one watches the first.",
)

LOST_WAKE_UP = Scene(
    "lost-wake-up",
    "A lost wake-up",
    "Between listing the queue and setting the watch, the one in front leaves: the watch is on a "
    "node that is gone for good, and will never fire.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        move(
            "cid has listed the queue and seen bob, but is slow to set its watch",
            contends("cid", "predecessor", "Mutex", flaw="void-watch"),
            until="cid decided",
        ),
        move(
            "bob gives up at this moment: cid watches a node that will never come back",
            do="bob cancel",
            until="cid watching",
            ended="bob",
        ),
    ),
    "cid is next in line, but nobody will wake it when ann releases. Release ann, and see.",
)

ELECTION = Scene(
    "election",
    "An election and a fail-over",
    "The leader holds the lock and the others stand by; one of them leads when it dies.",
    (
        first(contends("ann", "kazoo-election", "leader")),
        behind(contends("bob", "kazoo-election", "leader"), "bob stands by"),
        behind(contends("cid", "kazoo-election", "leader"), "cid stands by"),
        move("the leader is killed", do="ann kill", ended="ann"),
        move("its session expires, and bob leads", until="bob acquired"),
    ),
    "Nobody leads while ann's session runs out.",
)
