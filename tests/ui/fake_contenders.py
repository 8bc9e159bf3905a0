"""Fake of the contenders port: starts nothing, and records every call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from zktop.demo.permission import Allow, Permission
from zktop.demo_types.contender_order import ContenderOrder, Flaw, LockClaim, Mode, RecipeInfo
from zktop.demo_types.contender_state import (
    ContenderAction,
    ContenderState,
    ContenderStep,
    LogLine,
    Watched,
)
from zktop.demo_types.lesson import Lesson, SceneCount
from zktop.demo_types.scene_moves import Scene, SceneAction, SceneMove, SceneProgress


def scene_of(name: str, title: str, teaches: str, look_at: str, *moves: str) -> Scene:
    """A scene with these moves, which expect nothing."""
    return Scene(name, title, teaches, tuple(map(SceneMove, moves)), look_at)


AB_BA = scene_of(
    "ab-ba", "Two locks in two orders", "Both wait forever.", "The circle.", "first", "second"
)
QUEUE = scene_of("queue", "A queue", "One after the other.", "The watches.", "only")
POLL = RecipeInfo(
    "poll", "article 1", "", "polls once a second", ("exclusive",), (Flaw("lies", "lies"),)
)
RW = RecipeInfo("rw", "article 3", "", "readers and writers", ("read", "write"))


def order_of(recipe: str, path: str, mode: Mode | None = None) -> ContenderOrder:
    """An order for one lock, as a dialog makes it: the port names the contender."""
    return ContenderOrder(recipe, (LockClaim(recipe, path, mode),))


def contender(
    name: str,
    path: str,
    state: str,
    session: int,
    says: str = "",
    *,
    recipe: str = "poll",
    mode: Mode = "exclusive",
    holds: tuple[str, ...] = (),
    watches: Watched | None = None,
) -> ContenderState:
    """A contender in this state: `holds`, `waits`, `frozen`, `ended` or `killed by signal 9`."""
    exits = {"ended": 0, "killed by signal 9": -9}
    return ContenderState(
        ContenderOrder(name, (LockClaim(recipe, path, mode),)),
        activity="holds" if state == "holds" else "waits",
        frozen=state == "frozen",
        session=session,
        holds=holds,
        watches=watches,
        last=ContenderStep(name, "working", says, "1970-01-01T00:16:40Z"),  # NOW of `make_facts`
        exit_code=exits.get(state),
    )


@dataclass
class FakeContenders:
    """The given contenders and scenes, and all calls in order."""

    states: Sequence[ContenderState] = ()
    progress: SceneProgress = field(default_factory=SceneProgress)
    lines: Sequence[LogLine] = ()
    joins: dict[tuple[str, str], tuple[str, Mode]] = field(default_factory=dict)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    allow: Allow = "always"
    hosts: str = "zk1:2181,zk2:2181"
    root: str = "/zktop-demo"
    lessons: Sequence[Lesson] = ()
    scenes: Sequence[Scene] = (QUEUE, AB_BA)
    count: SceneCount = SceneCount()  # noqa: RUF009  it is frozen
    recipes: Sequence[RecipeInfo] = (POLL, RW)
    sessions: frozenset[int] = frozenset()
    on_change: Callable[[], None] = lambda: None
    complain: Callable[[str], None] = lambda _sentence: None

    def __post_init__(self) -> None:
        """Ask for permission as the real one does."""
        self.permission = Permission(self.root, self.allow)

    def log(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """The lines as given."""
        return [line for line in self.lines if who in (None, line.contender)][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, Mode] | None:
        """A recipe that fits, by the test's own table."""
        return self.joins.get((layout, mode))

    def listen(self, on_change: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Remember the callbacks."""
        self.on_change, self.complain = on_change, complain

    def start(self, order: ContenderOrder, typed: str | None = None) -> None:
        """Remember it."""
        self.asked.append(("start", order, typed))

    def act(self, action: ContenderAction, name: str) -> None:
        """Remember it."""
        self.asked.append((action, name))

    def play(self, scene: str) -> None:
        """Remember it."""
        self.asked.append(("play", scene))

    def load(self, scene: str) -> None:
        """Remember it."""
        self.asked.append(("load", scene))

    def control(self, action: SceneAction) -> None:
        """Remember it."""
        self.asked.append(("control", action))

    def close(self) -> None:
        """Nothing was started."""
