"""Values that the demo, the app and the UI share: contender orders, steps and states, scenes.

All of them are frozen. A contender order travels unchanged from the dialog that fills it in to
the child process that carries it out. Nothing here starts a process or talks to ZooKeeper.
"""

from typing import Annotated, Literal, Self

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from zktop.model.facts import Millis, Session
from zktop.model.text import Text
from zktop.tls import Tls

DEMO_ROOT = "/zktop-demo"
Mode = Literal["exclusive", "read", "write", "lease", "candidate"]
WorkStyle = Literal["hold", "oversleep", "raise", "die", "never"]
Seconds = Annotated[float, Meta(ge=0)]

# Orders


class ClientSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a contender connects. Never put it on a command line: it may hold secrets."""

    hosts: str = "127.0.0.1:2181"
    session_timeout_s: Annotated[float, Meta(gt=0)] = 6.0
    connect_timeout_s: Annotated[float, Meta(gt=0)] = 10.0
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] = {}
    tls: Tls | None = None


class LockClaim(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One lock that a contender wants, and how."""

    recipe: str
    path: str
    mode: Mode | None = None  # None: the first mode of the recipe
    flaw: str | None = None
    timeout_s: Seconds | None = None
    leases: Annotated[int, Meta(ge=1)] = 1
    poll_s: Annotated[float, Meta(gt=0)] = 1.0
    gate: bool = False  # ask for the lock only after the command `go`


