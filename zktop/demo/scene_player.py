"""Play scenes: `SceneRun` plays the moves of one scene, and a UI controls a `ScenePlayer`."""

import contextlib
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Self

from kazoo.exceptions import KazooException, NoNodeError, NotEmptyError
from msgspec.structs import replace

from zktop.demo.client import connect
from zktop.demo.contender_processes import CLOSE_TIMEOUT_S, ProcessPool
from zktop.demo.contender_tally import ContenderTally
from zktop.demo.step_reporter import StepReporter
from zktop.demo.stoppable_wait import StoppableEvent
from zktop.demo_types.contender_order import DEMO_ROOT, ClientSettings
from zktop.demo_types.contender_state import ContenderState, StepKind
from zktop.demo_types.scene_moves import (
    CommandContender,
    ExpectedStep,
    Scene,
    SceneLine,
    SceneMove,
    SceneProgress,
    StartContender,
)
from zktop.errors import ExitCode, UsageError, ZktopError

MOVE_TIMEOUT_S = 20.0  # in addition to the time that sessions need to expire
PACE_S = 2.0


class SceneFailedError(ZktopError):
    """A step that a move expects was not reported in time, or its nodes cannot be deleted."""

    exit_code = ExitCode.FINDINGS


class SceneRun:
    """One run of a scene, with the contenders of a pool and the tally of their steps.

    Call `play` and `step` from one thread at a time, and `stop` from any thread.
    """

    def __init__(
        self,
        scene: Scene,
        pool: ProcessPool,
        tally: ContenderTally,
        connection: ClientSettings,
        on_line: Callable[[SceneLine], None],
        *,
        root: str = DEMO_ROOT,
    ) -> None:
        self.scene = scene
        self.folder = f"{root}/{scene.name}"
        self.played = 0  # moves
        self._pool, self._tally = pool, tally
        self._connection, self._on_line, self._root = connection, on_line, root
        self._stopped = False
        self._counts_before: dict[str, Counter[StepKind]] = {}  # steps before the current move

    @property
    def over(self) -> bool:
        """True after the last move, or when the scene was stopped."""
        return self._stopped or self.played == len(self.scene.moves)

    def play(self, pace_s: float = 0.0) -> None:
        """Play to the end, with a pause between two moves."""
        while not self.over:
            self.step()
            if not self.over:
                self._tally.until(lambda: self._stopped, pace_s)

    def step(self) -> None:
        """Play one move, and wait for the steps that it expects."""
        if self.over:
            return
        if self.played == 0:
            self.clean_up()
            self._narrate(0, f"{self.scene.title}. {self.scene.teaches}")
        move = self.scene.moves[self.played]
        self._narrate(self.played + 1, move.says)
        self._tally.until(lambda: self._stopped, move.rest_s)  # rest, or until stopped
        self._perform(move)
        self.played += 1
        if self.over and not self._stopped:
            self._narrate(self.played, f"Notice: {self.scene.look_at}")

    def stop(self) -> None:
        """End the scene at the current move. Call `clean_up` next."""
        self._stopped = True
        self._tally.wake()

    def clean_up(self) -> None:
        """End the scene's contenders and delete its folder, and the root if that is empty."""
        self._end({state.name for state in self._pool.states() if self._plays(state)})
        reporter = StepReporter("clean-up", lambda _step: None)
        client = connect(self._connection, reporter, StoppableEvent())
        try:
            with contextlib.suppress(NoNodeError):
                client.retry(client.delete, self.folder, recursive=True)
            with contextlib.suppress(NoNodeError, NotEmptyError):
                client.retry(client.delete, self._root)
        except KazooException as error:
            raise SceneFailedError(
                f"{self.folder} cannot be deleted: {type(error).__name__}"
            ) from error
        finally:
            client.end()

    def _perform(self, move: SceneMove) -> None:
        """Carry out a move. Contenders that share a lock start one by one, to queue in order."""
        self._counts_before = self._tally.all_counts() if move.acts else {}
        starts = [act for act in move.acts if isinstance(act, StartContender)]
        share_a_lock = len({start.claims[0].path for start in starts}) < len(starts)
        expected = list(move.until)
        for act in move.acts:
            if self._stopped:
                return
            if isinstance(act, StartContender):
                self._counts_before.pop(act.name, None)
                self._pool.start(act.order(self.folder, self._root, self._connection))
                if share_a_lock:
                    self._wait_for([step for step in expected if step.name == act.name], ())
                    expected = [step for step in expected if step.name != act.name]
            else:
                self._command(act)
        self._wait_for(expected, move.ended)

    def _command(self, act: CommandContender) -> None:
        if act.command == "cut":
            self._pool.cut(act.name, act.seconds)
        else:
            getattr(self._pool, act.command)(act.name)

    def _wait_for(self, expected: Sequence[ExpectedStep], ended: Sequence[str]) -> None:
        def missing() -> list[str]:
            steps = [
                f"{step.name} {step.what}" for step in expected if not self._times_in_move(step)
            ]
            return steps + [f"{name} ended" for name in ended if name not in self._tally.ended]

        within_s = MOVE_TIMEOUT_S + 3 * self._connection.session_timeout_s
        if not self._tally.until(lambda: self._stopped or not missing(), within_s):
            raise SceneFailedError(
                f"scene {self.scene.name}, move {self.played + 1}: "
                f"did not happen within {within_s:g} s: " + ", ".join(missing())
            )

    def _times_in_move(self, step: ExpectedStep) -> int:
        """Return how often this step was reported since the start of the current move."""
        counts_before = self._counts_before.get(step.name, Counter())
        return self._tally.count(step.name, step.what) - counts_before[step.what]

    def _plays(self, state: ContenderState) -> bool:
        return any(claim.path.startswith(f"{self.folder}/") for claim in state.order.claims)

    def _end(self, names: set[str]) -> None:
        """Make contenders release and end. Kill those that do not end in time."""
        for command in (self._pool.thaw, self._pool.cancel, self._pool.kill):
            for name in names:
                with contextlib.suppress(UsageError):  # it has ended in the meantime
                    command(name)
            if command != self._pool.thaw:
                self._tally.until(lambda: names <= self._tally.ended.keys(), CLOSE_TIMEOUT_S)

    def _narrate(self, number: int, says: str) -> None:
        self._on_line(SceneLine(number, len(self.scene.moves), says))


