"""Run one contender: `python -m zktop.demo [--json] [--until-stdin-closes] ORDER`.

ORDER is JSON, or `-` for the first line of stdin, which is no command line that others can read.
"""

import argparse
import os
import sys

from zktop.demo.narration import Step
from zktop.demo.order import read_order
from zktop.demo.process import contend, die_with_parent
from zktop.errors import ZktopError


def main(order: str, *, json: bool = False, until_stdin_closes: bool = False) -> int:
    """Contend, and tell it on stdout."""
    try:
        text = sys.stdin.readline() if order == "-" else order
        commands = sys.stdin if until_stdin_closes else None
        return contend(read_order(text), _tell_json if json else _tell, commands)
    except ZktopError as problem:
        sys.stderr.write(f"{problem}\n")
        return int(problem.exit_code)


def _tell(step: Step) -> None:
    _write(step.line())


def _tell_json(step: Step) -> None:
    _write(step.json())


def _write(line: str) -> None:
    """Write for as long as anybody reads; a broken pipe is no reason to keep a lock."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m zktop.demo", description="One contender.")
    parser.add_argument("order", help="the order as JSON, or - for the first line of stdin")
    parser.add_argument("--json", action="store_true", help="tell in JSON lines")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the parent")
    parser.add_argument("--parent", type=int, help="die with this process")
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.parent is not None:
        die_with_parent(given.parent)
    code = main(given.order, json=given.json, until_stdin_closes=given.until_stdin_closes)
    os._exit(code)  # kazoo's threads may still be trying to reach a server
