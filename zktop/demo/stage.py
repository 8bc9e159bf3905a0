"""A stage for a UI: one scene at a time, played by a thread of its own; only `close` waits.

Every command is put into a queue, and the thread looks there before each move: so a command never
meets a scene in the middle of a move, and what is asked while one is played comes right after it.
"""

import queue
import threading
from collections.abc import Callable
from typing import Literal, Self

from kazoo.exceptions import KazooException
from msgspec import Struct
from msgspec.structs import replace

from zktop.demo.chronicle import Chronicle
from zktop.demo.crew import Crew
from zktop.demo.order import DEMO_ROOT, Connection
from zktop.demo.player import Line, Player
from zktop.demo.scenes.scene import Scene
from zktop.errors import ZktopError

PACE_S = 2.0
Phase = Literal["empty", "paused", "playing", "over", "failed", "cleaning"]


class Showing(Struct, frozen=True):
    """What is on the stage, at one moment."""

    scene: Scene | None = None
    folder: str | None = None  # where its locks are
    played: int = 0  # moves
    goal: int = 0  # how many moves are to be played before it pauses by itself
    moving: bool = False  # in the middle of a move, waiting for what it is for
    cleaning: bool = False
    lines: tuple[Line, ...] = ()  # of this performance
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


class Stage:
    """Where scenes are put on, played, paused, stepped, sought in, and taken down."""

    def __init__(
        self,
        crew: Crew,
        chronicle: Chronicle,
        connection: Connection,
        tell: Callable[[Showing], None],
        *,
        root: str = DEMO_ROOT,
    ) -> None:
        """Be empty. `tell` hears of every change, in the stage's thread, and must not raise."""
        self.showing = Showing()
        self._crew, self._chronicle = crew, chronicle
        self._connection, self._tell, self._root = connection, tell, root
        self._player: Player | None = None
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
        self._player = Player(
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
        self._player, self.showing = None, Showing()
        self._tell(self.showing)

    def _hear(self, line: Line) -> None:
        self._show(lines=(*self.showing.lines, line))

    def _show(self, **changes: object) -> None:
        self.showing = replace(self.showing, **changes)
        self._tell(self.showing)
