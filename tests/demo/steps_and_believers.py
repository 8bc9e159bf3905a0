"""A tally that also keeps every step, and the locks that each contender believes it holds.

What a contender believes is not what ZooKeeper knows: with some flaws, two contenders believe at
the same time that they hold an exclusive lock.
"""

from zktop.demo.contender_processes import ContenderChange
from zktop.demo.contender_tally import ContenderTally
from zktop.demo_types.contender_state import ContenderStep
from zktop.model.facts import Session


class FullLog(ContenderTally):
    """A tally for tests; `until` may wait for anything in it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[ContenderStep] = []
        self.requests: dict[str, int] = {}  # by contender
        self.sessions: dict[Session, str] = {}
        self._holds: dict[str, tuple[str, ...]] = {}
        self._most: dict[str, frozenset[str]] = {}

    def add(self, change: ContenderChange) -> None:
        """Add a change that the pool reports."""
        state, step = change.state, change.step
        with self._news:
            self._holds[state.name] = state.holds
            if state.session:
                self.sessions[state.session] = state.name
            for lock in state.holds:
                self._most[lock] = max(self.most_believers(lock), self.believers(lock), key=len)
            if step:
                self.steps.append(step)
                self.requests[step.contender] = step.requests
            super().add(change)

    def believers(self, lock: str) -> frozenset[str]:
        """The contenders that believe now that they hold this lock."""
        return frozenset(name for name, holds in self._holds.items() if lock in holds)

    def most_believers(self, lock: str) -> frozenset[str]:
        """The largest set of contenders that believed at one time that they held this lock."""
        return self._most.get(lock, frozenset())
