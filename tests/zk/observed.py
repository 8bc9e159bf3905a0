"""A source whose facts are folded into a world, for tests that observe a server."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from waiting import source_of

from zktop.model.facts import AnyFact
from zktop.model.world.world import World
from zktop.zk import Access, Plan, Source, parse_hosts

PATIENCE_S = 40.0


class Observation:
    """A source that runs on a thread of its own, its facts so far, and their world."""

    def __init__(
        self, hosts: str, plan: Plan, aliases: dict[str, str] | None = None, **access: object
    ) -> None:
        self.source = Source(Access(parse_hosts(hosts, aliases), **access), plan)  # type: ignore[arg-type]  # a test's keywords
        self.world = World()
        self.facts: list[AnyFact] = []
        self._is_sampled = self._is_over = False
        self._came = threading.Condition()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Connect, read everything once, and go on on the thread."""
        self.source.start()
        assert self.source.run_until_read(PATIENCE_S), self.log()
        self._take()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the source."""
        self._is_over = True
        if self._thread.is_alive():
            self._thread.join(PATIENCE_S)
        self.source.close()

    def _follow(self) -> None:
        while not self._is_over:
            self.source.run(time.monotonic() + 0.1)
            self._take()

    def _take(self) -> None:
        """Fold in new facts."""
        with self._came:
            facts = self.source.take()
            self.facts += facts
            self.world = self.world.after(*facts)
            self._is_sampled = self.source.is_sampled
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

    def until_sampled(self) -> None:
        """Wait until the tables of every known server were requested once."""
        with self._came:
            assert self._came.wait_for(lambda: self._is_sampled, PATIENCE_S), self.log()

    def log(self) -> list[str]:
        """The recent log lines of kazoo and the source."""
        return [*self.source.log.lines]


@contextmanager
def observing(
    hosts: str,
    *roots: str,
    introspect: bool = False,
    access: dict[str, object] | None = None,
    aliases: dict[str, str] | None = None,
    **plan: object,
) -> Iterator[Observation]:
    """Observe a server; all roots have been read once."""
    given = Plan(roots=roots, introspect=introspect, **plan)  # type: ignore[arg-type]  # a test's keywords
    live = Observation(hosts, given, aliases, **(access or {}))
    try:
        live.start()
        yield live
    finally:
        live.stop()
    failed = [line for line in live.log() if "a job of the event loop failed" in line]
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
