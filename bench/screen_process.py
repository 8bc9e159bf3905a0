"""The UI on a generated world of many locks, for `bench.screen`.

`python -m bench.screen_process LOCKS RATE [FILE]`: RATE changes a second for some seconds. FILE
gets the time of each change and of the report that has it.
"""

import json
import random
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.ensemble import facts
from bench.sizes import size
from zktop.app.garbage_collection import collect_rarely, no_collections
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone, Link, Node, Stat, join
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame, OnNews, Status

SECONDS = size(10.0, 1.0)
SETTLES_S = size(3.0, 0.5)  # a few locks; more take longer until their first picture is whole
FEW = 10_000
LOOKS_PER_S = 20
QUEUE = 5  # contenders at a time
LOCK = Text("/locks/l00077")


class GeneratedFeed:
    """A feed of a generated world, in which contenders come and go at a given rate."""

    name, is_live = "bench", True
    app: Zktop
    notes: Sequence[str] = ()

    def __init__(
        self, locks: int, rate: float, file: Path | None, seconds: float = SECONDS
    ) -> None:
        self._locks, self._rate, self._file, self._seconds = locks, rate, file, seconds
        self._over = threading.Event()
        self.changed: dict[int, float] = {}
        self.reported: dict[int, float] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, on_news: OnNews) -> None:
        """Begin."""
        self._on_news = on_news
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._over.set()
        self._thread.join(5)

    def record(self, _path: Path | None, _past: Sequence[Frame] = ()) -> None:
        """Nothing is recorded."""

    def _run(self) -> None:
        self._examiner, self._chance = Examiner(), random.Random(7)
        link = Link(zxid=0, at=_now(), state="connected", session=1)
        with no_collections():  # as in a live run
            self._world = World().after(*self.begin(), link)
            self._on_news(Status("live"))
            self._look(thorough=not self._rate)  # at rest nothing is left to examine
        self._rest(settling_s(self._locks))
        begun = time.monotonic()
        number = 0
        while not self._over.is_set():
            if not self._rate:
                self._over.wait(1.0)  # as a watch of quiet locks does
                self._look()
                continue
            if time.monotonic() - begun > self._seconds:
                break
            due = int((time.monotonic() - begun) * self._rate)
            if number >= due:
                self._over.wait(max(0.0, begun + (number + 1) / self._rate - time.monotonic()))
                due = number + 1
            fresh = range(number + 1, due + 1)
            number = due
            self._change(fresh)
        if self._file:
            self._finish()

    def begin(self) -> Iterable[AnyFact]:
        """The facts of the first reading."""
        return facts(self._locks)

    def changes(self, numbers: range, at: int) -> Iterable[AnyFact]:
        """Add contenders, each named by its number, and remove earlier ones."""
        zxid = self._world.zxid
        for number in numbers:
            zxid += 1
            name = f"{'0' * 26}{number:06d}__lock__{number:010d}"
            stat = Stat(zxid, zxid, at, owner=0x10000 + number % 50, data_length=7, pzxid=zxid)
            data = b"w%06d" % number
            yield Node(path=join(LOCK, Text(name)), zxid=zxid, at=at, data=data, stat=stat)
            if number > QUEUE:
                first = number - QUEUE
                gone = f"{'0' * 26}{first:06d}__lock__{first:010d}"
                zxid += 1
                yield Gone(path=join(LOCK, Text(gone)), zxid=zxid, at=at)
            self.changed[number] = time.monotonic()

    def _change(self, numbers: range) -> None:
        self._world = self._world.after(*self.changes(numbers, _now()))
        self.reported |= dict.fromkeys(numbers, self._look())
        self._rest(1 / LOOKS_PER_S if self._rate > LOOKS_PER_S else 0.0)

    def _look(self, *, thorough: bool = False) -> float:
        """Publish a report and return its time; the UI draws it at once."""
        report = self._examiner.look(self._world, _now(), thorough=thorough)
        now = time.monotonic()
        self._on_news(Frame(report, report.events))
        return now

    def _rest(self, seconds: float) -> None:
        """Look once a second, as a watch does."""
        end = time.monotonic() + seconds
        while not self._over.is_set() and (left := end - time.monotonic()) > 0:
            if not self._over.wait(min(1.0, left)) and left >= 1.0:
                self._look()

    def _finish(self) -> None:
        self._rest(1.0)
        floor = [1000 * (self.reported[one] - self.changed[one]) for one in self.reported]
        assert self._file
        self._file.write_text(json.dumps({"reported": self.reported, "floor": floor}))
        self.app.call_from_thread(self.app.exit)


def settling_s(locks: int) -> float:
    """How long the first picture may take to be whole."""
    return SETTLES_S * max(1.0, locks / FEW)


def _now() -> int:
    return time.time_ns() // 1_000_000


def run(feed: GeneratedFeed) -> None:
    """Show the feed until it ends or the user quits."""
    collect_rarely()  # as `zktop` does
    feed.app = Zktop(feed)
    feed.app.run()
    feed.stop()


if __name__ == "__main__":
    locks, rate, *files = sys.argv[1:]
    run(GeneratedFeed(int(locks), float(rate), Path(files[0]) if files else None))
