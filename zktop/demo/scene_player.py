"""Plays a scene: move by move, with a pause where one is wanted, and leaves nothing behind.

A stage for a UI: one scene at a time, played by a thread of its own; only `close` waits.

Every command is put into a queue, and the thread looks there before each move: so a command never
meets a scene in the middle of a move, and what is asked while one is played comes right after it.
"""

import contextlib
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, Self

from kazoo.exceptions import KazooException, NoNodeError, NotEmptyError
from msgspec import Struct
from msgspec.structs import replace

from zktop.demo.client import StoppableEvent, connect
from zktop.demo.log import ContenderLog
from zktop.demo.messages import DEMO_ROOT, ClientSettings, StepKind, StepReporter
from zktop.demo.processes import CLOSE_TIMEOUT_S, LiveContender, ProcessPool
from zktop.demo.scenes.scene import (
    CommandContender,
    ExpectedStep,
    Scene,
    SceneMove,
    StartContender,
)
from zktop.errors import ExitCode, UsageError, ZktopError

MOVE_TIMEOUT_S = 20.0  # and the time that sessions need to expire


class SceneFailedError(ZktopError):
    """A move did not come to what it should."""

    exit_code = ExitCode.FINDINGS


class SceneLine(Struct, frozen=True):
    """One line of a scene's narration."""

    scene: str
    number: int  # of the move, from 1; 0 is the title
    of: int
    says: str


