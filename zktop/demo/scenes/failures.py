"""Scenes with failures: of processes, sessions, connections and responses."""

from zktop.demo.scenes.scene import behind, contends, first
from zktop.demo_types import (
    CommandContender,
    ExpectedStep,
    Scene,
    SceneMove,
)

CRASH = Scene(
    "crash",
    "The holder is killed",
    "Its session outlives it: the lock is free only once the session has expired.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        SceneMove(
            "ann is killed; ZooKeeper does not know yet",
            (CommandContender("ann", "kill"),),
            (),
            ("ann",),
        ),
        SceneMove(
            "the session expires, and bob has the lock",
            (),
            (ExpectedStep("bob", "acquired", ever=True),),
        ),
    ),
    "The countdown to the end of ann's session.",
)

OVERSLEEP = Scene(
    "oversleep",
    "The holder oversleeps its session",
    "After a pause longer than its session, the holder still believes in a lock it has lost.",
    (
        SceneMove(
            "ann has the lock, and then its process stops, heartbeats included",
            (contends("ann", "predecessor", "Mutex", work="oversleep", sleep_sessions=3.0),),
            (ExpectedStep("ann", "working"),),
        ),
        SceneMove(
            "bob asks, and has the lock as soon as ann's session has expired",
            (contends("bob", "predecessor", "Mutex"),),
            (ExpectedStep("bob", "acquired"),),
        ),
        SceneMove(
            "ann wakes up, works on, and then finds out",
            (),
            (ExpectedStep("ann", "lost", ever=True),),
            ("ann",),
        ),
    ),
    "For a while both believed to hold it. Writes should carry a fencing number (the czxid).",
)

WORK_FAILS = Scene(
    "work-fails",
    "The work raises an exception",
    "A lock must be released however the work ends: `finally`, or a `with` block.",
    (
        first(contends("one", "get-watch", "lockKey_7", work="raise")),
        behind(contends("two", "get-watch", "lockKey_7")),
        SceneMove(
            "the work of the first raises; its lock is released all the same",
            (CommandContender("one", "release"),),
            (ExpectedStep("one", "failed"), ExpectedStep("two", "acquired")),
            ("one",),
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
        SceneMove(
            "ann is killed, and her node stays", (CommandContender("ann", "kill"),), (), ("ann",)
        ),
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
        SceneMove(
            "cid has listed the queue and seen bob, but is slow to set its watch",
            (contends("cid", "predecessor", "Mutex", flaw="void-watch"),),
            (ExpectedStep("cid", "decided"),),
        ),
        SceneMove(
            "bob gives up just now: cid watches a node that will never come back",
            (CommandContender("bob", "cancel"),),
            (ExpectedStep("cid", "watching"),),
            ("bob",),
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
        SceneMove("the leader is killed", (CommandContender("ann", "kill"),), (), ("ann",)),
        SceneMove(
            "its session expires, and bob leads", (), (ExpectedStep("bob", "acquired", ever=True),)
        ),
    ),
    "Nobody leads while ann's session runs out.",
)
