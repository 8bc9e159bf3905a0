"""The Python article's sample, which sorts whole names, so that `read-` comes before `write-`."""

from zktop.demo.bell import Patience
from zktop.demo.recipes.recipe import Flaw, PlaceLostError, QueueRecipe

SPIN = Flaw(
    "spin",
    "a waiting writer asks again without waiting for anything: thousands of requests a second",
)


class NaiveReadWrite(QueueRecipe):
    """Sort the names and look who is first: broken, and here to show how."""

    name = "rw-naive"
    source = "article 4, Python on kazoo: read- and write- nodes, sorted by name"
    brief = "BROKEN: whole names are sorted, so readers come first"
    creates = "an ephemeral read-<number> or write-<number> node below the lock"
    lists = "the queue, and again whenever it is woken"
    decides = (
        "a reader goes in unless the first of all names is a writer's, a writer when its own name "
        "is first; but read- sorts before write-"
    )
    watches = "the first of all names (exists)"
    modes = ("read", "write")
    flaws = (SPIN,)
    broken = (
        "it sorts whole names, so every reader believes that it is before every writer, "
        "and goes in while a writer holds the lock"
    )
    pattern = "read-|write-"

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait until the names say that it is our turn."""
        patience = Patience(timeout)
        me = self._join(f"{self.mode}-")
        while (first := self._sorted(me)[0]) != me and self._excluded_by(first):
            self._decide(f"{first} sorts before {me}")
            if not self._came_back(first, patience):
                return self._gave_up()
        self._decide(f"no name that matters sorts before {me}")
        return self._got()

    def _sorted(self, me: str) -> list[str]:
        names = sorted(self._queue())
        if me not in names or self.lost:
            raise PlaceLostError
        return names

    def _excluded_by(self, first: str) -> bool:
        return self.mode == "write" or first.startswith("write-")

    def _came_back(self, first: str, patience: Patience) -> bool:
        if self._has_flaw(SPIN):
            self.client.bell.check()
            return not patience.over
        return not self._watch_if_there(first) or self._wait(patience)
