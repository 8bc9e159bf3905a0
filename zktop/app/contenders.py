"""The crew, its chronicle and its stage, as the UI wants to have them."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property, partial

from msgspec.structs import replace

from zktop.app.connect import demo_connection
from zktop.config.types import Config
from zktop.demo.log import ContenderLog, ContenderState
from zktop.demo.messages import ContenderOrder, ContenderStep, LockClaim
from zktop.demo.permission import Permission
from zktop.demo.processes import ContenderEnded, PoolEvent, ProcessPool
from zktop.demo.recipes import RECIPES
from zktop.demo.recipes.base import Recipe
from zktop.demo.scene_player import ScenePlayer
from zktop.demo.scene_player import SceneProgress as Shown
from zktop.demo.scenes import SCENES, Scene, scene_named
from zktop.errors import ZktopError
from zktop.model.facts import Session
from zktop.model.format import millis
from zktop.ui.ports import (
    ContenderAction,
    Hand,
    LogLine,
    RecipeCard,
    SceneAction,
    SceneCard,
    Showing,
    Wish,
)

STEPS_KEPT, LINES_KEPT = 500, 500
NAMES_KEPT = 100  # of contenders that have ended; a scene has far fewer
GONE_KEPT = 5  # contenders that ended, shown for a while
JOINS: dict[str, tuple[str, ...]] = {  # layout -> recipes whose contenders fit in
    "plain-lock": ("predecessor",),
    "rw-read-write": ("rw",),
    "rw-host": ("rw-host",),
    "kazoo-lock": ("kazoo-lock", "kazoo-rw"),
    "kazoo-semaphore": ("kazoo-semaphore",),
    "single-node": ("single-node",),
}
STRICTEST = ("exclusive", "write", "lease", "candidate")  # what comes nearest to "for me alone"
COMPLAINT = "{} could not be done: {}"


class Contenders:
    """Contenders as processes, and scenes, for as long as the UI is on."""

    def __init__(self, config: Config, hosts: str | None = None) -> None:
        """Prepare; nothing is started yet. `hosts` is a sandbox server of zktop's own."""
        self.root = config.demo.root
        self._connection = demo_connection(config, hosts)
        self.hosts = self._connection.hosts
        self.permission = Permission(self.root, config.demo.allow, is_own_server=hosts is not None)
        self._cap = config.demo.max_contenders
        self._chronicle = ContenderLog(STEPS_KEPT, NAMES_KEPT)
        self._lines: deque[LogLine] = deque(maxlen=LINES_KEPT)
        self._gone: deque[Hand] = deque(maxlen=GONE_KEPT)
        self._heard: Callable[[], None] = lambda: None
        self._complain: Callable[[str], None] = lambda _sentence: None
        self._told_lines = 0
        self._named: Counter[str] = Counter()

    # What there is

    @cached_property
    def recipes(self) -> Sequence[RecipeCard]:
        """All recipes."""
        return [_recipe_card(recipe) for recipe in RECIPES]

    @cached_property
    def scenes(self) -> Sequence[SceneCard]:
        """All scenes."""
        return [_scene_card(scene) for scene in SCENES]

    @property
    def hands(self) -> Sequence[Hand]:
        """Who lives, then who ended lately."""
        return [*map(_hand, self._chronicle.standings()), *self._gone]

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of all contenders of ours, those included that outlive a killed one."""
        return self._chronicle.ours

    @property
    def showing(self) -> Showing:
        """The scene that is on."""
        if "_stage" not in self.__dict__:
            return Showing()
        shown = self._stage.showing
        return Showing(
            phase=shown.phase,
            scene=_scene_card(shown.scene) if shown.scene else None,
            folder=shown.folder,
            played=shown.played,
            is_moving=shown.moving,
            problem=shown.problem,
        )

    def said(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """Give the newest of what was told."""
        lines = tuple(self._lines)
        return [one for one in lines if who is None or one.who == who][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, str] | None:
        """Give a recipe and its mode whose contenders can join such a lock so."""
        modes = STRICTEST if mode == "exclusive" else (mode,)
        recipes = [one for one in RECIPES if one.name in JOINS.get(layout, ())]
        fitting = ((one.name, want) for want in modes for one in recipes if want in one.modes)
        return next(fitting, None)

    # What is asked for

    def listen(self, heard: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Tell these from now on."""
        self._heard, self._complain = heard, complain

    def spawn(self, wish: Wish, typed: str | None = None) -> None:
        """Start contenders; a lock outside the root needs the word that the user typed for it."""
        self.permission.require_for(wish.path, typed)
        for _ in range(wish.count):
            order = self._order(wish)
            self._soon(f"Starting {order.name}", partial(self._crew.hire, order))

    def act(self, act: ContenderAction, name: str) -> None:
        """Have something done to one contender."""
        deed: Callable[[str], None] = getattr(self._crew, act)
        self._soon(f"{act.capitalize()} {name}", partial(deed, name))

    def put_on(self, scene: str, *, paused: bool = False) -> None:
        """Play a scene from its beginning."""
        if paused:
            self._stage.load(scene_named(scene))
        else:
            self._stage.play(scene_named(scene))

    def steer(self, steer: SceneAction) -> None:
        """Steer the scene that is on."""
        deeds = {
            "play": self._stage.play,
            "pause": self._stage.pause,
            "step": self._stage.step,
            "stop": self._stage.stop,
        }
        deeds[steer]()

    def close(self) -> None:
        """Take the scene down, then send everybody home."""
        if "_stage" in self.__dict__:
            self._stage.close()
        if "_crew" in self.__dict__:
            self._crew.close()

    # The crew and the stage come with the first contender.

    @cached_property
    def _crew(self) -> ProcessPool:
        self.permission.require()  # scenes need a crew, too: nothing is written without one
        return ProcessPool(self._hear, self._cap)

    @cached_property
    def _stage(self) -> ScenePlayer:
        return ScenePlayer(
            self._crew, self._chronicle, self._connection, self._show, root=self.root
        )

    def _order(self, wish: Wish) -> ContenderOrder:
        self._named[wish.recipe] += 1
        claim = LockClaim(
            wish.recipe,
            wish.path,
            wish.mode,  # type: ignore[arg-type]  # who knows it not says so in a sentence
            flaw=wish.flaw,
            timeout_s=wish.timeout_s,
        )
        name = f"{wish.recipe}-{self._named[wish.recipe]}"
        return ContenderOrder(
            name,
            (claim,),
            self._connection,
            hold_s=wish.hold_s,
            root=self.root,
            anywhere=not wish.path.startswith(f"{self.root}/"),
        )

    def _soon(self, what: str, deed: Callable[[], object]) -> None:
        def done(answer: Future[object]) -> None:
            error = answer.exception()
            if error is not None:
                reason = str(error) if isinstance(error, ZktopError | OSError) else repr(error)
                self._complain(COMPLAINT.format(what, reason))
            self._heard()

        self._crew.soon(deed).add_done_callback(done)

    # What follows runs in the threads of the crew and of the stage.

    def _hear(self, event: PoolEvent) -> None:
        if isinstance(event, ContenderEnded):
            standings = self._chronicle.standings()
            self._gone.extend(_gone(one, event) for one in standings if one.name == event.name)
        self._chronicle.hear(event)
        step = getattr(event, "step", None)
        if isinstance(step, ContenderStep):
            self._lines.append(LogLine(millis(step.at), step.who, step.says))
        self._heard()

    def _show(self, shown: Shown) -> None:
        if shown.problem:
            self._complain(shown.problem)
        told, self._told_lines = self._told_lines, len(shown.lines)
        at = time.time_ns() // 1_000_000
        for line in shown.lines[told if told <= len(shown.lines) else 0 :]:
            number = f"[{line.number}/{line.of}] " if line.number else ""
            self._lines.append(LogLine(at, "", f"{number}{line.says}"))
        self._heard()


def _recipe_card(recipe: type[Recipe]) -> RecipeCard:
    flaws = tuple((flaw.name, flaw.does) for flaw in recipe.flaws)
    return RecipeCard(recipe.name, recipe.source, recipe.story, recipe.modes, flaws, recipe.broken)


def _scene_card(scene: Scene) -> SceneCard:
    moves = tuple(move.says for move in scene.moves)
    return SceneCard(scene.name, scene.title, scene.teaches, scene.look_at, moves)


def _hand(standing: ContenderState) -> Hand:
    claim = standing.claim
    return Hand(
        name=standing.name,
        recipe=claim.recipe if claim.flaw is None else f"{claim.recipe} ({claim.flaw})",
        path=claim.path,
        mode=claim.mode or next(one.modes[0] for one in RECIPES if one.name == claim.recipe),
        state=standing.state,
        session=standing.session,
        holds=standing.holds,
        says=standing.says,
    )


def _gone(standing: ContenderState, event: ContenderEnded) -> Hand:
    how = f"killed by signal {-event.code}" if event.code and event.code < 0 else "ended"
    words = event.last_words or standing.says
    hand = _hand(standing)
    return replace(hand, state=how, holds=(), says=words, is_gone=True)
