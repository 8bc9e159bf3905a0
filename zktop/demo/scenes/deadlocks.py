"""Scenes with deadlocks: circles of two and five, upgrades, fairness, a knot, one in traffic."""

from msgspec.structs import replace

from zktop.demo.scenes.scene import behind, contends, move
from zktop.demo_types import LockClaim, Mode, Scene, SceneMove, StartContender


def _takes_two(name: str, had: LockClaim, wanted: LockClaim) -> StartContender:
    """A contender that has one lock and asks for another after the command `go`."""
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
    "One takes orders and then stock, the other stock and then orders: both wait for ever.",
    (
        _start(
            "waiting",
            "ann has orders, bob has stock",
            _takes_two("ann", _lock("orders"), _lock("stock")),
            _takes_two("bob", _lock("stock"), _lock("orders")),
        ),
        _asks("ann", "ann asks for stock, and waits for bob"),
        _asks("bob", "bob asks for orders, and closes the circle"),
        behind(
            contends("cid", "predecessor", "stock"), "cid wants stock too, and is stuck behind"
        ),
    ),
    "The circle ann, stock, bob, orders; cid is not part of it, only behind it.",
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
    "Each takes the fork on its left and then the one on its right: a circle of five.",
    (
        _start("waiting", "everybody takes the left fork", *map(_philosopher, range(5))),
        *(_asks(name, f"{name} reaches for the right fork") for name in _TABLE),
    ),
    "Break it anywhere: if one puts its fork down, four can eat.",
)


def _upgrader(name: str) -> StartContender:
    return _takes_two(
        name, LockClaim("rw", "catalogue", "read"), LockClaim("rw", "catalogue", "write")
    )


UPGRADE = Scene(
    "upgrade",
    "Two readers want to write",
    "Each keeps its read lock, and waits for the other's to go: neither ever will.",
    (
        _start("waiting", "ann and bob read", _upgrader("ann"), _upgrader("bob")),
        _asks("ann", "ann wants to write, and keeps reading"),
        _asks("bob", "bob wants to write as well"),
    ),
    "Both hold and wait in one lock. A read lock cannot be upgraded: give it back first.",
)


def _reader_of_two(name: str, had: str, wanted: str) -> StartContender:
    return _takes_two(name, LockClaim("rw", had, "read"), LockClaim("rw", wanted, "read"))


def _writer(name: str, lock: str, mode: Mode = "write") -> SceneMove:
    return behind(contends(name, "rw", lock, mode), f"{name} wants to write {lock}, and queues up")


FAIRNESS = Scene(
    "fairness",
    "Readers that a queued writer locks out",
    "No holder excludes another contender; the queued writers close the circle.",
    (
        _start(
            "waiting",
            "ann reads orders, bob reads stock",
            _reader_of_two("ann", "orders", "stock"),
            _reader_of_two("bob", "stock", "orders"),
        ),
        _writer("wim", "orders"),
        _writer("wes", "stock"),
        _asks("ann", "ann wants to read stock, but wes came first"),
        _asks("bob", "bob wants to read orders, but wim came first"),
    ),
    "Remove either writer, which holds nothing, and all go on.",
)


def _lease(pool: str) -> LockClaim:
    return LockClaim("kazoo-semaphore", pool, leases=2)


KNOT = Scene(
    "knot",
    "A knot of two pools",
    "Two pools of two leases: holders of gpu wait for disk, and holders of disk for gpu.",
    (
        _start(
            "waiting",
            "ann and bob have gpu, cid and dot have disk",
            _takes_two("ann", _lease("gpu"), _lease("disk")),
            _takes_two("bob", _lease("gpu"), _lease("disk")),
            _takes_two("cid", _lease("disk"), _lease("gpu")),
            _takes_two("dot", _lease("disk"), _lease("gpu")),
        ),
        _asks("ann", "ann asks for disk: either lease would do"),
        _asks("bob", "bob asks for disk"),
        _asks("cid", "cid asks for gpu"),
        _asks("dot", "dot asks for gpu, and now nobody is left who could return anything"),
    ),
    "No single circle explains it: there are several ways out, and every one of them leads back.",
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
    "Most locks change hands all the time; two stand still, and everybody behind them.",
    (
        _start("acquired", "four workers take turns at jobs", *map(_worker, _WORKERS)),
        _start(
            "acquired",
            "three readers share the catalogue, and a writer comes in between",
            *map(_reader, _READERS),
            contends("w", "rw", "catalogue", "write", hold_s=0.3, rounds=0, pause_s=0.6),
        ),
        *AB_BA.moves,
    ),
    "jobs and catalogue move; orders and stock do not.",
)
