"""Run the sandbox: `python -m zktop.sandbox --port 2181`."""

import argparse
import sys

from zktop.sandbox.flavours import FLAVOURS
from zktop.sandbox.keeper import Keeper
from zktop.sandbox.process import serve
from zktop.sandbox.sessions import TICK_MS


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m zktop.sandbox",
        description="An in-memory ZooKeeper server for demos and tests. Nothing is kept.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=2181, help="0 takes a free one")
    parser.add_argument("--tick-ms", type=int, default=TICK_MS, help="default: %(default)s")
    parser.add_argument(
        "--flavour",
        choices=FLAVOURS,
        default="zookeeper",
        help="which server; default: %(default)s",
    )
    parser.add_argument(
        "--words", help="four-letter words that Keeper or RaftKeeper answers; default: all"
    )
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the parent")
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    words = given.words.split(",") if given.words is not None else None
    keeper = Keeper(tick_ms=given.tick_ms, flavour=FLAVOURS[given.flavour], allowed=words)
    sys.exit(
        serve(given.host, given.port, until_stdin_closes=given.until_stdin_closes, keeper=keeper)
    )
