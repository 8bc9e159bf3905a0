"""Log of what demo contenders report: steps, locks they believe to hold, ends."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable

from zktop.demo.processes import ContenderChange
from zktop.demo_types import ContenderState, ContenderStep, StepKind
from zktop.model.facts import Session

MAX_STEPS = 10_000
MAX_ENDED = 1_000  # contenders
MAX_ENDED_SESSIONS = 64  # as many as live at a time: a session that outlives its process is short


class ContenderLog:
    """Fed by a process pool, read from any thread; only `until` waits.

    What a contender believes is not what ZooKeeper knows: it believes to hold a lock between its
    step `acquired` and the end of that. Two believers of one exclusive lock are what the recipes
    with flaws show.
    """

    def __init__(self, max_steps: int = MAX_STEPS, max_ended: int = MAX_ENDED) -> None:
        self._max_ended = max_ended
        self._news = threading.Condition()
        self.steps: deque[ContenderStep] = deque(maxlen=max_steps)
        self.counts: dict[str, Counter[StepKind]] = defaultdict(Counter)  # by contender
        self.requests: dict[str, int] = {}
        self.ended: dict[str, ContenderState] = {}
        self.our_sessions: tuple[Session, ...] = ()  # the same object until there is a new one
        self._live_sessions: dict[str, Session] = {}
        self._sessions: dict[Session, str] = {}
        self._believing: dict[str, frozenset[str]] = {}
        self._most: dict[str, frozenset[str]] = {}

    def add(self, change: ContenderChange) -> None:
        """Take in what the process pool reports."""
        state = change.state
        with self._news:
            if state.is_gone:
                self._end(state)
            elif change.step:
                self._add_step(change.step)
                self._add_session(state, change.step)
            elif state.last is None:
                self._forget(state.name)
            self._news.notify_all()

    def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until a condition on this log holds; False after a time-out."""
        with self._news:
            return self._news.wait_for(condition, within_s)

    def wake(self) -> None:
        """Make `until` check its condition again."""
        with self._news:
            self._news.notify_all()

    def sessions(self) -> dict[Session, str]:
        """Contenders by session; also those that ended lately, whose sessions may live on."""
        with self._news:
            return dict(self._sessions)

    def all_counts(self) -> dict[str, Counter[StepKind]]:
        """How often each contender reported each kind of step."""
        with self._news:
            return {name: Counter(counts) for name, counts in self.counts.items()}

    def count(self, name: str, what: StepKind) -> int:
        """How often a contender reported this kind of step since it started."""
        with self._news:
            return self.counts[name][what] if name in self.counts else 0

    def believers(self, lock: str) -> frozenset[str]:
        """The contenders that believe to hold this lock now."""
        return self._believing.get(lock, frozenset())

    def most_believers(self, lock: str) -> frozenset[str]:
        """The largest set of contenders that believed so at the same time."""
        return self._most.get(lock, frozenset())

    def _forget(self, name: str) -> None:
        """Forget an earlier contender of this name."""
        for known in (self.ended, self.counts, self.requests):
            known.pop(name, None)

    def _end(self, state: ContenderState) -> None:
        self._live_sessions.pop(state.name, None)
        self._stop_believing(state.name)
        self.ended[state.name] = state
        if len(self.ended) > self._max_ended:
            self._forget(next(iter(self.ended)))

    def _add_session(self, state: ContenderState, step: ContenderStep) -> None:
        if step.what != "connected" or not state.session:
            return
        self._live_sessions[state.name] = state.session
        self._sessions[state.session] = state.name
        live = set(self._live_sessions.values())
        if len(self._sessions) > len(live) + MAX_ENDED_SESSIONS:
            del self._sessions[next(one for one in self._sessions if one not in live)]
        # A tuple, because every report keeps one and a set takes ten times the memory.
        self.our_sessions = tuple(self._sessions)

    def _add_step(self, step: ContenderStep) -> None:
        self.steps.append(step)
        self.counts[step.who][step.what] += 1
        self.requests[step.who] = step.requests
        if step.what == "acquired" and step.lock:
            now = self.believers(step.lock) | {step.who}
            self._believing[step.lock] = now
            if len(now) > len(self.most_believers(step.lock)):
                self._most[step.lock] = now
        elif step.what == "releasing" and step.lock:
            self._believing[step.lock] = self.believers(step.lock) - {step.who}
        elif step.what == "lost":
            self._stop_believing(step.who)

    def _stop_believing(self, name: str) -> None:
        self._believing = {lock: names - {name} for lock, names in self._believing.items()}
