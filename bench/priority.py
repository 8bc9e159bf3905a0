"""Raises the priority of this process and its children above all others.

The bench judges zktop by its effect on ZooKeeper, which usually runs on another machine. The bench
has only a few cores: here a client waits longer while any process is busy, even one that never
talks to the server. A higher priority removes this delay, but not the delay caused by requests
that keep the server busy.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HIGH = (os.SCHED_RR, os.sched_param(1))
NORMAL = (os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def high_priority() -> Iterator[bool]:
    """Raise the priority until the end of the block; False if that needs an administrator.

    Processes started in the block inherit it unless they call `use_normal_priority`.
    """
    try:
        _set(_threads(), HIGH)
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        _set(_threads(), NORMAL)


def use_normal_priority() -> None:
    """Return this process to normal priority."""
    _set([0], NORMAL)


def _set(threads: list[int], how: tuple[int, os.sched_param]) -> None:
    for thread in threads:
        os.sched_setscheduler(thread, *how)


def _threads() -> list[int]:
    folders = [Path(f"/proc/{process}/task") for process in ("self", *_children())]
    return [int(thread.name) for folder in folders for thread in folder.iterdir()]


def _children() -> list[str]:
    children = Path("/proc/self/task").glob("*/children")
    return [child for thread in children for child in thread.read_text().split()]
