"""Contenders for a picture: the scene of the recording, and the log of its contenders."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from zktop.app.contenders import Contenders
from zktop.config.keys_and_defaults import Config
from zktop.demo_types.contender_order import ContenderOrder, LockClaim, Mode
from zktop.demo_types.contender_state import (
    ContenderAction,
    ContenderState,
    ContenderStep,
    LogLine,
    Watched,
)
from zktop.demo_types.lesson import SceneCount
from zktop.demo_types.scene_moves import SceneAction, SceneProgress
from zktop.model.format import iso
from zktop.model.lock_view import Contender
from zktop.model.report import Report
from zktop.ui.interfaces import Frame

SCENE: Final = "traffic"
FOLDER: Final = f"/locks/{SCENE}"
RECIPES: Final = {"jobs": "kazoo-lock", "catalogue": "rw"}
OTHER_RECIPE: Final = "predecessor"
LOG: Final = (  # the steps of this scene: seconds, contender, sentence
    (13.0, "", "[3/6] ann has orders, bob has stock"),
    (13.1, "ann", "created lock-0000000000"),
    (13.1, "ann", "lock-0000000000 is first"),
    (13.1, "ann", f"acquired {FOLDER}/orders"),
    (13.2, "bob", "created lock-0000000000"),
    (13.2, "bob", "lock-0000000000 is first"),
    (13.2, "bob", f"acquired {FOLDER}/stock"),
    (15.1, "", "[4/6] ann requests stock and waits for bob"),
    (15.1, "ann", "created lock-0000000001"),
    (15.1, "ann", "lock-0000000000 is ahead of lock-0000000001"),
    (15.1, "ann", "watches lock-0000000000"),
    (17.0, "", "[5/6] bob requests orders: now each waits for the other"),
    (17.0, "bob", "created lock-0000000001"),
    (17.0, "bob", "lock-0000000000 is ahead of lock-0000000001"),
    (17.0, "bob", "watches lock-0000000000"),
    (20.0, "", "[6/6] cid also requests stock: stuck behind them"),
    (20.1, "cid", "created lock-0000000002"),
    (20.1, "cid", "lock-0000000001 is ahead of lock-0000000002"),
    (20.1, "cid", "watches lock-0000000001"),
)


class Scenery:
    """The contenders and the log of a scene that was played in a recording."""

    root = "/zktop-demo"

    def __init__(self, frames: Sequence[Frame]) -> None:
        """Show the contenders that are in the last of these frames."""
        contenders = Contenders(Config())
        self.scenes, self.recipes = contenders.scenes, contenders.recipes
        self.lessons, self.count = contenders.lessons, SceneCount()
        self.hosts, self.permission = contenders.hosts, contenders.permission
        scene = next(one for one in self.scenes if one.name == SCENE)
        self.progress = SceneProgress(scene, FOLDER, len(scene.moves) - 1, is_moving=True)
        self.states = tuple(states_in(frames[-1].report))
        begin = frames[0].at
        self._lines = [LogLine(begin + round(1000 * at), who, says) for at, who, says in LOG]

    def log(self, count: int, contender: str | None = None) -> Sequence[LogLine]:
        """The newest lines of the log."""
        return [line for line in self._lines if contender in (None, line.contender)][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, Mode] | None:
        """No recipe."""

    def listen(self, on_change: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Call nothing: a recording does not change."""

    def start(self, order: ContenderOrder, typed: str | None = None) -> None:
        """Start nothing."""

    def act(self, action: ContenderAction, name: str) -> None:
        """Do nothing."""

    def play(self, scene: str) -> None:
        """Play nothing."""

    def load(self, scene: str) -> None:
        """Load nothing."""

    def control(self, action: SceneAction) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close nothing."""


def states_in(report: Report) -> Iterator[ContenderState]:
    """Each contender once: in the lock that it waits for, else in the lock that it holds."""
    places: dict[str, tuple[str, Contender]] = {}
    held: dict[str, tuple[str, ...]] = {}
    for view in report.views:
        path = view.lock.path
        for one in view.holders:
            held[str(one.owner)] = (*held.get(str(one.owner), ()), path)
            places.setdefault(str(one.owner), (path, one))
        places |= {str(one.owner): (path, one) for one in view.waiters}
    for who, (path, one) in sorted(places.items()):
        yield _state(who, path, one, held.get(who, ()))


def _state(who: str, path: str, one: Contender, held: tuple[str, ...]) -> ContenderState:
    recipe = RECIPES.get(path.rpartition("/")[2], OTHER_RECIPE)
    watched = one.actual[0] if one.actual else None
    says = f"watches {one.blocked_by[-1]}" if one.blocked_by else f"acquired {path}"
    return ContenderState(
        ContenderOrder(who, (LockClaim(recipe, path, one.mode),)),
        activity=one.state,
        session=one.session,
        holds=held,
        watches=Watched(watched) if watched else None,
        last=ContenderStep(who, "working", says, iso(0)),
    )
