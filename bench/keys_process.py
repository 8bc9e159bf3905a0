"""The UI on locks that stand still after a while, for `bench.keys`: `... LOCKS`."""

import sys

from bench.screen_process import GeneratedFeed
from zktop.app.contenders import Contenders
from zktop.config.keys_and_defaults import Config
from zktop.ui.app import Zktop

RATE, SECONDS = 50, 3.0  # so that the graphs and the timeline have something to show


def main() -> None:
    """Show the feed until the bench ends it."""
    feed = GeneratedFeed(int(sys.argv[1]), RATE, None, seconds=SECONDS)
    contenders = Contenders(Config())  # for screen 6; none is started
    Zktop(feed, contenders).run()
    feed.stop()


if __name__ == "__main__":
    main()
