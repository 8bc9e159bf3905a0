"""All locks as a tree by path: each prefix with its locks, waiters and worst state."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.inks import Ink
from zktop.ui.screens.common.format import with_spaces
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.common.lock_status import (
    FREE,
    OK,
    QUIET_RANK,
    LockStatus,
    state_cell,
    status_without_finding,
)
from zktop.ui.screens.locks.rows import statuses_of
from zktop.ui.styled_text import Line, Run, fitted, line, right
from zktop.ui.trees.tree_lines import Branch, write_branches
from zktop.ui.view_state import Selection

ITSELF: Final = "(the lock itself)"  # of a path that has other locks below it
MAX_BELOW: Final = 200  # locks or prefixes listed below one prefix
OPEN_BELOW: Final = 12  # a prefix with at most this many is open until the user closes it
LOCKS_CELLS: Final = 8
WAITING_CELLS: Final = 10
STATE_CELLS: Final = 14


class LockTotal(NamedTuple):
    """One lock: how many wait for it, and its state."""

    path: Text
    waiting: int
    status: LockStatus


class PathNode(NamedTuple):
    """A lock, or a prefix with the totals of all locks below it."""

    path: str
    name: str  # the path without the prefix above it
    locks: int
    waiting: int
    worst: LockStatus
    below: "tuple[PathNode, ...]" = ()


def lock_totals(report: Report) -> Iterator[LockTotal]:
    """Yield all locks of a report."""
    statuses = statuses_of(report.findings, report.deadlocks)
    for path, record in report.parts.items():
        lock = record.lock
        waiting = sum(len(queue.waiters) for queue in lock.queues)
        if lock.kind == "single" and (view := report.view(path)) is not None:
            waiting += len(view.watch_check.watchers_waiting)
        yield LockTotal(path, waiting, statuses.get(path) or status_without_finding(lock))


class _Below(NamedTuple):
    """The children of a prefix, and the lock at it, while the tree is built."""

    parts: "dict[str, _Below]"
    locks: list[LockTotal]


def path_tree(locks: Iterable[LockTotal]) -> tuple[PathNode, ...]:
    """Return the top of the tree, the worst first; prefixes with one child are joined with it."""
    root = _Below({}, [])
    for lock in locks:
        at = root
        for part in lock.path.strip("/").split("/"):
            at = at.parts.setdefault(part, _Below({}, []))
        at.locks.append(lock)
    return _nodes(root, "")


def _nodes(below: _Below, prefix: str) -> tuple[PathNode, ...]:
    made = (_node(part, one, f"{prefix}/{part}") for part, one in below.parts.items())
    return tuple(sorted(made, key=lambda one: (one.worst.rank, -one.waiting, one.name)))


def _node(name: str, at: _Below, path: str) -> PathNode:
    nodes = _nodes(at, path)
    own = [PathNode(path, name, 1, one.waiting, one.status) for one in at.locks]
    if not nodes:
        return own[0]
    if len(nodes) == 1 and not own:
        (only,) = nodes
        return only._replace(name=f"{name}/{only.name}")
    below = (*(one._replace(name=ITSELF) for one in own), *nodes)
    return PathNode(
        path,
        name,
        sum(one.locks for one in below),
        sum(one.waiting for one in below),
        worst_of(below),
        below,
    )


def worst_of(nodes: Iterable[PathNode]) -> LockStatus:
    """Return the worst state of some nodes; it is `free` only if all of them are free."""
    statuses = [one.worst for one in nodes]
    return min(statuses, key=lambda one: (one.rank, one.code == FREE.code), default=OK)


class PathTreeLines:
    """Draws the tree; `is_open` decides whether the locks below a prefix are listed."""

    def __init__(self, is_open: Callable[[PathNode], bool]) -> None:
        self._is_open = is_open

    def write(self, writer: LineWriter, nodes: Sequence[PathNode]) -> None:
        """Write the totals, the names of the columns, and the tree."""
        names = writer.width - LOCKS_CELLS - WAITING_CELLS - STATE_CELLS - 2
        writer.write((*fitted(line((" PATH", "title")), names), *_heads()))
        if len(nodes) > 1:
            locks, waiting = sum(one.locks for one in nodes), sum(one.waiting for one in nodes)
            total = fitted(line((" /", "strong")), names)
            writer.write((*total, *_columns(locks, waiting, worst_of(nodes))))
        write_branches(writer, [self._branch(one) for one in nodes], columns_at=names)

    def _branch(self, node: PathNode) -> Branch:
        is_open = bool(node.below) and self._is_open(node)
        mark = ("▾ " if is_open else "▸ ") if node.below else ""
        ink: Ink = "strong" if node.below or node.worst.rank < QUIET_RANK else "plain"
        name = f"{node.name}/" if node.below else node.name
        shown = node.below[:MAX_BELOW] if is_open else ()
        below = [self._branch(one) for one in shown]
        hidden = node.locks - sum(one.locks for one in shown)
        if is_open and hidden > 0:
            below.append(Branch(line((f"… and {with_spaces(hidden)} more", "dim"))))
        link = LineLink("lock", Selection(path=node.path), node.path)
        return Branch(
            line((mark, "key"), (name, ink)),
            FoldLink(node.path) if node.below else link,
            tuple(below),
            _columns(node.locks if node.below else None, node.waiting, node.worst),
        )


def is_open_by_default(node: PathNode, selected: str | None) -> bool:
    """Return whether a prefix has few children, or the selected lock is below it."""
    return len(node.below) <= OPEN_BELOW or bool(selected and selected.startswith(f"{node.path}/"))


def _heads() -> Line:
    return (
        *right(line(("LOCKS", "title")), LOCKS_CELLS),
        *right(line(("WAITING", "title")), WAITING_CELLS),
        *line("  ", ("WORST STATE", "title")),
    )


def _columns(locks: int | None, waiting: int, worst: LockStatus) -> Line:
    number = line("" if locks is None else with_spaces(locks))
    waits = line((with_spaces(waiting), "waits" if waiting else "dim"))
    return (
        *right(number, LOCKS_CELLS),
        *right(waits, WAITING_CELLS),
        Run("  "),
        *state_cell(worst),
    )
