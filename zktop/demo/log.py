"""What the hands have told so far, and waiting for what they shall tell.

How a contender of the crew stands: folded from what it has told, one step after the other.
"""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from zktop.demo.messages import ContenderOrder, ContenderStep, LockClaim, StepKind
from zktop.demo.processes import (
    ContenderEnded,
    ContenderFroze,
    ContenderStarted,
    PoolEvent,
    StepReported,
)
from zktop.model.facts import Session

ContenderActivity = Literal[
    "starting",  # its process runs, and is not connected yet
    "ready",  # connected, between two locks or two rounds
    "waits",  # for a lock
    "at-gate",  # for the word to ask for its next lock
    "holds",  # everything that it wants
    "releases",
    "leaves",
]
LostConnection = Literal["suspended", "lost"]
StateWord = Literal[ContenderActivity, LostConnection, "frozen"]

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


class ContenderState(Struct, frozen=True):
    """One living contender, as far as it has told."""

    name: str
    pid: int
    order: ContenderOrder
    doing: ContenderActivity = "starting"
    cut: LostConnection | None = None  # what it knows of a connection that is gone
    frozen: bool = False
    session: Session | None = None
    holds: tuple[str, ...] = ()  # the paths of the locks that it believes to hold
    last: ContenderStep | None = None  # what it said last

    @property
    def state(self) -> StateWord:
        """Give what matters most about it in one word."""
        return "frozen" if self.frozen else self.cut or self.doing

    @property
    def claim(self) -> LockClaim:
        """What it asks for now, or was given last."""
        return self.order.claims[min(len(self.holds), len(self.order.claims) - 1)]

    @property
    def says(self) -> str:
        """Its last words."""
        return self.last.says if self.last else "starting"

    def after(self, step: ContenderStep) -> Self:
        """Give how it stands once it has told this."""
        doing = ACTIVITY_AFTER.get(step.what, self.doing)
        if step.what == "connected":
            doing = "ready" if self.doing == "starting" else self.doing
            session = int(step.session, 16) if step.session else None
            return replace(self, doing=doing, cut=None, session=session, last=step)
        cut = step.what if step.what in ("suspended", "lost") else self.cut
        return replace(self, doing=doing, cut=cut, holds=self._holds_after(step), last=step)

    def _holds_after(self, step: ContenderStep) -> tuple[str, ...]:
        match step.what:
            case "acquired" if step.lock:
                return (*self.holds, step.lock)
            case "releasing" if step.lock in self.holds:
                given = len(self.holds) - 1 - self.holds[::-1].index(step.lock)
                return self.holds[:given] + self.holds[given + 1 :]
            case "lost":
                return ()
        return self.holds


MAX_STEPS = 10_000  # steps
MAX_ENDED = 1_000  # of contenders that have ended
MAX_ENDED_SESSIONS = 64  # of theirs, as many as live at a time: what outlives them expires soon


