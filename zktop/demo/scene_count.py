"""Counts wake-ups and double holders in a scene, from the steps of its contenders."""

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from zktop.demo_types.contender_state import ContenderStep, StepKind
from zktop.demo_types.lesson import DemoDeparture, DepartureKind, SceneCount

COUNTED_STEPS: frozenset[StepKind] = frozenset(
    ("created", "notified", "acquired", "releasing", "released", "gave-up", "lost", "ended")
)


def scene_count(steps: Iterable[ContenderStep]) -> SceneCount:
    """Return the departures in these steps, without expiries, and the most holders of each lock.

    Holders are the contenders that believe at the same time that they hold the lock. Steps of
    different contenders may arrive in the wrong order, so they are sorted first.

    >>> at = "2026-01-31T12:00:0{}Z".format
    >>> steps = [
    ...     ContenderStep("ann", "acquired", "", at(0), lock="/jobs"),
    ...     ContenderStep("ann", "releasing", "", at(1), lock="/jobs"),
    ...     ContenderStep("bob", "notified", "", at(2), node="/jobs"),
    ...     ContenderStep("cid", "notified", "", at(3), node="/jobs"),
    ...     ContenderStep("bob", "acquired", "", at(4), lock="/jobs"),
    ... ]
    >>> (ann,) = scene_count(steps).departures
    >>> ann.how, ann.woken, ann.went_on
    ('released', ('bob', 'cid'), ('bob',))
    """
    counter = _Counter()
    for step in sorted(steps, key=lambda step: step.at):
        counter.add(step)
    return SceneCount(tuple(counter.departures), counter.believers)


class _Counter:
    """What was counted so far, and the locks that contenders believe they hold."""

    def __init__(self) -> None:
        self.departures: list[DemoDeparture] = []
        self.believers: dict[str, tuple[str, ...]] = {}
        self._latest: dict[str, int] = {}  # index of the last departure, by lock
        self._held: dict[str, set[str]] = defaultdict(set)  # locks, by contender
        self._queued: set[tuple[str, str]] = set()  # contender and lock
        self._releasing: set[tuple[str, str]] = set()  # contender and lock
        self._lost: set[str] = set()  # contenders that lost their session and its nodes

    def add(self, step: ContenderStep) -> None:
        """Count one step. Steps must come in chronological order."""
        lock, node = step.lock or "", step.node or ""
        match step.what:
            case "created":
                self._lost.discard(step.contender)
                self._queued.add((step.contender, lock))
                self._join(node)
            case "notified":
                self._wake(step.contender, node)
            case "acquired":
                self._queued.discard((step.contender, lock))
                self._held[step.contender].add(lock)
                self._acquire(step.contender, lock)
            case "releasing" | "released" | "gave-up":
                self._release(step, lock)
            case "lost":
                self._lost.add(step.contender)
                self._held[step.contender].clear()
            case "ended":
                self._end(step)

    def _release(self, step: ContenderStep, lock: str) -> None:
        """Count a release, which is reported twice: before the delete, and after it.

        A waiter that leaves is reported once. So would be a holder whose first steps are unknown.
        """
        release = (step.contender, lock)
        if step.what == "releasing":
            if lock in self._held[step.contender]:
                self._held[step.contender].discard(lock)
                self._releasing.add(release)
                self._leave(step, lock, "released")
        elif release in self._releasing:
            self._releasing.discard(release)
        elif step.what == "gave-up" or release in self._queued:
            self._queued.discard(release)
            self._leave(step, lock, "left")

    def _end(self, step: ContenderStep) -> None:
        """Count the end of a process. One that ends by itself has released everything."""
        for lock in sorted(self._held[step.contender]):
            self._leave(step, lock, "died")
        self._held[step.contender].clear()

    def _leave(self, step: ContenderStep, lock: str, how: DepartureKind) -> None:
        if step.contender not in self._lost:
            self._end_latest(lock)
            self._latest[lock] = len(self.departures)
            self.departures.append(DemoDeparture(step.contender, lock, how))

    def _join(self, node: str) -> None:
        """End the lock's last departure: the new node may wake clients, too."""
        joined = [lock for lock in self._latest if node.startswith(f"{lock}/")]
        for lock in joined:
            self._end_latest(lock)

    def _end_latest(self, lock: str) -> None:
        index = self._latest.pop(lock, None)
        if index is not None:
            self.departures[index] = replace(self.departures[index], is_latest=False)

    def _wake(self, contender: str, node: str) -> None:
        for lock, index in self._latest.items():
            departure = self.departures[index]
            is_here = node == lock or node.startswith(f"{lock}/")
            if is_here and contender not in (departure.contender, *departure.woken):
                self.departures[index] = replace(departure, woken=(*departure.woken, contender))

    def _acquire(self, contender: str, lock: str) -> None:
        believers = tuple(sorted(name for name, held in self._held.items() if lock in held))
        self.believers[lock] = max(self.believers.get(lock, ()), believers, key=len)
        index = self._latest.get(lock)
        if index is not None and contender in self.departures[index].woken:
            departure = self.departures[index]
            self.departures[index] = replace(departure, went_on=(*departure.went_on, contender))
