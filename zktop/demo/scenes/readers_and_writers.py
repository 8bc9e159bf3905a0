"""Scenes with read/write locks: readers share, writers wait, herds and a starving writer."""

from zktop.demo.scenes.building_blocks import behind, behind_all, contends, first, move
from zktop.demo_types.scene_moves import Scene, StartContender

READERS_AND_WRITERS = Scene(
    "readers-and-writers",
    "Readers and writers",
    "Readers share the lock. A writer waits for all ahead of it; readers behind it wait for it.",
    (
        first(
            contends("r1", "rw", "catalogue", "read"), contends("r2", "rw", "catalogue", "read")
        ),
        behind(
            contends("w1", "rw", "catalogue", "write"),
            "w1 requests a write lock and waits for both",
        ),
        behind(
            contends("r3", "rw", "catalogue", "read"), "r3 could share the lock, but w1 is ahead"
        ),
        behind(
            contends("w2", "rw", "catalogue", "write"), "w2 watches the client just ahead of it"
        ),
    ),
    "r3 watches w1 and w2 watches r3, although w2 has to wait for all of them.",
    group="Readers and writers",
)

_HOSTS = ("host3", "host4", "host5")


def _host(name: str, mode: str) -> StartContender:
    return contends(name, "rw-herd-host", "catalogue", mode)


READ_WRITE_HERD = Scene(
    "read-write-herd",
    "Readers and writers in a herd",
    "Version 1 of the read/write lock: all clients watch the children, so any change wakes all.",
    (
        first(_host("host1", "read"), _host("host2", "read")),
        behind_all(_host("host3", "write")),
        behind_all(_host("host4", "read"), "host3"),
        behind_all(_host("host5", "write"), "host3", "host4"),
        move(
            "host1 releases: all three waiters wake up, and none of them can enter",
            do="host1 release",
            until=", ".join(f"{name} notified, {name} watching" for name in _HOSTS),
            ended="host1",
        ),
    ),
    "Node names show the client and its mode: host1-R-, host3-W-. Compare 'Readers and writers'.",
    group="Herds",
)

_VISIT_S = 0.5  # long enough to be seen on a busy machine
_GUESTS = tuple(f"r{number}" for number in range(1, 13))

STARVATION = Scene(
    "starvation",
    "A writer starves",
    "If readers always come first, a writer waits as long as there is any reader.",
    (
        first(contends("r0", "rw-naive", "catalogue", "read")),
        behind(
            contends("w", "rw-naive", "catalogue", "write"), "w requests a write lock and waits"
        ),
        *(
            move(
                f"{name} comes after w, but reads immediately and leaves",
                contends(name, "rw-naive", "catalogue", "read", hold_s=_VISIT_S),
                until=f"{name} acquired",
                ended=name,
            )
            for name in _GUESTS
        ),
    ),
    "Twelve readers came after w and were served. w still waits.",
    group="Readers and writers",
)
