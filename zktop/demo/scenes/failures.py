"""Scenes with failures: of processes, sessions, connections and responses."""

from zktop.demo.scenes.building_blocks import behind, contends, first, move
from zktop.demo_types.scene_moves import Scene

CRASH = Scene(
    "crash",
    "The holder is killed",
    "Its session outlives it: the lock stays held until the session expires.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        move("ann is killed; ZooKeeper does not notice yet", do="ann kill", ended="ann"),
        move("the session expires, and bob acquires the lock", until="bob acquired"),
    ),
    "Screen 4 counts down to the end of ann's session.",
    group="Crashes and expiry",
)

OVERSLEEP = Scene(
    "oversleep",
    "The holder oversleeps its session",
    "After a pause longer than its session timeout, a client still believes it holds the lock.",
    (
        move(
            "ann acquires the lock, then its process freezes and sends no heartbeats",
            contends("ann", "predecessor", "Mutex", work="oversleep", sleep_sessions=3.0),
            until="ann working",
        ),
        move(
            "bob requests the lock, and acquires it when ann's session expires",
            contends("bob", "predecessor", "Mutex"),
            until="bob acquired",
        ),
        move(
            "ann wakes up, keeps working, and only then finds out", until="ann lost", ended="ann"
        ),
    ),
    "For a while both believed they held it. Guard writes with a fencing token (the czxid).",
    group="Crashes and expiry",
)

WORK_FAILS = Scene(
    "work-fails",
    "The work raises an exception",
    "Release a lock however the work ends: use `finally` or a `with` block.",
    (
        first(contends("one", "get-watch", "lockKey_7", work="raise")),
        behind(contends("two", "get-watch", "lockKey_7")),
        move(
            "the work of client one raises an exception; its lock is released anyway",
            do="one release",
            until="one failed, two acquired",
            ended="one",
        ),
    ),
    "two acquires the lock immediately. If client one had died, its session would have to expire "
    "first.",
    group="Crashes and expiry",
)

ORPHAN = Scene(
    "orphan",
    "A node without an owner",
    "A node that is not ephemeral stays when its client dies, and blocks the queue forever.",
    (
        first(contends("ann", "kazoo-lock", "import", flaw="persistent")),
        move("ann is killed, and its node stays", do="ann kill", ended="ann"),
        behind(contends("bob", "kazoo-lock", "import")),
    ),
    "The holder has no session, so nothing will expire. After a minute zktop reports an orphan.",
    group="Crashes and expiry",
)

GHOST = Scene(
    "ghost",
    "A ghost after a lost response",
    "The create succeeded, but its response was lost. A client that retries waits for itself.",
    (
        behind(
            contends("ann", "predecessor", "Mutex", flaw="blind-retry"),
            "ann's connection breaks; it creates a second node and waits for its own first one",
        ),
        behind(contends("bob", "predecessor", "Mutex")),
    ),
    "One session owns two nodes, and the second one watches the first.",
    group="Client bugs",
)

LOST_WAKE_UP = Scene(
    "lost-wake-up",
    "A lost wake-up",
    "The client ahead leaves between the listing and the watch: the watch is on a deleted node, "
    "and never fires.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        move(
            "cid lists the queue and sees bob, but is slow to set its watch",
            contends("cid", "predecessor", "Mutex", flaw="void-watch"),
            until="cid decided",
        ),
        move(
            "bob gives up at this moment: cid watches a node that no longer exists",
            do="bob cancel",
            until="cid watching",
            ended="bob",
        ),
    ),
    "cid is next in line, but nothing will wake it when ann releases. Release ann (U) to see it.",
    group="Client bugs",
)

ELECTION = Scene(
    "election",
    "An election and a fail-over",
    "The leader holds the lock and the others stand by. If it dies, the next one leads.",
    (
        first(contends("ann", "kazoo-election", "leader")),
        behind(contends("bob", "kazoo-election", "leader"), "bob stands by"),
        behind(contends("cid", "kazoo-election", "leader"), "cid stands by"),
        move("the leader is killed", do="ann kill", ended="ann"),
        move("its session expires, and bob leads", until="bob acquired"),
    ),
    "There is no leader until ann's session expires.",
    group="Crashes and expiry",
)
