"""How far back the UI's past reaches, and its memory, after half an hour of steady churn.

`python -m bench.past MINUTES` plays that much time through the examiner and the tape in a separate
process, and prints one line of JSON. Time is simulated, so half an hour takes a minute or two.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from math import ceil
from time import perf_counter
from typing import Any

from bench.ensemble import NOW, kazoo_name
from bench.figure import IMPORTED, IMPORTS, MEMORY_ROOM_MB, Figure, memory_after, memory_mb
from bench.sizes import size
from zktop.model.examiner import Examiner
from zktop.model.facts import (
    AnyFact,
    Children,
    Connection,
    Connections,
    Expiry,
    Gone,
    Link,
    Node,
    Stat,
    join,
)
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.ui.app import Zktop  # noqa: F401  the figure includes the UI's own memory
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape

LOCKS, EACH = size(2_000, 50), 3
RELEASES_PER_S, LOOKS_PER_S = 40, 10
MINUTES = size(35, 1)
REACH_MIN = size(30.0, 0.5)
EXPIRED = 40  # sessions that expire at the same moment, each with a request in LOCKS / 40 locks
FIRST_EXPIRED = 0x7000000  # their session ids
SAMPLE_S = 10
LOOKED_AT = (0.999, 0.5, 0.3, 0.31, 0.1)  # shares of the whole past
SERVER = Text("zk1:2181")


def figures() -> Iterator[Figure]:
    """Measure reach and memory."""
    command = (sys.executable, "-m", "bench.past", str(MINUTES))
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    floor = memory_after(IMPORTS)
    what = f"{RELEASES_PER_S} releases/s, {LOCKS} locks"
    yield Figure(
        "past not reached", max(0.0, REACH_MIN - found["reach_min"]), "min", 0.0, what, 0.0
    )
    yield Figure("past reaches back", found["reach_min"], "min", MINUTES, "min played")
    yield Figure("past moments", found["moments"], "", MINUTES, "min played")
    missing = max(0.0, REACH_MIN - found["minutes"])
    yield Figure("past minutes without a report", missing, "min", REACH_MIN, "min back", 0.0)
    yield Figure("past packed", found["packed_mb"], "MB", MINUTES, "min played")
    yield Figure("past slowest report", found["slowest_s"], "s", MINUTES, "min played")
    most = floor + MEMORY_ROOM_MB
    yield Figure("past memory", found["most_mb"], "MB", floor, IMPORTED, most)


class Churn:
    """Locks that are released one after the other; the old holder queues up again at the end."""

    def __init__(self) -> None:
        self._chance = random.Random(1)
        self._queues: dict[Text, list[Text]] = {}
        self._owners: dict[Text, int] = {}
        self._zxid, self._number = 1_000, 0

    def begin(self) -> Iterator[AnyFact]:
        """The locks, each with a holder and waiters."""
        yield Link(zxid=0, at=NOW, state="connected", session=1)
        for number in range(LOCKS):
            path = Text(f"/locks/l{number:05d}")
            self._queues[path] = []
            queued = [self._queue(path, self._session(number, turn), NOW) for turn in range(EACH)]
            self._zxid += 1
            stat = Stat(self._zxid, self._zxid, NOW, cversion=EACH, num_children=EACH)
            names = tuple(self._queues[path])
            yield Children(path=path, names=names, stat=stat, zxid=self._zxid, at=NOW)
            yield from queued

    def release(self, at: int) -> Iterator[AnyFact]:
        """The holder of a random lock releases it and queues up again."""
        path = self._chance.choice(list(self._queues))
        owner = self._owners[join(path, self._queues[path][0])]
        yield self._gone(path, self._queues[path][0], at)
        yield self._queue(path, owner, at)

    def crowd(self, at: int) -> Iterator[AnyFact]:
        """Forty more sessions queue up everywhere."""
        for number, path in enumerate(self._queues):
            yield self._queue(path, FIRST_EXPIRED + number % EXPIRED, at)

    def expiry(self, at: int) -> Iterator[AnyFact]:
        """The extra sessions expire at once: one transaction deletes all their nodes."""
        for path, names in self._queues.items():
            for name in [one for one in names if self._owners[join(path, one)] >= FIRST_EXPIRED]:
                yield self._gone(path, name, at)

    def tables(self, at: int) -> Iterator[AnyFact]:
        """The server's tables."""
        owners = sorted(set(self._owners.values()))
        rows = tuple(
            Connection(
                one, Text(f"10.0.0.1:{one % 50_000}"), 30_000, quiet_ms=0, received=at // 1000
            )
            for one in owners
        )
        yield Connections(server=SERVER, rows=rows, at=at, zxid=self._zxid)
        dates = {one: 30_000 - one * 7 % 3_000 for one in owners}
        yield Expiry(server=SERVER, expires_in_ms=dates, tick_ms=2_000, at=at, zxid=self._zxid)

    def _session(self, number: int, turn: int) -> int:
        return 0x1000000 + EACH * number + turn

    def _queue(self, path: Text, owner: int, at: int) -> Node:
        self._zxid, self._number = self._zxid + 1, self._number + 1
        name = kazoo_name(self._chance, self._number)
        self._queues[path].append(name)
        self._owners[join(path, name)] = owner
        stat = Stat(self._zxid, self._zxid, at, owner=owner, data_length=11, pzxid=self._zxid)
        data = b"worker-%04d" % (owner % 10_000)
        return Node(path=join(path, name), stat=stat, data=data, zxid=self._zxid, at=at)

    def _gone(self, path: Text, name: Text, at: int) -> Gone:
        self._zxid += 1
        self._queues[path].remove(name)
        del self._owners[join(path, name)]
        return Gone(path=join(path, name), zxid=self._zxid, at=at)