class ContenderOrder(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything about one contender: its name, its locks in order, its work, its connection."""

    name: str
    claims: Annotated[tuple[LockClaim, ...], Meta(min_length=1)]
    connection: ClientSettings = ClientSettings()
    work: WorkStyle = "hold"
    hold_s: Seconds | None = None  # None: until the command `release`
    sleep_s: Seconds = 0.0  # how long the work style `oversleep` blocks the process
    rounds: Annotated[int, Meta(ge=0)] = 1  # 0: repeat forever
    pause_s: Seconds = 0.0  # between two rounds
    root: str = DEMO_ROOT
    anywhere: bool = False  # may write outside the root; set only at the user's request


# What contenders report

StepKind = Literal[
    "connected",
    "suspended",  # the connection is gone, the session may still live
    "lost",  # the session is gone, and with it every node and every lock
    "waiting",  # at a gate, for the command `go`
    "created",
    "listed",
    "decided",
    "watching",
    "notified",
    "acquired",
    "working",
    "releasing",  # from here on it no longer relies on the lock
    "released",
    "gave-up",
    "failed",
    "ended",
]


WatchedPart = Literal[
    "node",
    "children",  # no server lists such watches
    "absent",  # the znode was already deleted when the watch was set
]


class ContenderStep(Struct, frozen=True, omit_defaults=True, rename={"contender": "who"}):
    """One thing that a contender did or saw, with a sentence that describes it."""

    contender: Text
    what: StepKind
    says: Text
    at: str
    lock: Text | None = None
    node: Text | None = None  # what was created, watched, notified or released
    requests: int = 0  # for locks, sent by this contender so far
    session: Text | None = None  # with `connected`: the session id, as 0x and hex
    watched: WatchedPart = "node"  # with `watching`: which part of the node

    def line(self) -> str:
        return f"{self.at[11:23]} {self.contender}: {self.says}"

    def json(self) -> str:
        return msgspec.json.encode(self).decode()


class LogLine(Struct, frozen=True):
    """One line of the demo's log: a step of a contender, or the narration of the scene."""

    at: Millis
    contender: str  # empty for the narration
    says: str


# States

ContenderActivity = Literal[
    "starting",  # the process runs and is not connected yet
    "ready",  # connected, between two locks or two rounds
    "waits",  # for a lock
    "at-gate",  # for the command `go`
    "holds",
    "releases",
    "leaves",
]
ACTIVITY_AFTER: dict[StepKind, ContenderActivity] = {
    "waiting": "at-gate",
    "created": "waits",
    "decided": "waits",
    "watching": "waits",
    "acquired": "holds",
    "working": "holds",
    "releasing": "releases",
    "released": "ready",
    "gave-up": "ready",
    "failed": "ready",
    "lost": "ready",
    "ended": "leaves",
}


NO_LONGER_WAITING: frozenset[StepKind] = frozenset(
    ("created", "acquired", "gave-up", "released", "failed", "lost", "ended")
)


class Watched(Struct, frozen=True):
    """The watch that a contender has reported."""

    path: Text
    part: WatchedPart = "node"


class ContenderState(Struct, frozen=True):
    """One of our contenders, derived from its steps: what it believes, not ZooKeeper's state."""

    order: ContenderOrder
    pid: int
    activity: ContenderActivity = "starting"
    connection_loss: Literal["suspended", "lost"] | None = None
    frozen: bool = False
    session: Session | None = None
    holds: tuple[str, ...] = ()  # paths of the locks that it believes it holds
    watches: Watched | None = None  # while it waits
    last: ContenderStep | None = None
    exit_code: int | None = None  # of its process; a negative one is the signal that killed it
    last_words: Text = Text("")  # the last line of its stderr

    @property
    def name(self) -> str:
        return self.order.name

    @property
    def is_gone(self) -> bool:
        """True if its process has ended."""
        return self.exit_code is not None

    @property
    def state(self) -> str:
        """A short label for the state; the most serious condition takes precedence."""
        if self.exit_code is not None:
            return "ended" if self.exit_code >= 0 else f"killed by signal {-self.exit_code}"
        return "frozen" if self.frozen else self.connection_loss or self.activity

    @property
    def claim(self) -> LockClaim:
        """The lock that it asks for now, or the one that it acquired last."""
        return self.order.claims[min(len(self.holds), len(self.order.claims) - 1)]

    @property
    def path(self) -> str:
        return self.claim.path

    @property
    def mode(self) -> str:
        return self.claim.mode or ""

    @property
    def recipe(self) -> str:
        """The recipe, with the flaw in brackets if it has one."""
        flaw = f" ({self.claim.flaw})" if self.claim.flaw else ""
        return self.claim.recipe + flaw

    @property
    def says(self) -> str:
        """The last sentence that it reported."""
        return self.last_words or (self.last.says if self.last else "starting")

    def after(self, step: ContenderStep) -> Self:
        activity = ACTIVITY_AFTER.get(step.what, self.activity)
        if step.what == "connected":
            activity = "ready" if self.activity == "starting" else self.activity
            session = int(step.session, 16) if step.session else None
            return replace(
                self, activity=activity, connection_loss=None, session=session, last=step
            )
        loss = step.what if step.what in ("suspended", "lost") else self.connection_loss
        return replace(
            self,
            activity=activity,
            connection_loss=loss,
            holds=self._holds_after(step),
            watches=self._watches_after(step),
            last=step,
        )

    def after_exit(self, code: int, last_words: Text) -> Self:
        return replace(self, exit_code=code, last_words=last_words, holds=(), watches=None)

    def _holds_after(self, step: ContenderStep) -> tuple[str, ...]:
        match step.what:
            case "acquired" if step.lock:
                return (*self.holds, step.lock)
            case "releasing" if step.lock in self.holds:
                released = len(self.holds) - 1 - self.holds[::-1].index(step.lock)
                return self.holds[:released] + self.holds[released + 1 :]
            case "lost":
                return ()
        return self.holds

    def _watches_after(self, step: ContenderStep) -> Watched | None:
        """Return its current watch: a watch fires once, and only a waiter relies on one."""
        if step.what == "watching" and step.node:
            return Watched(step.node, step.watched)
        has_fired = self.watches and step.what == "notified" and step.node == self.watches.path
        return None if has_fired or step.what in NO_LONGER_WAITING else self.watches


ContenderAction = Literal["release", "cancel", "kill", "freeze", "thaw"]

# Recipes


class Flaw(Struct, frozen=True):
    """A mistake from real code that a recipe can make on request."""

    name: str
    does: str


class RecipeInfo(Struct, frozen=True):
    """A description of a recipe, and the modes and flaws that an order may request."""

    name: str
    source: str
    brief: str  # one short line, for a list of recipes
    story: str
    modes: tuple[Mode, ...] = ("exclusive",)
    flaws: tuple[Flaw, ...] = ()
    broken: str | None = None  # what is wrong with it even without a flaw
    joins: tuple[str, ...] = ()  # layouts of locks in which its contenders can queue up


# Scenes

CommandName = Literal["go", "release", "cancel", "kill", "freeze", "thaw", "cut"]


class StartContender(Struct, frozen=True, forbid_unknown_fields=True):
    """Starts a contender. The paths of its claims are names of locks in the scene's folder."""

    name: str
    claims: tuple[LockClaim, ...]
    work: WorkStyle = "hold"
    hold_s: float | None = None
    sleep_sessions: float = 0.0  # how long `oversleep` blocks, in session time-outs
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

    A move without actions only waits; steps reported before it count, too.
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


# Lessons


class LessonPart(Struct, frozen=True):
    """A scene of a lesson, and the counts expected at its end."""

    scene: str
    counted: str  # as a sentence of screen 6


class Lesson(Struct, frozen=True):
    """One or two scenes with a question; the answer is hidden until the user asks for it."""

    title: str
    about: str
    parts: tuple[LessonPart, ...]
    question: str
    answer: str
    look_at: tuple[str, str, str, str, str]  # what each of screens 1 to 5 shows of it


DepartureKind = Literal["released", "left", "died"]  # left: it was only waiting


class DemoDeparture(Struct, frozen=True):
    """A client that left a lock, and the clients that its departure woke."""

    contender: str
    lock: str
    how: DepartureKind
    woken: tuple[str, ...] = ()
    went_on: tuple[str, ...] = ()  # those that then acquired the lock
    is_latest: bool = True  # no client has joined or left the lock since


class SceneCount(Struct, frozen=True):
    """The counts of the loaded scene."""

    departures: tuple[DemoDeparture, ...] = ()  # in order
    # By lock: the largest group of clients that believed at the same time that they held it.
    believers: dict[str, tuple[str, ...]] = {}


class SceneLine(Struct, frozen=True):
    """One line of a scene's narration."""

    scene: str
    number: int  # of the move, from 1; 0 is the title
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