class SceneRun:
    """Plays one scene with a crew whose events a chronicle hears.

    `play` and `step` belong to one thread at a time; `pause` and `stop` to any.
    """

    def __init__(
        self,
        scene: Scene,
        crew: ProcessPool,
        chronicle: ContenderLog,
        connection: ClientSettings,
        tell: Callable[[SceneLine], None],
        *,
        root: str = DEMO_ROOT,
    ) -> None:
        """Be about to play."""
        self.scene = scene
        self.folder = f"{root}/{scene.name}"
        self.played = 0  # moves
        self._crew, self._chronicle = crew, chronicle
        self._connection, self._tell, self._root = connection, tell, root
        self._halt = threading.Event()
        self._stopped = False
        self._before: dict[str, Counter[StepKind]] = {}  # what was told when the last move began

    @property
    def over(self) -> bool:
        """Whether the last move was played, or the scene was stopped."""
        return self._stopped or self.played == len(self.scene.moves)

    def play(self, pace_s: float = 0.0) -> bool:
        """Play on until the end or a pause; True at the end. `pace_s` is between two moves."""
        self._halt.clear()
        while not (self.over or self._halt.is_set()):
            self.step()
            if not self.over:
                self._halt.wait(pace_s)
        return self.over

    def step(self) -> None:
        """Play one move, and wait until what it is for has happened."""
        if self.over:
            return
        if self.played == 0:
            self.clean_up()
            self._say(0, f"{self.scene.title}. {self.scene.teaches}")
        move = self.scene.moves[self.played]
        self._say(self.played + 1, move.says)
        self._chronicle.until(lambda: self._stopped, move.rest_s)
        self._perform(move)
        self.played += 1
        if self.over and not self._stopped:
            self._say(self.played, f"Look at: {self.scene.look_at}")

    def pause(self) -> None:
        """Have `play` return after the move that it is in."""
        self._halt.set()

    def stop(self) -> None:
        """End the scene where it is; `clean_up` comes next."""
        self._stopped = True
        self._halt.set()
        self._chronicle.poke()

    def woken(self) -> frozenset[str]:
        """Give who was notified during the last move, and is still there."""
        names = self._chronicle.tally().keys() - self._chronicle.ended.keys()
        return frozenset(name for name in names if self._since(ExpectedStep(name, "notified")))

    def clean_up(self) -> None:
        """Send the scene's contenders home and delete its folder, and the root if it is empty."""
        self._dismiss({hand.name for hand in self._crew.hands() if self._plays(hand)})
        client = connect(
            self._connection, StepReporter("clean-up", lambda _step: None), StoppableEvent()
        )
        try:
            with contextlib.suppress(NoNodeError):
                client.retry(client.delete, self.folder, recursive=True)
            with contextlib.suppress(NoNodeError, NotEmptyError):
                client.retry(client.delete, self._root)
        finally:
            client.end()

    def _perform(self, move: SceneMove) -> None:
        """Do what the move says; contenders come one by one, unless their order is no matter."""
        self._before = self._chronicle.tally()
        awaited = list(move.until)
        for act in move.acts:
            if isinstance(act, StartContender):
                self._before.pop(act.name, None)
                self._crew.hire(act.order(self.folder, self._root, self._connection))
                own = [one for one in awaited if one.name == act.name and not move.together]
                self._await(own, ())
                awaited = [heard for heard in awaited if heard not in own]
            else:
                self._command(act)
        self._await(awaited, move.ended)

    def _command(self, act: CommandContender) -> None:
        if act.command == "cut":
            self._crew.cut(act.name, act.seconds)
        else:
            getattr(self._crew, act.command)(act.name)

    def _await(self, heard: Sequence[ExpectedStep], ended: Sequence[str]) -> None:
        def missing() -> list[str]:
            told = [f"{one.name} {one.what}" for one in heard if self._since(one) < one.times]
            return told + [f"{name} ended" for name in ended if name not in self._chronicle.ended]

        within_s = MOVE_TIMEOUT_S + 3 * self._connection.session_timeout_s
        if not self._chronicle.until(lambda: self._stopped or not missing(), within_s):
            raise SceneFailedError(
                f"scene {self.scene.name}, move {self.played + 1}: not within {within_s:g} s: "
                + ", ".join(missing())
            )

    def _since(self, heard: ExpectedStep) -> int:
        """How often this was told since the move began."""
        before = Counter() if heard.ever else self._before.get(heard.name, Counter())
        return self._chronicle.count(heard.name, heard.what) - before[heard.what]

    def _plays(self, hand: LiveContender) -> bool:
        return any(claim.path.startswith(f"{self.folder}/") for claim in hand.order.claims)

    def _dismiss(self, names: set[str]) -> None:
        """Have them release and end; who does not in time is killed."""
        for command in (self._crew.thaw, self._crew.cancel, self._crew.kill):
            for name in names:
                with contextlib.suppress(UsageError):  # gone meanwhile
                    command(name)
            if command != self._crew.thaw:
                self._chronicle.until(
                    lambda: names <= self._chronicle.ended.keys(), CLOSE_TIMEOUT_S
                )

    def _say(self, number: int, says: str) -> None:
        self._tell(SceneLine(self.scene.name, number, len(self.scene.moves), says))


PACE_S = 2.0
Phase = Literal["empty", "paused", "playing", "over", "failed", "cleaning"]


class SceneProgress(Struct, frozen=True):
    """What is on the stage, at one moment."""

    scene: Scene | None = None
    folder: str | None = None  # where its locks are
    played: int = 0  # moves
    goal: int = 0  # how many moves are to be played before it pauses by itself
    moving: bool = False  # in the middle of a move, waiting for what it is for
    cleaning: bool = False
    lines: tuple[SceneLine, ...] = ()  # of this performance
    problem: str | None = None  # why it cannot go on

    @property
    def phase(self) -> Phase:
        """Say in a word what goes on."""
        if self.cleaning:
            return "cleaning"
        if self.problem:
            return "failed"
        if self.scene is None:
            return "empty"
        if self.played == len(self.scene.moves):
            return "over"
        return "playing" if self.moving or self.played < self.goal else "paused"


