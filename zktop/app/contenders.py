"""Demo contenders and scenes of one run of the UI. Implements `ContendersPort`."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

from msgspec.structs import replace

from zktop.app.connection_settings import demo_connection
from zktop.config.keys_and_defaults import Config
from zktop.demo.contender_processes import ContenderChange, ProcessPool
from zktop.demo.contender_tally import ContenderTally
from zktop.demo.lessons import LESSONS
from zktop.demo.permission import Permission
from zktop.demo.recipes import RECIPES
from zktop.demo.scene_count import COUNTED_STEPS, scene_count
from zktop.demo.scene_player import ScenePlayer
from zktop.demo.scenes import SCENES, scene_named
from zktop.demo_types.contender_order import ContenderOrder, Mode, RecipeInfo
from zktop.demo_types.contender_state import (
    ContenderAction,
    ContenderState,
    ContenderStep,
    LogLine,
)
from zktop.demo_types.lesson import Lesson, SceneCount
from zktop.demo_types.scene_moves import Scene, SceneAction, SceneProgress
from zktop.errors import ZktopError
from zktop.model.facts import Session
from zktop.model.format import iso, millis
from zktop.model.text import Text

MAX_LINES = 500
MAX_ENDED_SHOWN = 5
MAX_COUNTED_STEPS = 400  # a lesson has fewer
STRICTEST_FIRST: tuple[Mode, ...] = ("exclusive", "write", "lease", "candidate")


class Contenders:
    """Starts contenders and plays scenes. Every method except `close` returns at once."""

    def __init__(self, config: Config, hosts: str | None = None) -> None:
        """Start nothing yet. `hosts` is a sandbox server started by zktop."""
        self.root = config.demo.root
        self._connection = demo_connection(config, hosts)
        self.hosts = hosts or config.hosts
        self.permission = Permission(self.root, config.demo.allow, is_own_server=hosts is not None)
        self._max_contenders = config.demo.max_contenders
        self._tally = ContenderTally()
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)
        self._ended: deque[ContenderState] = deque(maxlen=MAX_ENDED_SHOWN)
        self._on_change: Callable[[], None] = lambda: None
        self._complain: Callable[[str], None] = lambda _sentence: None
        self._narrated = 0  # lines of the scene that are in the log
        self._counted: deque[ContenderStep] = deque(maxlen=MAX_COUNTED_STEPS)
        self._count = SceneCount()
        self._is_count_due = threading.Event()
        self._started: Counter[str] = Counter()  # by recipe
        self._pool: ProcessPool | None = None  # until the first contender
        self._player: ScenePlayer | None = None  # until the first scene

    @property
    def recipes(self) -> Sequence[RecipeInfo]:
        return [recipe.info() for recipe in RECIPES]

    @property
    def scenes(self) -> Sequence[Scene]:
        return SCENES

    @property
    def lessons(self) -> Sequence[Lesson]:
        return LESSONS

    @property
    def count(self) -> SceneCount:
        if self._is_count_due.is_set():
            self._is_count_due.clear()
            self._count = scene_count(tuple(self._counted))
        return self._count

    @property
    def states(self) -> Sequence[ContenderState]:
        running = self._pool.states() if self._pool else ()
        return [*running, *self._ended]

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of all contenders, including those that outlive a killed contender."""
        return self._tally.our_sessions

    @property
    def progress(self) -> SceneProgress:
        return self._player.progress if self._player else SceneProgress()

    def log(self, count: int, name: str | None = None) -> Sequence[LogLine]:
        lines = tuple(self._lines)
        return [line for line in lines if name is None or line.contender == name][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, Mode] | None:
        wanted_modes = STRICTEST_FIRST if mode == "exclusive" else (mode,)
        recipes = [recipe for recipe in RECIPES if layout in recipe.joins]
        offers = [(recipe.name, offered) for recipe in recipes for offered in recipe.modes]
        for wanted in wanted_modes:
            for name, offered in offers:
                if offered == wanted:
                    return name, offered
        return None

    def listen(self, on_change: Callable[[], None], complain: Callable[[str], None]) -> None:
        self._on_change, self._complain = on_change, complain

    def start(self, order: ContenderOrder, typed: str | None = None) -> None:
        """Start a contender. Outside the demo root, `typed` must be the name of the lock."""
        path, recipe = order.claims[0].path, order.claims[0].recipe
        self.permission.require_for(path, typed)
        self._started[recipe] += 1
        order = replace(
            order,
            name=f"{recipe}-{self._started[recipe]}",
            connection=self._connection,
            root=self.root,
            anywhere=not path.startswith(f"{self.root}/"),
        )
        self._run_in_pool(f"Starting {order.name}", partial(self._open_pool().start, order))

    def act(self, action: ContenderAction, name: str) -> None:
        method: Callable[[str], None] = getattr(self._open_pool(), action)
        self._run_in_pool(f"{action.capitalize()} {name}", partial(method, name))

    def play(self, scene: str) -> None:
        self._open_player().play(scene_named(scene))

    def load(self, scene: str) -> None:
        self._open_player().load(scene_named(scene))

    def control(self, action: SceneAction) -> None:
        method: Callable[[], None] = getattr(self._open_player(), action)
        method()

    def close(self) -> None:
        """Clean up the scene, then end all contenders."""
        if self._player:
            self._player.close()
        if self._pool:
            self._pool.close()

    def _open_pool(self) -> ProcessPool:
        """Return the pool, which is started for the first contender."""
        if self._pool is None:
            self.permission.require()  # also checks scenes, which need the pool to write
            self._pool = ProcessPool(self._add_change, self._max_contenders)
        return self._pool

    def _open_player(self) -> ScenePlayer:
        """Return the player, which is started for the first scene."""
        if self._player is None:
            pool, connection = self._open_pool(), self._connection
            self._player = ScenePlayer(
                pool, self._tally, connection, self._add_progress, root=self.root
            )
        return self._player

    def _run_in_pool(self, what: str, act: Callable[[], object]) -> None:
        def done(answer: Future[object]) -> None:
            error = answer.exception()
            if error is not None:
                reason = str(error) if isinstance(error, ZktopError | OSError) else repr(error)
                self._complain(f"{what} failed: {reason}")
            self._on_change()

        self._open_pool().soon(act).add_done_callback(done)

    # The methods below run in the threads of the pool and of the player.

    def _add_change(self, change: ContenderChange) -> None:
        state, step = change.state, change.step
        if state.is_gone:
            self._ended.append(state)
            step = _last_step(state)
        if step is not None:
            self._lines.append(LogLine(millis(step.at), step.contender, step.says))
            if step.what in COUNTED_STEPS:
                self._counted.append(step)
                self._is_count_due.set()
        self._tally.add(change)
        self._on_change()

    def _add_progress(self, progress: SceneProgress) -> None:
        if progress.problem:
            self._complain(progress.problem)
        if progress.scene is None:
            self._drop_scene()
        if len(progress.lines) < self._narrated:  # a new scene has started
            self._narrated = 0
        now = time.time_ns() // 1_000_000
        for line in progress.lines[self._narrated :]:
            self._lines.append(LogLine(now, "", line.line()))
        self._narrated = len(progress.lines)
        self._on_change()

    def _drop_scene(self) -> None:
        """Drop the ended contenders of all scenes, and what was counted."""
        folders = tuple(f"{self.root}/{scene.name}/" for scene in SCENES)
        kept = [state for state in tuple(self._ended) if not state.path.startswith(folders)]
        self._ended = deque(kept, MAX_ENDED_SHOWN)
        self._counted.clear()
        self._is_count_due.set()


def _last_step(state: ContenderState) -> ContenderStep | None:
    """Return the step that a killed contender could not report itself."""
    if state.exit_code is None or state.exit_code >= 0:
        return None
    now = iso(time.time_ns() // 1_000_000)
    return ContenderStep(Text(state.name), "ended", Text(state.state), now)
