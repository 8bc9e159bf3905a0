"""Scenes, their moves, and how far one has been played."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from zktop.demo_types.contender_order import ClientSettings, ContenderOrder, LockClaim, WorkStyle
from zktop.demo_types.contender_state import StepKind

CommandName = Literal["go", "release", "cancel", "kill", "freeze", "thaw", "cut"]


class StartContender(Struct, frozen=True, forbid_unknown_fields=True):
    """Starts a contender. The paths of its claims are names of locks in the scene's folder."""

    name: str
    claims: tuple[LockClaim, ...]
    work: WorkStyle = "hold"
    hold_s: float | None = None
    sleep_sessions: float = 0.0  # how long `oversleep` blocks, in session timeouts
    rounds: int = 1
    pause_s: float = 0.0

    def order(self, folder: str, root: str, connection: ClientSettings) -> ContenderOrder:
        """Return the order for this contender, with its locks in this folder."""
        return ContenderOrder(
            self.name,
            tuple(replace(claim, path=f"{folder}/{claim.path}") for claim in self.claims),
            connection,
            work=self.work,
            hold_s=self.hold_s,
            sleep_s=self.sleep_sessions * connection.session_timeout_s,
            rounds=self.rounds,
            pause_s=self.pause_s,
            root=root,
        )


class CommandContender(Struct, frozen=True):
    """Sends a command to a contender, or a signal to its process."""

    name: str
    command: CommandName
    seconds: float = 0.0  # for `cut`


class ExpectedStep(Struct, frozen=True):
    """A step that a contender must report before the next move."""

    name: str
    what: StepKind


class SceneMove(Struct, frozen=True):
    """One move of a scene: its narration, its actions, and the steps that it waits for.

    A move without actions only waits, and steps that were reported earlier count, too.
    """

    says: str
    acts: tuple[StartContender | CommandContender, ...] = ()
    until: tuple[ExpectedStep, ...] = ()
    ended: tuple[str, ...] = ()  # contenders whose processes must end
    rest_s: float = 0.0  # pause before the move, long enough for zktop to notice idle contenders


SceneGroup = Literal[
    "Queues",
    "Herds",
    "Readers and writers",
    "Deadlocks",
    "Crashes and expiry",
    "Client bugs",
    "More",
]


class Scene(Struct, frozen=True):
    """One situation worth seeing: contenders, moves and narration that set it up."""

    name: str
    title: str
    teaches: str
    moves: tuple[SceneMove, ...]
    look_at: str
    group: SceneGroup = "More"  # in the list of scenes


class SceneLine(Struct, frozen=True):
    """One line of a scene's narration."""

    number: int  # of the move, from 1, or 0 for the title
    of: int
    says: str

    def line(self) -> str:
        """Return the line as text, prefixed with the number of the move."""
        return f"[{self.number}/{self.of}] {self.says}" if self.number else self.says


ScenePhase = Literal["empty", "paused", "playing", "over", "failed", "cleaning"]
SceneAction = Literal["play", "pause", "step", "stop"]


class SceneProgress(Struct, frozen=True):
    """The loaded scene, and how far it has been played."""

    scene: Scene | None = None
    folder: str | None = None  # the parent of its locks
    played: int = 0  # moves
    goal: int = 0  # how many moves to play before it pauses
    is_moving: bool = False  # in the middle of a move, waiting for the steps that it expects
    is_cleaning: bool = False
    lines: tuple[SceneLine, ...] = ()  # narrated so far
    problem: str | None = None  # why it cannot continue

    @property
    def phase(self) -> ScenePhase:
        """The progress in one word."""
        if self.is_cleaning:
            return "cleaning"
        if self.problem:
            return "failed"
        if self.scene is None:
            return "empty"
        if self.played == len(self.scene.moves):
            return "over"
        return "playing" if self.is_moving or self.played < self.goal else "paused"
