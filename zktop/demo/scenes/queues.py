"""Scenes with queues: predecessor watches, herds, polling, and clients that leave."""

from zktop.demo.scenes.building_blocks import behind, behind_all, contends, first, move
from zktop.demo_types.scene_moves import Scene

QUEUE = Scene(
    "queue",
    "A queue",
    "Node numbers give the order, and each waiter watches only the node ahead of its own.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex")),
        behind(contends("cid", "predecessor", "Mutex")),
        behind(contends("dot", "predecessor", "Mutex")),
        move(
            "ann releases: only bob is notified",
            do="ann release",
            until="bob acquired",
            ended="ann",
        ),
    ),
    "Each waiter watches the node in the row above, and nothing else.",
    group="Queues",
)

_FLOCK = ("bob", "cid", "dot", "eve", "fay")


HERD = Scene(
    "herd",
    "The herd",
    "All clients watch the lock's children, so one release wakes all five waiters.",
    (
        first(contends("ann", "parent-watch", "Lock")),
        *(
            behind_all(contends(name, "parent-watch", "Lock"), *_FLOCK[:number])
            for number, name in enumerate(_FLOCK)
        ),
        move(
            "ann releases: all five wake up and list the children, four of them for nothing",
            do="ann release",
            until=", ".join([*(f"{name} notified" for name in _FLOCK), "bob acquired"]),
            ended="ann",
        ),
    ),
    "All waiters watch the children of the lock. Count how many of them one release wakes.",
    group="Herds",
)

NO_HERD = Scene(
    "no-herd",
    "The herd, avoided",
    "The same six clients, each watching the one ahead: one release causes one notification.",
    (
        first(contends("ann", "predecessor", "Lock")),
        *(behind(contends(name, "predecessor", "Lock")) for name in _FLOCK),
        move(
            "ann releases: only bob wakes up",
            do="ann release",
            until="bob notified, bob acquired",
            ended="ann",
        ),
    ),
    "Compare the notifications with those of the scene 'The herd'.",
    group="Herds",
)

SINGLE_HERD = Scene(
    "single-herd",
    "One node that all clients watch",
    "Without a queue there is no order: after a release all clients try, and any may win.",
    (
        first(contends("ann", "single-node", "exclusive_lock")),
        *(behind(contends(name, "single-node", "exclusive_lock")) for name in _FLOCK[:3]),
    ),
    "Three sessions watch the same node and have no nodes of their own.",
    group="Herds",
)

THREE_WINDOWS = Scene(
    "three-windows",
    "The second of three windows is closed",
    "When the client ahead leaves, a waiter must list the queue again and watch the next one.",
    (
        first(contends("one", "get-watch", "lockKey_7")),
        behind(contends("two", "get-watch", "lockKey_7")),
        behind(contends("three", "get-watch", "lockKey_7")),
        move(
            "ctrl-c in the second window: three is notified, and now watches one",
            do="two cancel",
            until="three notified, three watching",
            ended="two",
        ),
    ),
    "The watch of three moves from two's node to one's.",
    group="Queues",
)

TIME_OUT = Scene(
    "time-out",
    "A timeout in the queue",
    "A client that gives up must delete its node, or it blocks all clients behind it.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        move(
            "bob and cid request Mutex and have to wait; bob waits for 3 s only",
            contends("bob", "predecessor", "Mutex", timeout_s=3),
            contends("cid", "predecessor", "Mutex"),
            until="bob watching, cid watching",
        ),
        move(
            "bob times out and leaves; cid moves up",
            until="bob gave-up, cid notified",
            ended="bob",
        ),
    ),
    "bob's node is deleted, and cid now watches ann's.",
    group="Queues",
)

POLLING = Scene(
    "polling",
    "Polling",
    "Without watches, clients notice a release only at their next poll.",
    (
        first(contends("ann", "poll", "Lock", poll_s=0.5)),
        behind(contends("bob", "poll", "Lock", poll_s=0.5)),
        behind(contends("cid", "poll", "Lock", poll_s=0.5)),
        move(
            "ann releases, and no client is notified: bob finds out at its next poll",
            do="ann release",
            until="bob acquired",
            ended="ann",
        ),
    ),
    "cid watches nothing and keeps sending requests for as long as it waits.",
    group="Queues",
)
