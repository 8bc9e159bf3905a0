"""The scenes, in the order shown. To add one, write a `Scene` in a module and an entry here."""

from zktop.demo.scenes import deadlocks, failures, flawed_recipes, queues, readers_and_writers
from zktop.demo_types.scene_moves import Scene
from zktop.errors import UsageError

SCENES: tuple[Scene, ...] = (
    queues.QUEUE,
    queues.THREE_WINDOWS,
    queues.POLLING,
    queues.HERD,
    queues.NO_HERD,
    queues.SINGLE_HERD,
    readers_and_writers.READERS_AND_WRITERS,
    readers_and_writers.READ_WRITE_HERD,
    queues.TIME_OUT,
    failures.WORK_FAILS,
    failures.CRASH,
    failures.OVERSLEEP,
    failures.ELECTION,
    deadlocks.AB_BA,
    deadlocks.PHILOSOPHERS,
    deadlocks.UPGRADE,
    deadlocks.FAIRNESS,
    deadlocks.KNOT,
    flawed_recipes.NAIVE_SORT,
    flawed_recipes.MIXED,
    readers_and_writers.STARVATION,
    failures.ORPHAN,
    failures.GHOST,
    failures.LOST_WAKE_UP,
    flawed_recipes.NO_RECHECK,
    flawed_recipes.FAILED_POLL,
    flawed_recipes.BUSY_TIME_OUT,
    flawed_recipes.SPIN,
    deadlocks.TRAFFIC,
)


def scene_named(name: str) -> Scene:
    """Find a scene, or raise UsageError with a list of all names.

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
