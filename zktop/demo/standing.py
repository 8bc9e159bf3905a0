"""How a contender of the crew stands: folded from what it has told, one step after the other."""

from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from zktop.demo.narration import Step, What
from zktop.demo.order import Claim, Order
from zktop.model.facts import Session

Doing = Literal[
    "starting",  # its process runs, and is not connected yet
    "ready",  # connected, between two locks or two rounds
    "waits",  # for a lock
    "at-gate",  # for the word to ask for its next lock
    "holds",  # everything that it wants
    "releases",
    "leaves",
]
Cut = Literal["suspended", "lost"]
State = Literal[Doing, Cut, "frozen"]

DOES: dict[What, Doing] = {
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


class Standing(Struct, frozen=True):
    """One living contender, as far as it has told."""

    name: str
    pid: int
    order: Order
    doing: Doing = "starting"
    cut: Cut | None = None  # what it knows of a connection that is gone
    frozen: bool = False
    session: Session | None = None
    holds: tuple[str, ...] = ()  # the paths of the locks that it believes to hold
    last: Step | None = None  # what it said last

    @property
    def state(self) -> State:
        """Give what matters most about it in one word."""
        return "frozen" if self.frozen else self.cut or self.doing

    @property
    def claim(self) -> Claim:
        """What it asks for now, or was given last."""
        return self.order.claims[min(len(self.holds), len(self.order.claims) - 1)]

    @property
    def says(self) -> str:
        """Its last words."""
        return self.last.says if self.last else "starting"

    def after(self, step: Step) -> Self:
        """Give how it stands once it has told this."""
        doing = DOES.get(step.what, self.doing)
        if step.what == "connected":
            doing = "ready" if self.doing == "starting" else self.doing
            session = int(step.session, 16) if step.session else None
            return replace(self, doing=doing, cut=None, session=session, last=step)
        cut = step.what if step.what in ("suspended", "lost") else self.cut
        return replace(self, doing=doing, cut=cut, holds=self._holds_after(step), last=step)

    def _holds_after(self, step: Step) -> tuple[str, ...]:
        match step.what:
            case "acquired" if step.lock:
                return (*self.holds, step.lock)
            case "releasing" if step.lock in self.holds:
                given = len(self.holds) - 1 - self.holds[::-1].index(step.lock)
                return self.holds[:given] + self.holds[given + 1 :]
            case "lost":
                return ()
        return self.holds
