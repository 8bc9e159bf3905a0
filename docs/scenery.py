"""A stage for a picture: the scene of the recording, with what its contenders have said."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from zktop.app.contenders import Contenders
from zktop.config.types import Config
from zktop.model.report import Contender, Report
from zktop.ui.ports import ContenderAction, Frame, Hand, LogLine, SceneAction, Showing, Wish

SCENE: Final = "traffic"
FOLDER: Final = f"/locks/{SCENE}"
RECIPES: Final = {"jobs": "kazoo-lock", "catalogue": "rw"}  # the others are of the recipe below
OTHERS: Final = "predecessor"
TOLD: Final = (  # as contenders of this scene told it
    (13.0, "", "[3/6] ann has orders, bob has stock"),
    (13.1, "ann", "created lock-0000000000"),
    (13.1, "ann", "lock-0000000000 is first"),
    (13.1, "ann", f"acquired {FOLDER}/orders"),
    (13.2, "bob", "created lock-0000000000"),
    (13.2, "bob", "lock-0000000000 is first"),
    (13.2, "bob", f"acquired {FOLDER}/stock"),
    (15.1, "", "[4/6] ann asks for stock, and waits for bob"),
    (15.1, "ann", "created lock-0000000001"),
    (15.1, "ann", "lock-0000000000 is before lock-0000000001"),
    (15.1, "ann", "watches lock-0000000000"),
    (17.0, "", "[5/6] bob asks for orders, and closes the circle"),
    (17.0, "bob", "created lock-0000000001"),
    (17.0, "bob", "lock-0000000000 is before lock-0000000001"),
    (17.0, "bob", "watches lock-0000000000"),
    (20.0, "", "[6/6] cid wants stock too, and is stuck behind"),
    (20.1, "cid", "created lock-0000000002"),
    (20.1, "cid", "lock-0000000001 is before lock-0000000002"),
    (20.1, "cid", "watches lock-0000000001"),
)


class Scenery:
    """A stage on which everything has happened already."""

    root = "/zktop-demo"

    def __init__(self, frames: Sequence[Frame]) -> None:
        """Put those on stage who were there in the last of these frames."""
        troupe = Contenders(Config())
        self.scenes, self.recipes = troupe.scenes, troupe.recipes
        self.hosts, self.permission = troupe.hosts, troupe.permission
        scene = next(one for one in self.scenes if one.name == SCENE)
        self.showing = Showing("playing", scene, FOLDER, played=len(scene.moves))
        self.hands = tuple(hands(frames[-1].report))
        begin = frames[0].at
        self._said = [LogLine(begin + round(1000 * at), who, says) for at, who, says in TOLD]

    def said(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """Give the newest of what was told."""
        return [one for one in self._said if who in (None, one.who)][-count:]

    def recipe_for(self, layout: str, mode: str) -> tuple[str, str] | None:
        """Nobody joins."""

    def listen(self, heard: Callable[[], None], complain: Callable[[str], None]) -> None:
        """There is nothing more to hear."""

    def spawn(self, wish: Wish, typed: str | None = None) -> None:
        """Nobody comes."""

    def act(self, act: ContenderAction, name: str) -> None:
        """Nothing is done."""

    def put_on(self, scene: str, *, paused: bool = False) -> None:
        """Nothing is played."""

    def steer(self, steer: SceneAction) -> None:
        """Nothing is steered."""

    def close(self) -> None:
        """Nothing was begun."""


def hands(report: Report) -> Iterator[Hand]:
    """Give every contender once: by the lock that it waits for, or else by the one it holds."""
    places: dict[str, tuple[str, Contender]] = {}
    held: dict[str, tuple[str, ...]] = {}
    for view in report.views:
        path = view.lock.path
        for one in view.holders:
            held[str(one.owner)] = (*held.get(str(one.owner), ()), path)
            places.setdefault(str(one.owner), (path, one))
        places |= {str(one.owner): (path, one) for one in view.waiters}
    for who, (path, one) in sorted(places.items()):
        yield _hand(who, path, one, held.get(who, ()))


def _hand(who: str, path: str, one: Contender, held: tuple[str, ...]) -> Hand:
    recipe = RECIPES.get(path.rpartition("/")[2], OTHERS)
    says = f"watches {one.blocked_by[-1]}" if one.blocked_by else f"acquired {path}"
    return Hand(who, recipe, path, one.mode, one.state, one.session, held, says)
