"""A source whose facts are folded into a world, for tests that observe a server."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from waiting import source_of

from zktop.model.facts import AnyFact
from zktop.model.world.world import World
from zktop.zk import Access, Plan, Source, parse_hosts

PATIENCE_S = 40.0


class Observation:
    """A source, its facts so far, and their world."""

    def __init__(self, hosts: str, plan: Plan, **access: object) -> None:
        self.source = Source(Access(parse_hosts(hosts), **access), plan)  # type: ignore[arg-type]  # a test's keywords
        self.world = World()
        self.facts: list[AnyFact] = []
        self.threads: set[str] = set()
        self._came = threading.Condition()

    def take(self, facts: list[AnyFact]) -> None:
        """Fold in new facts."""
        with self._came:
            self.threads.add(threading.current_thread().name)
            self.facts += facts
            self.world = self.world.after(*facts)
            self._came.notify_all()

    def until(self, condition: Callable[[World], object], seconds: float = PATIENCE_S) -> World:
        """Wait for a world for which the condition is true; a failure shows the newest world."""
        with self._came:
            if not self._came.wait_for(lambda: condition(self.world), seconds):
                raise AssertionError(
                    f"not true after {seconds:g} s: {source_of(condition)}\n"
                    f"world: {picture(self.world, '/')}\nlog: {self.log()}"
                )
            return self.world

    def until_fact(self, condition: Callable[[AnyFact], object]) -> AnyFact:
        """Wait for a fact for which the condition is true."""
        with self._came:
            came = self._came.wait_for(lambda: any(map(condition, self.facts)), PATIENCE_S)
            assert came, f"no such fact: {source_of(condition)}\n{self.facts}\n{self.log()}"
        return next(fact for fact in self.facts if condition(fact))

    def log(self) -> list[str]:
        """The recent log lines of kazoo and the source."""
        return [line for _, line in self.source.recent_log.lines]


@contextmanager
def observing(
    hosts: str,
    *roots: str,
    introspect: bool = False,
    access: dict[str, object] | None = None,
    **plan: object,
) -> Iterator[Observation]:
    """Observe a server; all roots have been read once."""
    given = Plan(roots=roots, introspect=introspect, **plan)  # type: ignore[arg-type]  # a test's keywords
    live = Observation(hosts, given, **(access or {}))
    live.source.start(live.take)
    try:
        assert live.source.wait_until_read(PATIENCE_S), live.log()
        yield live
    finally:
        live.source.close()
    failed = [line for line in live.log() if "a job of the observer failed" in line]
    assert not failed


def picture(world: World, root: str) -> dict[str, dict[str, tuple[int, bytes] | None]]:
    """The listed znodes below a path: for each child its owner and data."""
    found = {}
    for path in world.families:
        family = world.family(path)
        if family.listed and (root in ("/", path) or path.startswith(root + "/")):
            found[str(path)] = {
                str(one.name): (one.stat.owner, one.data) if one.stat else None  # type: ignore[misc]  # data of a read node
                for one in family
            }
    return found


def names(world: World, path: str) -> set[str]:
    """The names of the children of a path."""
    return {str(name) for name in world.family(path).members}
