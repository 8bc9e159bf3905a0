"""A stage on which nothing is played: it remembers what it was asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from zktop.demo.permission import Allow, Permission
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

AB_BA = SceneCard(
    "ab-ba", "Two locks in two orders", "Both wait for ever.", "The circle.", ("first", "second")
)
QUEUE = SceneCard("queue", "A queue", "One after the other.", "The watches.", ("only",))
POLL = RecipeCard("poll", "article 1", "polls once a second", ("exclusive",), (("lies", "lies"),))
RW = RecipeCard("rw", "article 3", "readers and writers", ("read", "write"))


@dataclass
class Asked:
    """A stage, and everything that it was asked for, in order."""

    hands: Sequence[Hand] = ()
    showing: Showing = field(default_factory=Showing)
    lines: Sequence[LogLine] = ()
    joins: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    allow: Allow = "always"
    hosts: str = "zk1:2181,zk2:2181"
    root: str = "/zktop-demo"
    scenes: Sequence[SceneCard] = (QUEUE, AB_BA)
    recipes: Sequence[RecipeCard] = (POLL, RW)
    sessions: frozenset[int] = frozenset()
    heard: Callable[[], None] = lambda: None
    complain: Callable[[str], None] = lambda _sentence: None

    def __post_init__(self) -> None:
        """Ask for permission as the real one does."""
        self.permission = Permission(self.root, self.allow)

    def said(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """What was told."""
        return [one for one in self.lines if who in (None, one.who)][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, str] | None:
        """A recipe that fits, by the test's own table."""
        return self.joins.get((layout, mode))

    def listen(self, heard: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Remember whom to tell."""
        self.heard, self.complain = heard, complain

    def spawn(self, wish: Wish, typed: str | None = None) -> None:
        """Remember it."""
        self.asked.append(("spawn", wish, typed))

    def act(self, act: ContenderAction, name: str) -> None:
        """Remember it."""
        self.asked.append((act, name))

    def put_on(self, scene: str, *, paused: bool = False) -> None:
        """Remember it."""
        self.asked.append(("put on", scene, paused))

    def steer(self, steer: SceneAction) -> None:
        """Remember it."""
        self.asked.append(("steer", steer))

    def close(self) -> None:
        """Nothing was begun."""
