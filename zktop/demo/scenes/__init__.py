"""The scenes, in the order in which they are best seen."""

from zktop.demo.scenes.deadlocks import AB_BA, FAIRNESS, KNOT, PHILOSOPHERS, TRAFFIC, UPGRADE
from zktop.demo.scenes.failures import (
    CRASH,
    ELECTION,
    GHOST,
    LOST_WAKE_UP,
    ORPHAN,
    OVERSLEEP,
    WORK_FAILS,
)
from zktop.demo.scenes.mistakes import (
    BUSY_TIME_OUT,
    FAILED_POLL,
    MIXED,
    NAIVE_SORT,
    NO_RECHECK,
    SPIN,
)
from zktop.demo.scenes.queues import (
    HERD,
    NO_HERD,
    POLLING,
    QUEUE,
    READ_WRITE_HERD,
    READERS_AND_WRITERS,
    SINGLE_HERD,
    STARVATION,
    THREE_WINDOWS,
    TIME_OUT,
)
from zktop.demo.scenes.scene import ExpectedQueue, Scene, SceneEnd
from zktop.errors import UsageError

SCENES: tuple[Scene, ...] = (
    QUEUE,
    THREE_WINDOWS,
    POLLING,
    HERD,
    NO_HERD,
    SINGLE_HERD,
    READERS_AND_WRITERS,
    READ_WRITE_HERD,
    TIME_OUT,
    WORK_FAILS,
    CRASH,
    OVERSLEEP,
    ELECTION,
    AB_BA,
    PHILOSOPHERS,
    UPGRADE,
    FAIRNESS,
    KNOT,
    NAIVE_SORT,
    MIXED,
    STARVATION,
    ORPHAN,
    GHOST,
    LOST_WAKE_UP,
    NO_RECHECK,
    FAILED_POLL,
    BUSY_TIME_OUT,
    SPIN,
    TRAFFIC,
)


def scene_named(name: str) -> Scene:
    """Find a scene, or say which there are.

    >>> scene_named("ab-ba").title
    'Two locks in two orders'
    >>> scene_named("abba")
    Traceback (most recent call last):
    zktop.errors.UsageError: there is no scene 'abba'; there are: queue, three-windows, ...
    """
    for scene in SCENES:
        if scene.name == name:
            return scene
    known = ", ".join(scene.name for scene in SCENES)
    raise UsageError(f"there is no scene {name!r}; there are: {known}")


__all__ = ["SCENES", "ExpectedQueue", "Scene", "SceneEnd", "scene_named"]