class ScenePlayer:
    """Plays one scene at a time in its own thread: load, play, pause, step, stop.

    Commands go through a queue that the thread reads between two moves. A move is cut short only
    to load another scene, stop or close. Only `close` waits. With `repeat_after_s`, a finished
    scene stays for that long, then starts again.
    """

    def __init__(
        self,
        pool: ProcessPool,
        tally: ContenderTally,
        connection: ClientSettings,
        on_progress: Callable[[SceneProgress], None],
        *,
        root: str = DEMO_ROOT,
        repeat_after_s: float | None = None,
    ) -> None:
        """`on_progress` is called in the player's thread and must not raise."""
        self.progress = SceneProgress()
        self.failure: Exception | None = None
        self._pool, self._tally = pool, tally
        self._connection, self._on_progress, self._root = connection, on_progress, root
        self._repeat_after_s = repeat_after_s
        self._scene_run: SceneRun | None = None
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._pace_s = self._rest_s = 0.0
        self._thread = threading.Thread(target=self._run, name="scene player", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def load(self, scene: Scene) -> None:
        """Clean up the loaded scene, and load another one, paused before its first move."""
        self._interrupt(lambda: self._load(scene))

    def play(self, scene: Scene | None = None, pace_s: float = PACE_S) -> None:
        """Play to the end. Start over if a scene is given or the loaded one is over."""
        if scene is not None:
            self.load(scene)
        self._commands.put(lambda: self._play_until(None, pace_s))

    def pause(self) -> None:
        """Pause after the current move."""
        self._commands.put(lambda: self._set(goal=self.progress.played))

    def step(self) -> None:
        self._commands.put(lambda: self._play_until(self.progress.played + 1))

    def stop(self) -> None:
        """End the scene at the current move, and clean up."""
        self._interrupt(self._clear)

    def close(self) -> None:
        """Clean up, and wait for the thread to end, usually less than a second."""
        self._interrupt(self._clear)
        self._commands.put(None)
        self._thread.join()

    def _interrupt(self, act: Callable[[], None]) -> None:
        """Queue a command, and stop the current scene without waiting for its move to end."""
        scene_run = self._scene_run
        self._commands.put(act)
        if scene_run is not None:
            scene_run.stop()

    # The methods below run in the player's thread.

    def _run(self) -> None:
        while True:
            act = self._next()
            if act is None:
                return
            try:
                act()
            except (ZktopError, KazooException, OSError) as problem:
                self.failure = problem
                self._set(problem=str(problem) or type(problem).__name__, is_cleaning=False)

    def _next(self) -> Callable[[], None] | None:
        """Return the next command or, if none arrives in time, the next move or a restart."""
        wait_s: float | None = None  # for as long as it takes
        if self.progress.phase == "playing":
            wait_s = self._rest_s
        elif self.progress.phase == "over":
            wait_s = self._repeat_after_s
        try:
            return self._commands.get(timeout=wait_s)
        except queue.Empty:
            return self._move if self.progress.phase == "playing" else self._repeat

    def _load(self, scene: Scene) -> None:
        self._clear()
        self._scene_run = SceneRun(
            scene, self._pool, self._tally, self._connection, self._add_line, root=self._root
        )
        self._set(scene=scene, folder=self._scene_run.folder)

    def _play_until(self, goal: int | None, pace_s: float = 0.0) -> None:
        """Play this many moves, or all if None. Start over after a failure or the end."""
        now = self.progress
        if now.scene is None:
            return
        if now.problem or (goal is None and now.phase == "over"):
            self._load(now.scene)
        moves = len(now.scene.moves)
        self._pace_s, self._rest_s = pace_s, 0.0
        self._set(goal=moves if goal is None else min(goal, moves))

    def _repeat(self) -> None:
        self._play_until(None, self._pace_s)

    def _move(self) -> None:
        assert self._scene_run  # noqa: S101  there is a scene to play
        self._set(is_moving=True)
        try:
            self._scene_run.step()
        finally:
            self._rest_s = self._pace_s
            self._set(is_moving=False, played=self._scene_run.played)

    def _clear(self) -> None:
        """Clean up the loaded scene, even one that failed."""
        if (scene_run := self._scene_run) is not None:
            self._set(is_cleaning=True, problem=None)
            scene_run.clean_up()
        self._scene_run, self.progress, self.failure = None, SceneProgress(), None
        self._on_progress(self.progress)

    def _add_line(self, line: SceneLine) -> None:
        self._set(lines=(*self.progress.lines, line))

    def _set(self, **changes: object) -> None:
        self.progress = replace(self.progress, **changes)
        self._on_progress(self.progress)