class ContenderLog:
    """Fed by a crew, read by anybody from any thread; only `until` waits.

    A belief is not a fact of ZooKeeper's: it is what a contender said, between `acquired` and
    whatever ended it. Two believers of one exclusive lock are what the flawed recipes are about.
    """

    def __init__(self, remembered: int = MAX_STEPS, names: int = MAX_ENDED) -> None:
        """Know nothing yet."""
        self._names = names
        self._news = threading.Condition()
        self.steps: deque[ContenderStep] = deque(maxlen=remembered)
        self.latest: dict[str, ContenderStep] = {}
        self.told: dict[str, Counter[StepKind]] = defaultdict(Counter)
        self.requests: dict[str, int] = {}
        self.ended: dict[str, ContenderEnded] = {}
        self.ours: tuple[Session, ...] = ()  # the same object until there is a new one
        self._standings: dict[str, ContenderState] = {}
        self._sessions: dict[Session, str] = {}
        self._believing: dict[str, frozenset[str]] = {}
        self._most: dict[str, frozenset[str]] = {}

    def hear(self, event: PoolEvent) -> None:
        """Take in what a crew tells."""
        with self._news:
            match event:
                case ContenderStarted():
                    self._forget(event.name)
                    standing = ContenderState(event.name, event.pid, event.order)
                    self._standings[event.name] = standing
                case StepReported():
                    self._heard(event.step)
                    self._stands(event)
                case ContenderFroze():
                    standing = self._standings[event.name]
                    self._standings[event.name] = replace(standing, frozen=event.frozen)
                case ContenderEnded():
                    self._bury(event)
            self._news.notify_all()

    def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until a condition on this chronicle holds; False when it did not in time."""
        with self._news:
            return self._news.wait_for(condition, within_s)

    def standings(self) -> tuple[ContenderState, ...]:
        """Give how everybody stands who lives, in the order of hiring."""
        with self._news:
            return tuple(self._standings.values())

    def sessions(self) -> dict[Session, str]:
        """Give whose the sessions are, also of those who ended lately: they may live on."""
        with self._news:
            return dict(self._sessions)

    def last(self, count: int) -> tuple[ContenderStep, ...]:
        """Give the newest steps of all, the oldest of them first."""
        with self._news:
            return tuple(self.steps)[-count:] if count else ()

    def tally(self) -> dict[str, Counter[StepKind]]:
        """Give what everybody has told so far, and how often."""
        with self._news:
            return {name: Counter(told) for name, told in self.told.items()}

    def poke(self) -> None:
        """Have every waiting condition looked at again."""
        with self._news:
            self._news.notify_all()

    def believers(self, lock: str) -> frozenset[str]:
        """Who thinks that it holds this lock now."""
        return self._believing.get(lock, frozenset())

    def most_believers(self, lock: str) -> frozenset[str]:
        """Give the largest set of contenders who thought so at the same time."""
        return self._most.get(lock, frozenset())

    def count(self, name: str, what: StepKind) -> int:
        """How often a contender told this since it was hired."""
        with self._news:
            return self.told[name][what] if name in self.told else 0

    def _forget(self, name: str) -> None:
        """Somebody of this name starts anew."""
        for known in (self.ended, self.told, self.latest, self.requests):
            known.pop(name, None)

    def _bury(self, event: ContenderEnded) -> None:
        self._standings.pop(event.name, None)
        self._disbelieve(event.name)
        self.ended[event.name] = event
        if len(self.ended) > self._names:
            self._forget(next(iter(self.ended)))

    def _stands(self, event: StepReported) -> None:
        if (before := self._standings.get(event.name)) is None:
            return
        self._standings[event.name] = standing = before.after(event.step)
        if event.step.what == "connected" and standing.session:
            self._sessions[standing.session] = event.name
            if len(self._sessions) > len(self._standings) + MAX_ENDED_SESSIONS:
                del self._sessions[next(filter(self._is_over, self._sessions))]
            self.ours = tuple(self._sessions)  # in many reports: a set takes ten times the room

    def _is_over(self, session: Session) -> bool:
        standing = self._standings.get(self._sessions[session])
        return standing is None or standing.session != session

    def _heard(self, step: ContenderStep) -> None:
        self.steps.append(step)
        self.latest[step.who] = step
        self.told[step.who][step.what] += 1
        self.requests[step.who] = step.requests
        if step.what == "acquired" and step.lock:
            now = self.believers(step.lock) | {step.who}
            self._believing[step.lock] = now
            if len(now) > len(self.most_believers(step.lock)):
                self._most[step.lock] = now
        elif step.what == "releasing" and step.lock:
            self._believing[step.lock] = self.believers(step.lock) - {step.who}
        elif step.what == "lost":
            self._disbelieve(step.who)

    def _disbelieve(self, name: str) -> None:
        self._believing = {lock: who - {name} for lock, who in self._believing.items()}
