"""Finds locks in a tree that also holds other data, without watching all of it.

A root such as `/**`, or no root at all, is not watched at `/`: that would deliver every change of
every application. Discovery walks the tree by names alone, within a budget, and then watches the
narrowest parents that hold locks. It walks again from time to time to find locks in new places.
"""

from collections.abc import Callable, Iterator, Sequence

from zktop.model.facts import join, split
from zktop.model.layouts.lock_site import is_lockish
from zktop.zk.read.requests import GET_CHILDREN, NO_AUTH
from zktop.zk.read.requests_in_flight import Answer, Item, Reader, Result
from zktop.zk.watch.root_pattern import RootPattern, WatchedRoot, looks_like_a_member
from zktop.zk.watch.root_watcher import RootWatcher

WALK_EVERY_S = 30.0  # between two walks of a large tree
SMALL_WALK_EVERY_S = 2.0  # of a small tree
WALKED_PER_S = 50  # average znodes per second over time
MAX_WALKED_ZNODES = 200_000  # znodes of one walk
MAX_CHILDREN = 10_000  # of a folder that is not a lock; larger ones hold data
STEP_ZNODES = 500
FLOOD_PER_S = 5_000

LooksLikeALock = Callable[[str, Sequence[str]], bool]


def might_be_a_lock(path: str, names: Sequence[str]) -> bool:
    """True if a znode is worth reading: it has members of a queue, or is named like a lock.

    A useless read costs little; the model decides what it is.

    >>> might_be_a_lock("/app/leader", ()), might_be_a_lock("/app/config", ("a", "b"))
    (True, False)
    """
    if any(map(looks_like_a_member, names)):
        return True
    return is_lockish(split(path)[1])


class Discovery:
    """Walks the wide roots and adds the locks that it finds to the watcher."""

    def __init__(
        self,
        reader: Reader,
        watcher: RootWatcher,
        roots: Sequence[RootPattern],
        looks_like_a_lock: LooksLikeALock,
        items_per_s: int,
    ) -> None:
        self._reader, self._watcher, self._roots = reader, watcher, roots
        self._looks_like_a_lock = looks_like_a_lock
        self._items_per_s = items_per_s
        self._watched: dict[str, WatchedRoot] = {}
        self._ahead: list[str] = []
        self._walked = 0
        self._connection_number = -1
        self._found: dict[str, list[str]] = {}  # locks by parent
        self._children: dict[str, int] = {}  # number of children by parent
        self.walks = 0
        self.cut_short = False
        self._denied: list[str] = []  # folders of this walk that may not be listed
        self.denied: tuple[str, ...] = ()  # of the last whole walk

    @property
    def done_once(self) -> bool:
        """True after one walk of the whole tree, or as much of it as the budget allows."""
        return not self._roots or self.walks > 0

    def sentences(self) -> Iterator[str]:
        """Say what the walks leave out, and what would change that."""
        if self.cut_short:
            yield "the search for locks leaves out the largest folders: give --root"
        if self.denied:
            first, more = self.denied[0], len(self.denied) - 1
            rest = f" and {more} more" if more else ""
            yield f"the search for locks may not list {first}{rest}: give --auth"

    def take_over(self, pattern: RootPattern) -> None:
        """Find the locks of a root whose watch delivered too many other events."""
        self._roots = [*self._roots, pattern]
        if len(self._roots) == 1:
            self.start()

    def start(self) -> None:
        """Begin a walk on a new connection."""
        if self._roots:
            self._connection_number = self._reader.connection_number
            self._walk(self._connection_number)

    def _walk(self, connection_number: int) -> None:
        if connection_number != self._connection_number:
            return
        self._found, self._children, self._walked, self._denied = {}, {}, 0, []
        self.cut_short = False
        self._ahead = ["/"]
        self._step(connection_number)

    def _step(self, connection_number: int) -> None:
        if connection_number != self._connection_number:
            return
        if not self._ahead or self._walked >= MAX_WALKED_ZNODES:
            self._finish(connection_number)
            return
        step, self._ahead = self._ahead[:STEP_ZNODES], self._ahead[STEP_ZNODES:]
        self._walked += len(step)
        waiting = [len(step)]

        def listed(batch: Sequence[Item], results: list[Result], _answer: Answer) -> None:
            for (_, path), names in zip(batch, results, strict=True):
                if names == NO_AUTH:
                    self._denied.append(path)
                elif not isinstance(names, int):
                    self._look_at(path, names)
            waiting[0] -= len(batch)
            if waiting[0] == 0:
                self._go_on(connection_number, len(step))

        self._reader.read([(GET_CHILDREN, path) for path in step], listed)

    def _go_on(self, connection_number: int, walked: int) -> None:
        """Walk at full speed the first time, later within the request budget."""
        pause = walked / self._items_per_s if self.walks else 0.0
        self._reader.loop.after(pause, self._step, connection_number)

    def _look_at(self, path: str, names: Sequence[str]) -> None:
        if path != "/" and self._is_lock(path, names):
            self._found.setdefault(split(path)[0], []).append(path)
            return
        self._children[path] = len(names)
        if len(names) > MAX_CHILDREN:
            self.cut_short = True
            return
        below = (join(path, name) for name in names if not looks_like_a_member(name))
        self._ahead.extend(one for one in below if any(root.covers(one) for root in self._roots))

    def _is_lock(self, path: str, names: Sequence[str]) -> bool:
        for root in self._roots:
            if root.matches(path) and (not root.loose or self._looks_like_a_lock(path, names)):
                return True
        return False

    def _finish(self, connection_number: int) -> None:
        self.walks += 1
        self.denied = tuple(self._denied)
        self.cut_short = self.cut_short or bool(self._ahead)
        chosen = set(_narrowest(self._found, self._children))
        for root in chosen - self._watched.keys():
            watched_root = self._watcher.add(RootPattern(root), flood_per_s=FLOOD_PER_S)
            if watched_root is not None:
                self._watched[root] = watched_root
        for root in self._watched.keys() - chosen:
            if self._watched[root].base not in self._watcher.tree.folders:
                self._watcher.drop(self._watched.pop(root))
        pause = min(WALK_EVERY_S, max(SMALL_WALK_EVERY_S, self._walked / WALKED_PER_S))
        self._reader.loop.after(pause, self._walk, connection_number)


def _narrowest(found: dict[str, list[str]], children: dict[str, int]) -> list[str]:
    """Choose what to watch: a parent whose children are mostly locks, or each lock by itself."""
    chosen: list[str] = []
    for parent, locks in found.items():
        if parent != "/" and 2 * len(locks) > children.get(parent, 0):
            chosen.append(f"{parent}/*")
        else:
            chosen.extend(locks)
    return chosen
