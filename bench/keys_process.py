"""The UI on locks that stand still after a while, for `bench.keys`: `... LOCKS FILE`.

FILE gets a line for each time in which the UI handled nothing: when it ended, and its seconds.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import TextIO

from bench.screen_process import GeneratedFeed, settling_s
from zktop.app.contenders import Contenders
from zktop.app.garbage_collection import collect_rarely
from zktop.config.keys_and_defaults import Config
from zktop.ui.app import Zktop

RATE, SECONDS = 50, 3.0  # so that the graphs and the timeline have something to show
TICK_S = 0.005
MIN_STOP_S = 0.01


def changing_s(locks: int) -> float:
    """How long after the first locks are shown the last change comes."""
    return settling_s(locks) + SECONDS


class Timed(Zktop):
    """An app that writes down when its UI stopped."""

    stops: TextIO

    def on_ready(self) -> None:
        """Begin when the first frame is drawn."""
        self._tick(asyncio.get_running_loop().time())

    def _tick(self, due_s: float) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        if now_s - due_s > MIN_STOP_S:
            self.stops.write(f"{now_s} {now_s - due_s}\n")
        loop.call_at(now_s + TICK_S, partial(self._tick, now_s + TICK_S))


def main() -> None:
    """Show the feed until the bench ends it."""
    locks, file = sys.argv[1:]
    collect_rarely()  # as `zktop` does
    feed = GeneratedFeed(int(locks), RATE, None, seconds=SECONDS)
    contenders = Contenders(Config())  # for screen 6; none is started
    with Path(file).open("w", buffering=1) as stops:
        app = Timed(feed, contenders)
        app.stops = stops
        app.run()
    feed.stop()


if __name__ == "__main__":
    main()
