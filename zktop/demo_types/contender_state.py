"""The steps that a contender reports, and its state after each, in words."""

from typing import Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.model.facts import Millis, Session
from zktop.model.text import Text

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
    "children",  # ZooKeeper does not list such watches
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
    requests: int = 0  # lock requests that this contender has sent so far
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


ConnectionLoss = Literal["suspended", "lost"]
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
    """A contender as its own steps describe it: what it believes, not ZooKeeper's state."""

    order: ContenderOrder
    activity: ContenderActivity = "starting"
    connection_loss: ConnectionLoss | None = None
    frozen: bool = False
    session: Session | None = None
    holds: tuple[str, ...] = ()  # paths of the locks that it believes it holds
    watches: Watched | None = None  # while it waits
    last: ContenderStep | None = None
    exit_code: int | None = None  # of its process. If negative, the signal that killed it.
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
        """A short label for the state. The most serious condition takes precedence."""
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
                latest = len(self.holds) - 1 - self.holds[::-1].index(step.lock)
                return self.holds[:latest] + self.holds[latest + 1 :]
            case "lost":
                return ()
        return self.holds

    def _watches_after(self, step: ContenderStep) -> Watched | None:
        """Return its current watch. A watch fires only once, and only a waiter relies on one."""
        if step.what == "watching" and step.node:
            return Watched(step.node, step.watched)
        has_fired = self.watches and step.what == "notified" and step.node == self.watches.path
        return None if has_fired or step.what in NO_LONGER_WAITING else self.watches


ContenderAction = Literal["release", "cancel", "kill", "freeze", "thaw"]
