"""A bench for contenders: a pool, its log, and a lock path of its own on a server."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from demo.steps_and_believers import FullLog
from kazoo.client import KazooClient

from zktop.demo.contender import DemoContender
from zktop.demo.contender_processes import ContenderChange, ProcessPool
from zktop.demo_types.contender_order import ClientSettings, ContenderOrder, LockClaim
from zktop.demo_types.contender_state import ContenderState, ContenderStep
from zktop.errors import UsageError
from zktop.model.text import Text

PATIENCE_S = 30.0
_numbers = count()


class ThreadPool:
    """A stand-in for the process pool, in which each contender is a thread."""

    def __init__(self, on_change: Callable[[ContenderChange], None]) -> None:
        self._on_change = on_change
        self._running: dict[str, tuple[DemoContender, threading.Thread]] = {}
        self._states: dict[str, ContenderState] = {}

    def __enter__(self) -> Self:
        """Run contenders for the length of a block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End all contenders."""
        for contender, thread in self._running.values():
            contender.stop()
            thread.join(2)  # if it has not stopped by then, its session is closed
            contender.hang_up()
            thread.join()

    def start(self, order: ContenderOrder) -> None:
        """Start a contender."""
        contender = DemoContender(order, self._add_step)
        thread = threading.Thread(target=self._run, args=(contender,))
        self._running[order.name] = contender, thread
        self._set(ContenderState(order))
        thread.start()

    def release(self, name: str) -> None:
        """End its work."""
        self._running[name][0].release()

    def cancel(self, name: str) -> None:
        """Stop it."""
        self._running[name][0].stop()

    def go(self, name: str) -> None:
        """Open its gate."""
        self._running[name][0].go()

    def cut(self, name: str, seconds: float) -> None:
        """Cut its connection."""
        self._running[name][0].cut(seconds)

    def _run(self, contender: DemoContender) -> None:
        code = contender.run()
        self._set(self._states[contender.order.name].after_exit(code, Text("")))

    def _add_step(self, step: ContenderStep) -> None:
        self._set(self._states[step.contender].after(step), step)

    def _set(self, state: ContenderState, step: ContenderStep | None = None) -> None:
        self._states[state.name] = state
        self._on_change(ContenderChange(state, step))


def kill_all(pool: ProcessPool) -> None:
    """Kill every contender."""
    for state in pool.states():
        with contextlib.suppress(UsageError):  # it has ended meanwhile
            pool.kill(state.name)


@dataclass
class Bench:
    """A pool, its log, and a lock path of its own on the server."""

    hosts: str
    pool: ProcessPool | ThreadPool
    log: FullLog
    zookeeper: KazooClient
    path: str = field(default_factory=lambda: f"/zktop-demo/bench{next(_numbers)}")

    def order(self, name: str, recipe: str = "predecessor", **wanted: object) -> ContenderOrder:
        """An order for one lock; the options may belong to the claim or to the order."""
        claim = {
            key: wanted.pop(key) for key in tuple(wanted) if key in LockClaim.__struct_fields__
        }
        claims = wanted.pop("claims", (LockClaim(recipe, claim.pop("path", self.path), **claim),))
        connection = ClientSettings(self.hosts, wanted.pop("session_timeout_s", 2.0))
        return ContenderOrder(name, claims, connection, **wanted)

    def start(self, name: str, recipe: str = "predecessor", **wanted: object) -> None:
        """Start one contender."""
        self.pool.start(self.order(name, recipe, **wanted))

    def until(self, condition: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
        """Wait for a condition on the log; a failure shows the last steps."""
        happened = self.log.until(condition, within_s)

        assert happened, "\n".join(step.line() for step in tuple(self.log.steps)[-40:])

    def wait_for_step(self, name: str, what: str, times: int = 1) -> None:
        """Wait until a contender has reported this kind of step."""
        self.until(lambda: self.log.count(name, what) >= times)

    def ended(self, *names: str) -> None:
        """Wait until these processes are gone."""
        self.until(lambda: self.log.ended.keys() >= set(names))

    def holds(self, *names: str) -> None:
        """Wait until exactly these contenders believe that they hold the lock."""
        self.until(lambda: self.log.believers(self.path) == set(names))

    def queue_up(self, recipe: str, holder: str, *others: str, **wanted: object) -> None:
        """Start contenders one after the other: the first gets the lock, the others wait."""
        self.start(holder, recipe, **wanted)
        self.wait_for_step(holder, "acquired")
        for name in others:
            self.start(name, recipe, **wanted)
            self.wait_for_step(name, "decided" if recipe == "poll" else "watching")

    def queue_up_behind(self, name: str, recipe: str = "predecessor", **wanted: object) -> None:
        """Start a contender that has to wait."""
        self.start(name, recipe, **wanted)
        self.wait_for_step(name, "watching")

    def nodes(self, path: str | None = None) -> list[str]:
        """The children of the lock, as the server has them now."""
        path = path or self.path
        return sorted(self.zookeeper.get_children(path)) if self.zookeeper.exists(path) else []

    def holders(self) -> set[str]:
        """The contenders that believe now that they hold the lock."""
        return set(self.log.believers(self.path))
