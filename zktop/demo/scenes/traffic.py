"""A scene that moves: traffic on some locks, and a deadlock that forms in the middle of it."""

from zktop.demo.scenes.deadlocks import AB_BA
from zktop.demo.scenes.scene import End, Heard, Hire, Move, Scene, contends

_WORKERS = tuple(f"job{number}" for number in range(1, 5))
_READERS = ("r1", "r2", "r3")


def _worker(name: str) -> Hire:
    return contends(name, "kazoo-lock", "jobs", hold_s=0.7, rounds=0, pause_s=0.2)


def _reader(name: str) -> Hire:
    return contends(name, "rw", "catalogue", "read", hold_s=0.5, rounds=0, pause_s=0.4)


TRAFFIC = Scene(
    "traffic",
    "A deadlock in the middle of traffic",
    "Most locks change hands all the time; two stand still, and everybody behind them.",
    (
        Move(
            "four workers take turns at jobs",
            tuple(map(_worker, _WORKERS)),
            tuple(Heard(name, "acquired") for name in _WORKERS),
            together=True,
        ),
        Move(
            "three readers share the catalogue, and a writer comes in between",
            (
                *map(_reader, _READERS),
                contends("w", "rw", "catalogue", "write", hold_s=0.3, rounds=0, pause_s=0.6),
            ),
            tuple(Heard(name, "acquired") for name in (*_READERS, "w")),
            together=True,
        ),
        *AB_BA.moves,
    ),
    "jobs and catalogue move; orders and stock do not.",
    End(AB_BA.end.locks, deadlocks=AB_BA.end.deadlocks, findings=AB_BA.end.findings),
)
