"""Lets ourselves and what we have started so far go before everything else on this machine.

zktop is judged by what it does to ZooKeeper, and mostly it runs on a machine of its own. The bench
has a few cores for everybody: there a client waits longer for an answer beside anybody who is
busy, even one that never said a word to the server. Whoever goes first does not feel that, and
still feels every request that keeps the server from answering.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST = (os.SCHED_RR, os.sched_param(1))
AS_ALL = (os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def foremost() -> Iterator[bool]:
    """Go first until the end of the block; give False where only the administrator may do that.

    What is started meanwhile goes first as well, unless it says `like_all`.
    """
    try:
        _set(_threads(), FIRST)
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        _set(_threads(), AS_ALL)


def like_all() -> None:
    """Have this process go when its turn comes, as all others do."""
    _set([0], AS_ALL)


def _set(threads: list[int], how: tuple[int, os.sched_param]) -> None:
    for thread in threads:
        os.sched_setscheduler(thread, *how)


def _threads() -> list[int]:
    folders = [Path(f"/proc/{process}/task") for process in ("self", *_children())]
    return [int(thread.name) for folder in folders for thread in folder.iterdir()]


def _children() -> list[str]:
    children = Path("/proc/self/task").glob("*/children")
    return [child for thread in children for child in thread.read_text().split()]
