"""A stage for contenders: a crew, what it told, and a folder of its own on a server."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from kazoo.client import KazooClient

from zktop.demo.contender import DemoContender
from zktop.demo.log import ContenderLog
from zktop.demo.messages import ClientSettings, ContenderOrder, LockClaim
from zktop.demo.processes import (
    ContenderEnded,
    ContenderStarted,
    PoolEvent,
    ProcessPool,
    StepReported,
)
from zktop.model.text import Text

PATIENCE_S = 30.0
_numbers = count()


class Troupe:
    """As much of a crew as can be had without processes: each contender is a thread."""

    def __init__(self, tell: Callable[[PoolEvent], None]) -> None:
        self._tell = tell
        self._playing: dict[str, tuple[DemoContender, threading.Thread]] = {}

    def __enter__(self) -> Self:
        """Play for the length of a block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Have everybody go."""
        for contender, thread in self._playing.values():
            contender.stop()
            thread.join(2)  # then its session is closed under it
            contender.hang_up()
            thread.join()

    def hire(self, order: ContenderOrder) -> None:
        """Start a contender."""
        contender = DemoContender(order, lambda step: self._tell(StepReported(order.name, step)))
        thread = threading.Thread(target=self._play, args=(contender,))
        self._playing[order.name] = contender, thread
        self._tell(ContenderStarted(order.name, 0, order))
        thread.start()

    def release(self, name: str) -> None:
        """End its work."""
        self._playing[name][0].release()

    def cancel(self, name: str) -> None:
        """Have it go."""
        self._playing[name][0].stop()

    def go(self, name: str) -> None:
        """Open its gate."""
        self._playing[name][0].go()

    def cut(self, name: str, seconds: float) -> None:
        """Cut its line."""
        self._playing[name][0].cut(seconds)

    def _play(self, contender: DemoContender) -> None:
        code = contender.run()
        self._tell(ContenderEnded(contender.order.name, 0, code, Text("")))


@dataclass
class Stage:
    """A crew, what it told, and a folder of its own on the server."""

    hosts: str
    crew: ProcessPool | Troupe
    chronicle: ContenderLog
    zookeeper: KazooClient
    path: str = field(default_factory=lambda: f"/zktop-demo/stage{next(_numbers)}")

    def order(self, name: str, recipe: str = "predecessor", **wanted: object) -> ContenderOrder:
        """An order for one lock; options of the claim and of the order in one go."""
        claim = {
            key: wanted.pop(key) for key in tuple(wanted) if key in LockClaim.__struct_fields__
        }
        claims = wanted.pop("claims", (LockClaim(recipe, claim.pop("path", self.path), **claim),))
        connection = ClientSettings(self.hosts, wanted.pop("session_timeout_s", 2.0))
        return ContenderOrder(name, claims, connection, **wanted)

    def hire(self, name: str, recipe: str = "predecessor", **wanted: object) -> None:
        """Start one contender."""
        self.crew.hire(self.order(name, recipe, **wanted))

    def until(self, condition: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
        """Wait for something to be told; fails with what was told instead."""
        happened = self.chronicle.until(condition, within_s)

        assert happened, "\n".join(step.line() for step in tuple(self.chronicle.steps)[-40:])

    def told(self, name: str, what: str, times: int = 1) -> None:
        """Wait until a contender has told this."""
        self.until(lambda: self.chronicle.count(name, what) >= times)

    def ended(self, *names: str) -> None:
        """Wait until these processes are gone."""
        self.until(lambda: self.chronicle.ended.keys() >= set(names))

    def holds(self, *names: str) -> None:
        """Wait until exactly these contenders believe that they hold the lock."""
        self.until(lambda: self.chronicle.believers(self.path) == set(names))

    def queue_up(self, recipe: str, holder: str, *others: str, **wanted: object) -> None:
        """Hire contenders one after the other: one gets the lock, the others wait."""
        self.hire(holder, recipe, **wanted)
        self.told(holder, "acquired")
        for name in others:
            self.hire(name, recipe, **wanted)
            self.told(name, "decided" if recipe == "poll" else "watching")

    def queue_up_behind(self, name: str, recipe: str = "predecessor", **wanted: object) -> None:
        """Hire one who waits for somebody who is there."""
        self.hire(name, recipe, **wanted)
        self.told(name, "watching")

    def nodes(self, path: str | None = None) -> list[str]:
        """The children of the lock, as the server has them now."""
        path = path or self.path
        return sorted(self.zookeeper.get_children(path)) if self.zookeeper.exists(path) else []

    def holders(self) -> set[str]:
        """Who believes to hold the lock now."""
        return set(self.chronicle.believers(self.path))
