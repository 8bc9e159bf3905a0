"""What the hands have told so far, and waiting for what they shall tell."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable

from zktop.demo.hand import Ended, Event, Hired, Told
from zktop.demo.narration import Step, What

REMEMBERED = 10_000  # steps


class Chronicle:
    """Fed by a crew, read by anybody.

    A belief is not a fact of ZooKeeper's: it is what a contender said, between `acquired` and
    whatever ended it. Two believers of one exclusive lock are what the flawed recipes are about.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._news = threading.Condition()
        self.steps: deque[Step] = deque(maxlen=REMEMBERED)
        self.latest: dict[str, Step] = {}
        self.told: dict[str, Counter[What]] = defaultdict(Counter)
        self.requests: dict[str, int] = {}
        self.ended: dict[str, Ended] = {}
        self._believing: dict[str, set[str]] = defaultdict(set)
        self._most: dict[str, frozenset[str]] = {}

    def hear(self, event: Event) -> None:
        """Take in what a crew tells."""
        with self._news:
            match event:
                case Hired():
                    self._forget(event.name)
                case Told():
                    self._heard(event.step)
                case Ended():
                    self.ended[event.name] = event
                    self._disbelieve(event.name)
            self._news.notify_all()

    def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until a condition on this chronicle holds; False when it did not in time."""
        with self._news:
            return self._news.wait_for(condition, within_s)

    def tally(self) -> dict[str, Counter[What]]:
        """Give what everybody has told so far, and how often."""
        with self._news:
            return {name: Counter(told) for name, told in self.told.items()}

    def poke(self) -> None:
        """Have every waiting condition looked at again."""
        with self._news:
            self._news.notify_all()

    def believers(self, lock: str) -> frozenset[str]:
        """Who thinks that it holds this lock now."""
        return frozenset(self._believing[lock])

    def most_believers(self, lock: str) -> frozenset[str]:
        """Give the largest set of contenders who thought so at the same time."""
        return self._most.get(lock, frozenset())

    def count(self, name: str, what: What) -> int:
        """How often a contender told this since it was hired."""
        return self.told[name][what]

    def _forget(self, name: str) -> None:
        """Somebody of this name starts anew."""
        for known in (self.ended, self.told, self.latest, self.requests):
            known.pop(name, None)

    def _heard(self, step: Step) -> None:
        self.steps.append(step)
        self.latest[step.who] = step
        self.told[step.who][step.what] += 1
        self.requests[step.who] = step.requests
        if step.what == "acquired" and step.lock:
            self._believing[step.lock].add(step.who)
            if len(now := frozenset(self._believing[step.lock])) > len(
                self.most_believers(step.lock)
            ):
                self._most[step.lock] = now
        elif step.what == "releasing" and step.lock:
            self._believing[step.lock].discard(step.who)
        elif step.what == "lost":
            self._disbelieve(step.who)

    def _disbelieve(self, name: str) -> None:
        for believing in self._believing.values():
            believing.discard(name)
