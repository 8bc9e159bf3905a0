"""What a scene is made of: moves with narration, what to look at, and how it must end, as data."""

from typing import Literal

from msgspec import Struct, convert, structs

from zktop.demo.messages import ClientSettings, ContenderOrder, LockClaim, StepKind, WorkStyle

CommandName = Literal["go", "release", "cancel", "kill", "freeze", "thaw", "cut"]
DeadlockKind = Literal["cycle", "fairness", "knot", "upgrade", "upgraders", "watches", "election"]


class StartContender(Struct, frozen=True, forbid_unknown_fields=True):
    """A contender enters. The paths of its claims are names of locks in the scene's folder."""

    name: str
    claims: tuple[LockClaim, ...]
    work: WorkStyle = "hold"
    hold_s: float | None = None
    sleep_sessions: float = 0.0  # how long it stands still, in session time-outs
    rounds: int = 1
    pause_s: float = 0.0

    def order(self, folder: str, root: str, connection: ClientSettings) -> ContenderOrder:
        """Give the order for a contender in this folder."""
        return ContenderOrder(
            self.name,
            tuple(_below(folder, claim) for claim in self.claims),
            connection,
            work=self.work,
            hold_s=self.hold_s,
            sleep_s=self.sleep_sessions * connection.session_timeout_s,
            rounds=self.rounds,
            pause_s=self.pause_s,
            root=root,
        )


class CommandContender(Struct, frozen=True):
    """A contender is told something, or something is done to it."""

    name: str
    command: CommandName
    seconds: float = 0.0  # for a cut


class ExpectedStep(Struct, frozen=True):
    """What a contender has to tell during a move, and how often, before the next one comes."""

    name: str
    what: StepKind
    times: int = 1
    ever: bool = False  # it counts since the contender came: time brings it, perhaps early


class SceneMove(Struct, frozen=True):
    """One step of a scene."""

    says: str
    acts: tuple[StartContender | CommandContender, ...] = ()
    until: tuple[ExpectedStep, ...] = ()
    ended: tuple[str, ...] = ()  # contenders whose processes are gone before the next move
    together: bool = False  # contenders come all at once: their order is of no consequence
    rest_s: float = 0.0  # nothing happens for so long before it: seen idle, one is known to be


class ExpectedQueue(Struct, frozen=True):
    """Who holds and who waits, by contenders' names, in the order of the queue."""

    holders: tuple[str, ...] = ()
    waiters: tuple[str, ...] = ()


class SceneEnd(Struct, frozen=True):
    """How a scene ends: what a snapshot has to show, and what the contenders think.

    `findings` are there once their thresholds have passed, beside others perhaps; `deadlocks` are
    all there are. `believed` are the most contenders who thought at one time that they held the
    lock; it is given where that is not what the queue says. `woken` is how many contenders the
    last move notified.
    """

    locks: dict[str, ExpectedQueue] = {}
    deadlocks: tuple[DeadlockKind, ...] = ()
    findings: tuple[str, ...] = ()
    believed: dict[str, tuple[str, ...]] = {}
    woken: dict[str, int] = {}
    busy: tuple[str, ...] = ()  # contenders that ask the server without end


class Scene(Struct, frozen=True):
    """Contenders, steps and narration that set up one teachable situation."""

    name: str
    title: str
    teaches: str
    moves: tuple[SceneMove, ...]
    look_at: str
    end: SceneEnd


def contends(
    name: str, recipe: str, lock: str, mode: object = None, **options: object
) -> StartContender:
    """Hire one who wants one lock; what is no part of a claim belongs to the contender."""
    own = {key: options.pop(key) for key in StartContender.__struct_fields__ if key in options}
    claim = {"recipe": recipe, "path": lock, "mode": mode} | options
    return convert({"name": name, "claims": (claim,)} | own, StartContender)


def first(*hires: StartContender) -> SceneMove:
    """Have contenders enter, each of whom gets what it wants at once."""
    names = _list([hire.name for hire in hires])
    return SceneMove(
        f"{names} {_wishes(hires[0], len(hires))}, and {'has' if len(hires) == 1 else 'have'} it",
        hires,
        tuple(ExpectedStep(hire.name, "acquired") for hire in hires),
    )


def behind(hire: StartContender, says: str | None = None) -> SceneMove:
    """Have a contender enter who has to wait."""
    what: StepKind = "decided" if hire.claims[0].recipe == "poll" else "watching"
    says = says or f"{hire.name} {_wishes(hire)}, and has to wait"
    return SceneMove(says, (hire,), (ExpectedStep(hire.name, what),))


def _wishes(hire: StartContender, number: int = 1) -> str:
    claim = hire.claims[0]
    to = {"read": "to read", "write": "to write"}.get(claim.mode or "", "for")
    return f"{'asks' if number == 1 else 'ask'} {to} {claim.path}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _below(folder: str, claim: LockClaim) -> LockClaim:
    return structs.replace(claim, path=f"{folder}/{claim.path}")
