"""All locks as a tree by path: each prefix with its locks, waiters and worst state."""

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from zktop.model.report import Report
from zktop.ui.inks import Ink
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.common.lock_status import (
    FREE,
    OK,
    QUIET_RANK,
    LockStatus,
    state_cell,
    status_without_finding,
)
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.locks.rows import statuses_of
from zktop.ui.styled_text import Line, Run, fitted, line, right_aligned
from zktop.ui.trees.tree_lines import Branch, write_branches
from zktop.ui.view_state import Selection

ITSELF: Final = "(the lock itself)"  # below a path that also has other locks below it
MAX_BELOW: Final = 200  # locks or prefixes listed below one prefix
MAX_DEPTH: Final = 64  # names in a prefix, because the tree is built by recursion
LOCKS_AT_ONCE: Final = 500  # counting them takes some 3 ms
MAX_OPEN_BELOW: Final = 12  # a prefix with at most this many is open until the user closes it
LOCKS_CELLS: Final = 8
WAITING_CELLS: Final = 10
STATE_CELLS: Final = 14


class PathNode(msgspec.Struct, frozen=True, gc=False):
    """A lock, or a prefix with the totals of all locks below it."""

    path: str
    name: str  # the path without the prefix above it
    locks: int
    waiting: int
    worst: LockStatus
    below: "tuple[PathNode, ...]" = ()  # the worst of them, at most `MAX_BELOW`


class _Below(NamedTuple):
    """What lies below a prefix, while the tree is built."""

    prefixes: "dict[str, _Below]"
    locks: list[PathNode]


class PathTree:
    """Sorts locks into prefixes."""

    def __init__(self) -> None:
        self._root = _Below({}, [])
        self._folders: dict[str, _Below] = {"": self._root}

    def read(self, report: Report) -> Iterator[None]:
        """Add all locks of a report: 0.8 s for 100,000, in steps."""
        statuses = statuses_of(report.findings, report.deadlocks)
        for number, (path, record) in enumerate(report.records.items(), start=1):
            lock = record.lock
            waiting = sum([len(queue.waiters) for queue in lock.queues])
            waiting += len(report.watchers_waiting(path))
            self.add(path, waiting, statuses.get(path) or status_without_finding(lock))
            if number % LOCKS_AT_ONCE == 0:
                yield

    def add(self, path: str, waiting: int, status: LockStatus) -> None:
        folder, _, name = path.rpartition("/")
        if folder.count("/") >= MAX_DEPTH:
            *parts, name = path.split("/", MAX_DEPTH)
            folder = "/".join(parts)
        self._folder(folder).locks.append(PathNode(path, name, 1, waiting, status))

    def _folder(self, path: str) -> _Below:
        folder = self._folders.get(path)
        if folder is None:
            above, _, name = path.rpartition("/")
            folder = self._folders[path] = _Below({}, [])
            self._folder(above).prefixes[name] = folder
        return folder

    @property
    def top(self) -> PathNode:
        """The node of `/`. Below it, prefixes with one child are joined with that child."""
        return _node("", self._root, "")


def _node(name: str, content: _Below, path: str, itself: PathNode | None = None) -> PathNode:
    """Return the node of a prefix. `itself` is the lock at that path, if any."""
    locks = {lock.name: lock for lock in content.locks}
    below = [
        _node(part, inner, f"{path}/{part}", locks.pop(part, None))
        for part, inner in content.prefixes.items()
    ]
    below += locks.values()
    if len(below) == 1 and itself is None and path:
        return replace(below[0], name=f"{name}/{below[0].name}")
    own = () if itself is None else (replace(itself, name=ITSELF),)
    return PathNode(
        path,
        name,
        sum([node.locks for node in (*own, *below)]),
        sum([node.waiting for node in (*own, *below)]),
        worst_of((*own, *below)),
        (*own, *nsmallest(MAX_BELOW, below, key=_badness)),
    )


def _badness(node: PathNode) -> tuple[int, int, str]:
    return node.worst.rank, -node.waiting, node.name


def worst_of(nodes: Iterable[PathNode]) -> LockStatus:
    """Return the worst state of some nodes. It is `free` only if all of them are free."""
    statuses = {node.worst for node in nodes}
    return min(statuses, key=lambda status: (status.rank, status.code == FREE.code), default=OK)


class PathTreeLines:
    """Draws the tree. `is_open` decides whether the locks below a prefix are listed."""

    def __init__(self, is_open: Callable[[PathNode], bool]) -> None:
        self._is_open = is_open

    def write(self, writer: LineWriter, top: PathNode) -> None:
        """Write the totals, the names of the columns, and the tree."""
        names = writer.width - LOCKS_CELLS - WAITING_CELLS - STATE_CELLS - 2
        writer.write((*fitted(line((" PATH", "title")), names), *_heads()))
        if len(top.below) > 1:
            total = fitted(line((" /", "strong")), names)
            writer.write((*total, *_columns(top.locks, top.waiting, top.worst)))
        write_branches(writer, self._below(top), columns_at=names)

    def _below(self, node: PathNode) -> list[Branch]:
        below = [self._branch(child) for child in node.below]
        hidden = node.locks - sum(child.locks for child in node.below)
        if hidden:
            below.append(Branch(line((f"… and {with_spaces(hidden)} more", "dim"))))
        return below

    def _branch(self, node: PathNode) -> Branch:
        is_open = bool(node.below) and self._is_open(node)
        mark = ("▾ " if is_open else "▸ ") if node.below else ""
        ink: Ink = "strong" if node.below or node.worst.rank < QUIET_RANK else "plain"
        name = f"{node.name}/" if node.below else node.name
        link = LineLink("lock", Selection(path=node.path), node.path)
        return Branch(
            line((mark, "key"), (name, ink)),
            FoldLink(node.path) if node.below else link,
            tuple(self._below(node)) if is_open else (),
            _columns(node.locks if node.below else None, node.waiting, node.worst),
        )


def is_open_by_default(node: PathNode, selected: str | None) -> bool:
    """Return whether a prefix has few children, or the selected lock is below it."""
    return len(node.below) <= MAX_OPEN_BELOW or bool(
        selected and selected.startswith(f"{node.path}/")
    )


def _heads() -> Line:
    return (
        *right_aligned(line(("LOCKS", "title")), LOCKS_CELLS),
        *right_aligned(line(("WAITING", "title")), WAITING_CELLS),
        *line("  ", ("WORST STATE", "title")),
    )


def _columns(locks: int | None, waiting: int, worst: LockStatus) -> Line:
    number = line("" if locks is None else with_spaces(locks))
    waits = line((with_spaces(waiting), "waits" if waiting else "dim"))
    return (
        *right_aligned(number, LOCKS_CELLS),
        *right_aligned(waits, WAITING_CELLS),
        Run("  "),
        *state_cell(worst),
    )
