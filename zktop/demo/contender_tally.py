"""A tally of the demo contenders: counts of their steps, their sessions, how they ended."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable

from zktop.demo.contender_processes import ContenderChange
from zktop.demo_types.contender_state import ContenderState, ContenderStep, StepKind
from zktop.model.facts import Session

MAX_ENDED_CONTENDERS = 100  # far more than a scene has
MAX_ENDED_SESSIONS = 64  # lost sessions, and those of ended contenders, which soon expire


class ContenderTally:
    """Filled by a process pool and read from any thread. Only `until` waits."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self.counts: dict[str, Counter[StepKind]] = defaultdict(Counter)  # by contender
        self.ended: dict[str, ContenderState] = {}
        self.our_sessions: tuple[Session, ...] = ()  # the same object until a session is added
        self._live_sessions: dict[str, Session] = {}
        self._sessions: dict[Session, None] = {}  # including those of recently ended contenders

    def add(self, change: ContenderChange) -> None:
        """Add a change reported by the process pool."""
        state = change.state
        with self._news:
            if state.is_gone:
                self._end(state)
            elif change.step:
                self.counts[state.name][change.step.what] += 1
                self._add_session(state, change.step)
            elif state.last is None:
                self._forget(state.name)
            self._news.notify_all()

    def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until a condition on this tally holds. Return False after a timeout."""
        with self._news:
            return self._news.wait_for(condition, within_s)

    def wake(self) -> None:
        """Make `until` check its condition again."""
        with self._news:
            self._news.notify_all()

    def all_counts(self) -> dict[str, Counter[StepKind]]:
        """Return how often each contender reported each kind of step."""
        with self._news:
            return {name: Counter(counts) for name, counts in self.counts.items()}

    def count(self, name: str, what: StepKind) -> int:
        """Return how often a contender reported this kind of step since it started."""
        with self._news:
            return self.counts[name][what] if name in self.counts else 0

    def _forget(self, name: str) -> None:
        self.ended.pop(name, None)
        self.counts.pop(name, None)

    def _end(self, state: ContenderState) -> None:
        self._live_sessions.pop(state.name, None)
        self.ended[state.name] = state
        if len(self.ended) > MAX_ENDED_CONTENDERS:
            self._forget(next(iter(self.ended)))

    def _add_session(self, state: ContenderState, step: ContenderStep) -> None:
        if step.what != "connected" or not state.session:
            return
        self._live_sessions[state.name] = state.session
        self._sessions[state.session] = None
        live = set(self._live_sessions.values())
        if len(self._sessions) > len(live) + MAX_ENDED_SESSIONS:
            del self._sessions[next(session for session in self._sessions if session not in live)]
        # A tuple, because every report keeps one, and a set takes ten times the memory.
        self.our_sessions = tuple(self._sessions)
