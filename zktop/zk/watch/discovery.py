"""Finds locks in a tree that also serves other things, without watching all of it.

A root such as `/**`, or no root at all, is not watched at `/`: that would bring us every change of
everybody. The tree is walked by names alone, within a budget, and then the narrowest parents that
hold locks are watched. Now and then it is walked again, to find locks in new places.
"""

from collections.abc import Callable, Sequence

from zktop.model.facts import join, split
from zktop.zk.read.reader import Answer, Item, Reader, Result
from zktop.zk.read.requests import GET_CHILDREN
from zktop.zk.watch.observer import Observer
from zktop.zk.watch.scope import Reach, Scope, looks_like_a_place

AGAIN_S = 30.0  # between two walks of a large tree ...
SOONER_S = 2.0  # ... and of a small one, which costs next to nothing
WALKED_PER_S = 50  # on average: a tree of a hundred znodes is walked every other second
MOST_WALKED = 200_000  # znodes of one walk
MOST_CHILDREN = 10_000  # of one znode that is no lock: more, and it is a table of data
STEP = 500
FLOOD_PER_S = 5_000

LooksLikeALock = Callable[[str, Sequence[str]], bool]


def might_be_a_lock(path: str, names: Sequence[str]) -> bool:
    """Tell whether it is worth reading: someone has a place in it, or it is called like a lock.

    What is read in vain costs little; what it is, the model decides.

    >>> might_be_a_lock("/app/leader", ()), might_be_a_lock("/app/config", ("a", "b"))
    (True, False)
    """
    if any(map(looks_like_a_place, names)):
        return True
    from zktop.model.layouts.site import is_lockish  # noqa: PLC0415  where roots are not named

    return is_lockish(split(path)[1])


class Discovery:
    """Walks for the wide roots and hands what it finds to the observer."""

    def __init__(
        self,
        reader: Reader,
        observer: Observer,
        roots: Sequence[Reach],
        looks_like_a_lock: LooksLikeALock,
        items_per_s: int,
    ) -> None:
        self._reader, self._observer, self._roots = reader, observer, roots
        self._looks_like_a_lock = looks_like_a_lock
        self._items_per_s = items_per_s
        self._watched: dict[str, Scope] = {}
        self._ahead: list[str] = []
        self._walked = 0
        self._turn = -1
        self._found: dict[str, list[str]] = {}  # parent -> locks in it
        self._children: dict[str, int] = {}  # parent -> how many children it has
        self.walks = 0
        self.cut_short = False

    @property
    def done_once(self) -> bool:
        """Tell whether the whole tree, or what the budget allows of it, was walked."""
        return not self._roots or self.walks > 0

    def take_over(self, reach: Reach) -> None:
        """Look for the locks of a root whose watch brought too much of other things."""
        self._roots = [*self._roots, reach]
        if len(self._roots) == 1:
            self.start()

    def start(self) -> None:
        """Begin a walk on a new connection."""
        if self._roots:
            self._turn = self._reader.turn
            self._walk(self._turn)

    def _walk(self, turn: int) -> None:
        if turn != self._turn:
            return
        self._found, self._children, self._walked = {}, {}, 0
        self.cut_short = False
        self._ahead = ["/"]
        self._step(turn)

    def _step(self, turn: int) -> None:
        if turn != self._turn:
            return
        if not self._ahead or self._walked >= MOST_WALKED:
            self._finish(turn)
            return
        step, self._ahead = self._ahead[:STEP], self._ahead[STEP:]
        self._walked += len(step)
        waiting = [len(step)]

        def listed(batch: Sequence[Item], results: list[Result], _answer: Answer) -> None:
            for (_, path), names in zip(batch, results, strict=True):
                if not isinstance(names, int):
                    self._look_at(path, names)
            waiting[0] -= len(batch)
            if waiting[0] == 0:
                self._go_on(turn, len(step))

        self._reader.read([(GET_CHILDREN, path) for path in step], listed)

    def _go_on(self, turn: int, walked: int) -> None:
        """Walk at once the first time; later no faster than the budget for requests."""
        pause = walked / self._items_per_s if self.walks else 0.0
        self._reader.stream.after(pause, self._step, turn)

    def _look_at(self, path: str, names: Sequence[str]) -> None:
        if path != "/" and self._is_lock(path, names):
            self._found.setdefault(split(path)[0], []).append(path)
            return
        self._children[path] = len(names)
        if len(names) > MOST_CHILDREN:
            self.cut_short = True
            return
        below = (join(path, name) for name in names if not looks_like_a_place(name))
        self._ahead.extend(one for one in below if any(root.covers(one) for root in self._roots))

    def _is_lock(self, path: str, names: Sequence[str]) -> bool:
        for root in self._roots:
            if root.matches(path) and (not root.loose or self._looks_like_a_lock(path, names)):
                return True
        return False

    def _finish(self, turn: int) -> None:
        self.walks += 1
        self.cut_short = self.cut_short or bool(self._ahead)
        chosen = set(_narrowest(self._found, self._children))
        for root in chosen - self._watched.keys():
            scope = self._observer.add(Reach(root), flood_per_s=FLOOD_PER_S)
            if scope is not None:
                self._watched[root] = scope
        for root in self._watched.keys() - chosen:
            if self._watched[root].base not in self._observer.survey.branches:
                self._observer.drop(self._watched.pop(root))
        pause = min(AGAIN_S, max(SOONER_S, self._walked / WALKED_PER_S))
        self._reader.stream.after(pause, self._walk, turn)


def _narrowest(found: dict[str, list[str]], children: dict[str, int]) -> list[str]:
    """Choose what to watch: a parent that holds mostly locks, else each lock by itself."""
    chosen: list[str] = []
    for parent, locks in found.items():
        if parent != "/" and 2 * len(locks) > children.get(parent, 0):
            chosen.append(f"{parent}/*")
        else:
            chosen.extend(locks)
    return chosen
