"""Scenes with queues: predecessor watches, herds, readers and writers, contenders that leave."""

from zktop.demo.scenes.scene import behind, behind_all, contends, first, move
from zktop.demo_types import Scene, StartContender

QUEUE = Scene(
    "queue",
    "A queue",
    "The numbers in the nodes' names are the order, and each waiter watches only the one before.",
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
    "Each waiter watches the node of the row above it, and nothing else.",
)

_FLOCK = ("bob", "cid", "dot", "eve", "fay")


HERD = Scene(
    "herd",
    "The herd",
    "All watch the children of the lock, so every change wakes all: five woken by one release.",
    (
        first(contends("ann", "parent-watch", "Lock")),
        *(
            behind_all(contends(name, "parent-watch", "Lock"), *_FLOCK[:number])
            for number, name in enumerate(_FLOCK)
        ),
        move(
            "ann releases: all five wake and list the children, four of them in vain",
            do="ann release",
            until=", ".join([*(f"{name} notified" for name in _FLOCK), "bob acquired"]),
            ended="ann",
        ),
    ),
    "No watch is shown, as servers do not list watches on children: count who is notified.",
)

NO_HERD = Scene(
    "no-herd",
    "The herd, avoided",
    "The same six contenders on watches of their predecessors: one notification for one release.",
    (
        first(contends("ann", "predecessor", "Lock")),
        *(behind(contends(name, "predecessor", "Lock")) for name in _FLOCK),
        move(
            "ann releases: bob alone wakes",
            do="ann release",
            until="bob notified, bob acquired",
            ended="ann",
        ),
    ),
    "Compare the notifications with those of the scene `herd`.",
)

SINGLE_HERD = Scene(
    "single-herd",
    "One node that all watch",
    "Without a queue there is no order: after a release all try, and any of them may win.",
    (
        first(contends("ann", "single-node", "exclusive_lock")),
        *(behind(contends(name, "single-node", "exclusive_lock")) for name in _FLOCK[:3]),
    ),
    "Three sessions watch one node, and have no node of their own.",
)

READERS_AND_WRITERS = Scene(
    "readers-and-writers",
    "Readers and writers",
    "Readers share. A writer waits for all before it, and a reader behind it waits for it.",
    (
        first(
            contends("r1", "rw", "catalogue", "read"), contends("r2", "rw", "catalogue", "read")
        ),
        behind(
            contends("w1", "rw", "catalogue", "write"), "w1 wants to write, and waits for both"
        ),
        behind(contends("r3", "rw", "catalogue", "read"), "r3 could share, but w1 came first"),
        behind(contends("w2", "rw", "catalogue", "write"), "w2 waits for its direct predecessor"),
    ),
    "r3 watches w1, and w2 watches r3, though w2 has to wait for all of them.",
)

THREE_WINDOWS = Scene(
    "three-windows",
    "The second of three windows is closed",
    "A client whose predecessor leaves must look again, and watch the one before that.",
    (
        first(contends("one", "get-watch", "lockKey_7")),
        behind(contends("two", "get-watch", "lockKey_7")),
        behind(contends("three", "get-watch", "lockKey_7")),
        move(
            "ctrl-c in the second window: the third is notified, and links up with the first",
            do="two cancel",
            until="three notified, three watching",
            ended="two",
        ),
    ),
    "The watch of `three` moves from two's node to one's.",
)

TIME_OUT = Scene(
    "time-out",
    "A time-out in the queue",
    "A client that gives up deletes its node: left behind, it would block all after it.",
    (
        first(contends("ann", "predecessor", "Mutex")),
        behind(contends("bob", "predecessor", "Mutex", timeout_s=1.5)),
        behind(contends("cid", "predecessor", "Mutex")),
        move("bob's time is over: it leaves, and cid moves up", until="bob gave-up", ended="bob"),
    ),
    "bob's node goes, and cid's watch moves on to ann's.",
)

POLLING = Scene(
    "polling",
    "Asking again and again",
    "Without watches, a release is noticed only at the next poll.",
    (
        first(contends("ann", "poll", "Lock", poll_s=0.5)),
        behind(contends("bob", "poll", "Lock", poll_s=0.5)),
        behind(contends("cid", "poll", "Lock", poll_s=0.5)),
        move(
            "ann releases, and no one is notified: bob finds out at its next poll",
            do="ann release",
            until="bob acquired",
            ended="ann",
        ),
    ),
    "cid watches nothing, and keeps asking for as long as it waits.",
)

_HOSTS = ("host3", "host4", "host5")


def _host(name: str, mode: str) -> StartContender:
    return contends(name, "rw-herd-host", "catalogue", mode)


READ_WRITE_HERD = Scene(
    "read-write-herd",
    "Readers and writers in a herd",
    "Version 1 of the read/write lock: all watch the children, so all wake when one reader goes.",
    (
        first(_host("host1", "read"), _host("host2", "read")),
        behind_all(_host("host3", "write")),
        behind_all(_host("host4", "read"), "host3"),
        behind_all(_host("host5", "write"), "host3", "host4"),
        move(
            "host1 stops reading: the three who wait are woken, and none of them can go on",
            do="host1 release",
            until=", ".join(f"{name} notified, {name} watching" for name in _HOSTS),
            ended="host1",
        ),
    ),
    "host1-R-, host3-W-: each name says who wants what. Compare with `readers-and-writers`.",
)

_VISIT_S = 0.5  # long enough to be seen on a busy machine
_GUESTS = tuple(f"r{number}" for number in range(1, 13))

STARVATION = Scene(
    "starvation",
    "A writer starves",
    "Where readers always come first, a writer waits for as long as there is any reader.",
    (
        first(contends("r0", "rw-naive", "catalogue", "read")),
        behind(contends("w", "rw-naive", "catalogue", "write"), "w wants to write, and waits"),
        *(
            move(
                f"{name} comes later than w, reads at once, and goes",
                contends(name, "rw-naive", "catalogue", "read", hold_s=_VISIT_S),
                until=f"{name} acquired",
                ended=name,
            )
            for name in _GUESTS
        ),
    ),
    "Twelve readers came after w and were served, and w still waits.",
)
