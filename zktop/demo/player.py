"""Plays a scene: move by move, with a pause where one is wanted, and leaves nothing behind."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence

from kazoo.exceptions import NoNodeError, NotEmptyError
from msgspec import Struct

from zktop.demo.bell import Bell
from zktop.demo.chronicle import Chronicle
from zktop.demo.client import connect
from zktop.demo.crew import FAREWELL_S, Crew
from zktop.demo.hand import Hand
from zktop.demo.narration import Narrator, What
from zktop.demo.order import DEMO_ROOT, Connection
from zktop.demo.scenes.scene import Heard, Hire, Move, Scene, Tell
from zktop.errors import ExitCode, UsageError, ZktopError

MOVE_WITHIN_S = 20.0  # and the time that sessions need to expire


class SceneFailedError(ZktopError):
    """A move did not come to what it should."""

    exit_code = ExitCode.FINDINGS


class Line(Struct, frozen=True):
    """One line of a scene's narration."""

    scene: str
    number: int  # of the move, from 1; 0 is the title
    of: int
    says: str


class Player:
    """Plays one scene with a crew whose events a chronicle hears.

    `play` and `step` belong to one thread at a time; `pause` and `stop` to any.
    """

    def __init__(
        self,
        scene: Scene,
        crew: Crew,
        chronicle: Chronicle,
        connection: Connection,
        tell: Callable[[Line], None],
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
        self._before: dict[str, Counter[What]] = {}  # what was told when the last move began

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
        return frozenset(name for name in names if self._since(Heard(name, "notified")))

    def clean_up(self) -> None:
        """Send the scene's contenders home and delete its folder, and the root if it is empty."""
        self._dismiss({hand.name for hand in self._crew.hands() if self._plays(hand)})
        client = connect(self._connection, Narrator("clean-up", lambda _step: None), Bell())
        try:
            with contextlib.suppress(NoNodeError):
                client.retry(client.delete, self.folder, recursive=True)
            with contextlib.suppress(NoNodeError, NotEmptyError):
                client.retry(client.delete, self._root)
        finally:
            client.end()

    def _perform(self, move: Move) -> None:
        """Do what the move says; contenders come one by one, unless their order is no matter."""
        self._before = self._chronicle.tally()
        awaited = list(move.until)
        for act in move.acts:
            if isinstance(act, Hire):
                self._before.pop(act.name, None)
                self._crew.hire(act.order(self.folder, self._root, self._connection))
                own = [one for one in awaited if one.name == act.name and not move.together]
                self._await(own, ())
                awaited = [heard for heard in awaited if heard not in own]
            else:
                self._command(act)
        self._await(awaited, move.ended)

    def _command(self, act: Tell) -> None:
        if act.command == "cut":
            self._crew.cut(act.name, act.seconds)
        else:
            getattr(self._crew, act.command)(act.name)

    def _await(self, heard: Sequence[Heard], ended: Sequence[str]) -> None:
        def missing() -> list[str]:
            told = [f"{one.name} {one.what}" for one in heard if self._since(one) < one.times]
            return told + [f"{name} ended" for name in ended if name not in self._chronicle.ended]

        within_s = MOVE_WITHIN_S + 3 * self._connection.session_timeout_s
        if not self._chronicle.until(lambda: self._stopped or not missing(), within_s):
            raise SceneFailedError(
                f"scene {self.scene.name}, move {self.played + 1}: not within {within_s:g} s: "
                + ", ".join(missing())
            )

    def _since(self, heard: Heard) -> int:
        """How often this was told since the move began."""
        before = Counter() if heard.ever else self._before.get(heard.name, Counter())
        return self._chronicle.count(heard.name, heard.what) - before[heard.what]

    def _plays(self, hand: Hand) -> bool:
        return any(claim.path.startswith(f"{self.folder}/") for claim in hand.order.claims)

    def _dismiss(self, names: set[str]) -> None:
        """Have them release and end; who does not in time is killed."""
        for command in (self._crew.thaw, self._crew.cancel, self._crew.kill):
            for name in names:
                with contextlib.suppress(UsageError):  # gone meanwhile
                    command(name)
            if command != self._crew.thaw:
                self._chronicle.until(lambda: names <= self._chronicle.ended.keys(), FAREWELL_S)

    def _say(self, number: int, says: str) -> None:
        self._tell(Line(self.scene.name, number, len(self.scene.moves), says))