class ScenePlayer:
    """Where scenes are put on, played, paused, stepped, sought in, and taken down."""

    def __init__(
        self,
        crew: ProcessPool,
        chronicle: ContenderLog,
        connection: ClientSettings,
        tell: Callable[[SceneProgress], None],
        *,
        root: str = DEMO_ROOT,
    ) -> None:
        """Be empty. `tell` hears of every change, in the stage's thread, and must not raise."""
        self.showing = SceneProgress()
        self._crew, self._chronicle = crew, chronicle
        self._connection, self._tell, self._root = connection, tell, root
        self._player: SceneRun | None = None
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._pace_s = self._rest_s = 0.0
        self._thread = threading.Thread(target=self._run, name="stage", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Be closed at the end of a block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Take down what is on."""
        self.close()

    def load(self, scene: Scene) -> None:
        """Put a scene on, paused before its first move; what was on is taken down first."""
        self._interrupt(lambda: self._load(scene))

    def play(self, scene: Scene | None = None, pace_s: float = PACE_S) -> None:
        """Play on to the end, or a scene from its beginning; also the one that is over."""
        if scene is not None:
            self.load(scene)
        self._asked.put(lambda: self._head_for(None, pace_s))

    def pause(self) -> None:
        """Stand still after the move that it is in."""
        self._asked.put(lambda: self._show(goal=self.showing.played))

    def step(self) -> None:
        """Play one move."""
        self._asked.put(lambda: self._head_for(self.showing.played + 1))

    def seek(self, move: int) -> None:
        """Be where so many moves were played; backward is from the beginning again."""
        self._asked.put(lambda: self._head_for(move))

    def stop(self) -> None:
        """End the scene where it is, and take it down."""
        self._interrupt(self._clear)

    def close(self) -> None:
        """Take down what is on, and end; waits for that, mostly less than a second."""
        self._interrupt(self._clear)
        self._asked.put(None)
        self._thread.join()

    def _interrupt(self, act: Callable[[], None]) -> None:
        """Do not wait for the end of a move of whom nobody wants to see any more."""
        player = self._player
        self._asked.put(act)
        if player is not None:
            player.stop()

    # What follows runs in the stage's thread.

    def _run(self) -> None:
        while True:
            try:
                act = self._next()
            except queue.Empty:
                act = self._move
            if act is None:
                return
            try:
                act()
            except (ZktopError, KazooException, OSError) as problem:
                self._show(problem=str(problem) or type(problem).__name__, cleaning=False)

    def _next(self) -> Callable[[], None] | None:
        """Wait for a command; while there is something to play, not longer than the pace."""
        playing = self.showing.phase == "playing"
        return self._asked.get(timeout=self._rest_s if playing else None)

    def _load(self, scene: Scene) -> None:
        self._clear()
        self._player = SceneRun(
            scene, self._crew, self._chronicle, self._connection, self._hear, root=self._root
        )
        self._show(scene=scene, folder=self._player.folder)

    def _head_for(self, move: int | None, pace_s: float = 0.0) -> None:
        """Set the goal; None is the end. Who is there, or failed on the way, begins again."""
        now = self.showing
        if now.scene is None:
            return
        moves = len(now.scene.moves)
        goal = moves if move is None else min(max(move, 0), moves)
        again = now.problem or (move is None and now.phase == "over")
        if again or goal < now.played:
            self._load(now.scene)
        self._pace_s, self._rest_s = pace_s, 0.0
        self._show(goal=goal)

    def _move(self) -> None:
        assert self._player  # noqa: S101  there is something to play
        self._show(moving=True)
        try:
            self._player.step()
        finally:
            self._rest_s = self._pace_s
            self._show(moving=False, played=self._player.played)

    def _clear(self) -> None:
        """Take down what is on; also what is left of one that failed."""
        if (player := self._player) is not None:
            self._show(cleaning=True, problem=None)
            player.clean_up()
        self._player, self.showing = None, SceneProgress()
        self._tell(self.showing)

    def _hear(self, line: SceneLine) -> None:
        self._show(lines=(*self.showing.lines, line))

    def _show(self, **changes: object) -> None:
        self.showing = replace(self.showing, **changes)
        self._tell(self.showing)
