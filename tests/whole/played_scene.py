"""A played scene: the reports of its contenders, the nodes on the server, and a zktop report."""

from collections.abc import Callable
from dataclasses import dataclass

from demo.steps_and_believers import FullLog
from kazoo.client import KazooClient
from whole.independent_reader import look, watching
from whole.scene_ends import ENDS, Queue

from zktop.demo.scene_player import SceneRun
from zktop.demo_types.scene_moves import ExpectedStep, Scene, SceneLine
from zktop.errors import ZktopError
from zktop.model.lock_view import Contender
from zktop.model.report import Report

BUSY_REQUESTS = 200  # a normal waiter needs five


@dataclass(frozen=True)
class Seen:
    """What a report shows of one scene."""

    locks: dict[str, Queue]
    deadlocks: list[str]
    findings: set[str]
    alarms: set[str]  # the critical ones of them
    paths: set[str]


@dataclass(frozen=True)
class Reported:
    """What the contenders believed and did, and what the nodes on the server show."""

    nodes: dict[str, Queue]
    believe: dict[str, frozenset[str]]
    believed: dict[str, frozenset[str]]
    busy: set[str]


class PlayedScene:
    """One scene with its own pool of contenders."""

    def __init__(
        self, scene: Scene, player_for: Callable[[Callable[[SceneLine], None]], SceneRun]
    ):
        self.scene, self.end = scene, ENDS[scene.name]
        self.lines: list[SceneLine] = []
        self.player = player_for(self.lines.append)
        self.woken: frozenset[str] = frozenset()
        self.problem: str | None = None
        self.over = self.has_come = False
        self.seen: Seen | None = None
        self.reported: Reported | None = None
        self.left_behind: list[str] | None = None

    @property
    def log(self) -> FullLog:
        """What its contenders did."""
        return self.player._tally

    def play(self, pace_s: float) -> None:
        """Play it to the end."""
        try:
            self.player.play(pace_s)
            self.woken = self._notified()
        except ZktopError as problem:
            self.problem = str(problem)
        self.over = True

    def look(self, report: Report) -> bool:
        """Compare a report with the promised end; return True once they are equal.

        Scenes end one after another: rates per second may already differ when the last one ends.
        """
        if self.has_come:
            return True
        end, folder = self.end, f"{self.player.folder}/"
        found = [finding for finding in report.findings if (finding.lock or "").startswith(folder)]
        cores = (
            deadlock
            for deadlock in report.deadlocks
            if all(p.startswith(folder) for p in deadlock.locks)
        )
        self.seen = Seen(
            {lock: self._end(report, f"{folder}{lock}") for lock in end.locks},
            sorted(one.kind for one in cores),
            {one.rule for one in found},
            {one.rule for one in found if one.severity == "critical"},
            {path.removeprefix(folder) for path in report.paths if f"{path}/".startswith(folder)},
        )
        self.has_come = (
            self.over
            and self.seen.locks == end.locks
            and self.seen.deadlocks == sorted(end.deadlocks)
            and self.seen.findings >= set(end.findings)
        )
        return self.has_come

    def finish(self, zookeeper: KazooClient, port: int) -> None:
        """Record what is visible only now, and clean up."""
        paths = {lock: f"{self.player.folder}/{lock}" for lock in self.end.locks}
        self.reported = Reported(
            {lock: self._nodes(zookeeper, port, path) for lock, path in paths.items()},
            {lock: self.log.believers(path) for lock, path in paths.items()},
            {lock: self.log.most_believers(path) for lock, path in paths.items()},
            {name for name in self.end.busy if self._asks_much(name)},
        )
        self.player.clean_up()
        self.left_behind = [state.name for state in self.player._pool.states()]
        self.left_behind += [self.player.folder] if zookeeper.exists(self.player.folder) else []

    def _notified(self) -> frozenset[str]:
        """The contenders that were notified during the last move and still run."""
        names = self.log.all_counts().keys() - self.log.ended.keys()
        return frozenset(
            n for n in names if self.player._times_in_move(ExpectedStep(n, "notified"))
        )

    def _name(self, contender: Contender) -> str:
        """The name of a contender, by session, or by label if the session is gone."""
        return self.log.sessions.get(contender.session or 0, str(contender.owner))

    def _end(self, report: Report, path: str) -> Queue:
        view = report.view(path)
        if view is None:
            return Queue()
        return Queue(tuple(map(self._name, view.holders)), tuple(map(self._name, view.waiters)))

    def _nodes(self, zookeeper: KazooClient, port: int, path: str) -> Queue:
        """The state of a lock by its nodes; for waiters without nodes, by the server's watches."""
        holders, waiters = look(zookeeper, path)
        names = {hex(session): name for session, name in self.log.sessions.items()}
        return Queue(tuple(holders), tuple(waiters or watching(port, path, names)))

    def _asks_much(self, name: str) -> bool:
        """True if a contender sends far more requests than a waiter needs."""
        return self.log.until(lambda: self.log.requests[name] > BUSY_REQUESTS, 15)
