"""Scenes with deadlocks: two clients, five clients, upgrades, fairness, a knot, and traffic."""

from msgspec.structs import replace

from zktop.demo.scenes.building_blocks import behind, contends, move
from zktop.demo_types.contender_order import LockClaim
from zktop.demo_types.scene_moves import Scene, SceneMove, StartContender


def _takes_two(name: str, had: LockClaim, wanted: LockClaim) -> StartContender:
    """Return a contender that acquires one lock, and requests another after the command `go`."""
    return StartContender(name, (had, replace(wanted, gate=True)))


def _start(step: str, says: str, *starts: StartContender) -> SceneMove:
    """Start contenders, and wait until each reports this step."""
    return move(says, *starts, until=", ".join(f"{start.name} {step}" for start in starts))


def _asks(name: str, says: str) -> SceneMove:
    return move(says, do=f"{name} go", until=f"{name} watching")


def _lock(path: str) -> LockClaim:
    return LockClaim("predecessor", path)


AB_BA = Scene(
    "ab-ba",
    "Two locks in two orders",
    "ann locks orders then stock; bob locks stock then orders. Each waits for the other forever.",
    (
        _start(
            "waiting",
            "ann has orders, bob has stock",
            _takes_two("ann", _lock("orders"), _lock("stock")),
            _takes_two("bob", _lock("stock"), _lock("orders")),
        ),
        _asks("ann", "ann requests stock and waits for bob"),
        _asks("bob", "bob requests orders: now each waits for the other"),
        behind(
            contends("cid", "predecessor", "stock"), "cid also requests stock: stuck behind them"
        ),
    ),
    "ann and bob block each other. cid only waits behind them.",
    group="Deadlocks",
)

_TABLE = ("plato", "hypatia", "kant", "arendt", "hume")


def _philosopher(seat: int) -> StartContender:
    left, right = f"fork{seat}", f"fork{(seat + 1) % len(_TABLE)}"
    return StartContender(
        _TABLE[seat], (LockClaim("kazoo-lock", left), LockClaim("kazoo-lock", right, gate=True))
    )


PHILOSOPHERS = Scene(
    "philosophers",
    "Five philosophers",
    "Each takes the fork on its left, then wants the one on its right: a cycle of five.",
    (
        _start("waiting", "each takes the fork on its left", *map(_philosopher, range(5))),
        *(_asks(name, f"{name} wants the fork on its right") for name in _TABLE),
    ),
    "Break the cycle anywhere: if one puts its fork down, the other four can eat.",
    group="Deadlocks",
)


def _upgrader(name: str) -> StartContender:
    return _takes_two(
        name, LockClaim("rw", "catalogue", "read"), LockClaim("rw", "catalogue", "write")
    )


UPGRADE = Scene(
    "upgrade",
    "Two readers want to write",
    "Each keeps its read lock while it waits for the other to release: neither ever does.",
    (
        _start("waiting", "ann and bob read", _upgrader("ann"), _upgrader("bob")),
        _asks("ann", "ann requests the write lock and keeps its read lock"),
        _asks("bob", "bob does the same"),
    ),
    "Both hold and wait in the same lock. A read lock cannot be upgraded: release it first.",
    group="Deadlocks",
)


def _reader_of_two(name: str, had: str, wanted: str) -> StartContender:
    return _takes_two(name, LockClaim("rw", had, "read"), LockClaim("rw", wanted, "read"))


def _writer(name: str, lock: str) -> SceneMove:
    says = f"{name} queues for a write lock on {lock}"
    return behind(contends(name, "rw", lock, "write"), says)


FAIRNESS = Scene(
    "fairness",
    "Readers blocked by queued writers",
    "Readers could share both locks; the cycle exists only because two writers are queued.",
    (
        _start(
            "waiting",
            "ann reads orders, bob reads stock",
            _reader_of_two("ann", "orders", "stock"),
            _reader_of_two("bob", "stock", "orders"),
        ),
        _writer("wim", "orders"),
        _writer("wes", "stock"),
        _asks("ann", "ann wants to read stock, but wes is ahead in the queue"),
        _asks("bob", "bob wants to read orders, but wim is ahead in the queue"),
    ),
    "The writers hold nothing. Kill either one, and everything moves again.",
    group="Deadlocks",
)


def _lease(pool: str) -> LockClaim:
    return LockClaim("kazoo-semaphore", pool, leases=2)


KNOT = Scene(
    "knot",
    "Two semaphores, each used up",
    "Two pools with two leases each: holders of gpu wait for disk, holders of disk for gpu.",
    (
        _start(
            "waiting",
            "ann and bob have gpu, cid and dot have disk",
            _takes_two("ann", _lease("gpu"), _lease("disk")),
            _takes_two("bob", _lease("gpu"), _lease("disk")),
            _takes_two("cid", _lease("disk"), _lease("gpu")),
            _takes_two("dot", _lease("disk"), _lease("gpu")),
        ),
        _asks("ann", "ann requests disk: either of its leases would do"),
        _asks("bob", "bob requests disk"),
        _asks("cid", "cid requests gpu"),
        _asks("dot", "dot requests gpu: now no client is left that could return a lease"),
    ),
    "No single cycle explains it. Each waits for either of two clients, and both are stuck too.",
    group="Deadlocks",
)


_WORKERS = tuple(f"job{number}" for number in range(1, 5))
_READERS = ("r1", "r2", "r3")


def _worker(name: str) -> StartContender:
    return contends(name, "kazoo-lock", "jobs", hold_s=0.7, rounds=0, pause_s=0.2)


def _reader(name: str) -> StartContender:
    return contends(name, "rw", "catalogue", "read", hold_s=0.5, rounds=0, pause_s=0.4)


TRAFFIC = Scene(
    "traffic",
    "A deadlock in the middle of traffic",
    "Most locks change hands all the time. Two are stuck, and so are all clients behind them.",
    (
        _start("acquired", "four workers take turns on jobs", *map(_worker, _WORKERS)),
        _start(
            "acquired",
            "three readers share the catalogue, with a writer in between",
            *map(_reader, _READERS),
            contends("w", "rw", "catalogue", "write", hold_s=0.3, rounds=0, pause_s=0.6),
        ),
        *AB_BA.moves,
    ),
    "jobs and catalogue move. orders and stock do not.",
    group="Deadlocks",
)