def main(minutes: float) -> None:
    """Play this many minutes, and print how much of them is kept."""
    tape, most = Tape(), 0.0
    for number, frame in enumerate(churn_frames(round(minutes * 60 * LOOKS_PER_S))):
        tape.add(frame)
        if surplus := tape.surplus():
            tape.replace(surplus, tape.packer.packed(surplus))
        if number % LOOKS_PER_S == 0:
            most = max(most, memory_mb())
    moments = [one.at for one in (*tape.archive.after(0), *tape.stored())]
    end = moments[-1]
    by_minute = Counter((end - at) // 60_000 for at in moments)
    minutes = sum(by_minute[back] > 0 for back in range(ceil(REACH_MIN)))
    print("moments in each minute, newest first:", [by_minute[one] for one in sorted(by_minute)])
    looked_at = [end - round(share * (end - moments[0])) for share in LOOKED_AT]
    found = {
        "reach_min": (end - moments[0]) / 60_000,
        "moments": len(moments),
        "minutes": minutes,
        "packed_mb": tape.archive.weight_bytes / 1e6,
        "most_mb": most,
        "slowest_s": max(_unpacking_s(tape, at) for at in looked_at),
    }
    print(json.dumps(found))


def _unpacking_s(tape: Tape, at: int) -> float:
    """How long it takes to show a moment of the past."""
    begun, last = perf_counter(), tape.last
    if last is not None and tape.is_packed(at):
        limit = tape.in_memory_from
        tape.put_unpacked(tape.archive.unpacked(at, last.report.settings), limit)
    frame = tape.frame_at(at)
    assert frame is not None
    return perf_counter() - begun


def churn_frames(looks: int) -> Iterator[Frame]:
    """Frames of a steady churn, with a mass expiry in the middle."""
    churn, examiner = Churn(), Examiner()
    world = World().after(*churn.begin())
    for number in range(looks):
        at = NOW + 1000 + number * 1000 // LOOKS_PER_S
        new = [fact for _ in range(RELEASES_PER_S // LOOKS_PER_S) for fact in churn.release(at)]
        if number == looks // 2:
            new += churn.crowd(at)
        if number == looks // 2 + LOOKS_PER_S * 5:
            new += churn.expiry(at)
        if number % (LOOKS_PER_S * SAMPLE_S) == 0:
            new += churn.tables(at)
        world = world.after(*new)
        report = examiner.look(world, at, thorough=number % LOOKS_PER_S == 0)
        yield Frame(report, report.events)


if __name__ == "__main__":
    main(float(sys.argv[1]))
