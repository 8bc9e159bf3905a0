"""All locks by path, with totals."""

from collections.abc import Iterable

from msgspec.structs import replace
from ui.example_ensemble import trouble
from ui.example_states import deadlock_frames

from zktop.model.report import Report
from zktop.ui.screens.common.line_writer import FoldLink, LineWriter
from zktop.ui.screens.common.lock_status import FREE, OK, LockStatus
from zktop.ui.styled_text import text_of, width_of
from zktop.ui.trees.path_tree import (
    ITSELF,
    MAX_BELOW,
    MAX_DEPTH,
    MAX_OPEN_BELOW,
    PathNode,
    PathTree,
    PathTreeLines,
    is_open_by_default,
)

BAD = LockStatus("DED", "critical", 1)


Total = tuple[str, int, LockStatus]


def total(path: str, waiting: int = 0, status: LockStatus = OK) -> Total:
    """One lock."""
    return path, waiting, status


def path_tree(totals: Iterable[Total]) -> tuple[PathNode, ...]:
    """The top lines of the tree of these locks."""
    tree = PathTree()
    for one in totals:
        tree.add(*one)
    return tree.top.below


def tree_of(report: Report) -> PathNode:
    """The tree of all locks of a report."""
    tree = PathTree()
    for _ in tree.read(report):
        pass
    return tree.top


def test_a_prefix_has_the_totals_of_its_locks() -> None:
    """Their number, their waiters, and their worst state."""
    (top,) = path_tree([total("/l/a", 2), total("/l/b/x", 3, BAD), total("/l/b/y")])

    assert (top.path, top.locks, top.waiting, top.worst) == ("/l", 3, 5, BAD)
    assert [(one.path, one.locks, one.waiting) for one in top.below] == [
        ("/l/b", 2, 3),
        ("/l/a", 1, 2),
    ]


def test_the_worst_comes_first_then_the_longest_queue() -> None:
    """Then the name."""
    (top,) = path_tree(
        [total("/l/a"), total("/l/b"), total("/l/c", 5), total("/l/d", 1, BAD)],
    )

    assert [one.name for one in top.below] == ["d", "c", "a", "b"]


def test_a_prefix_with_one_child_is_joined_with_it() -> None:
    """One line is enough for both."""
    (top,) = path_tree([total("/a/b/c/x"), total("/a/b/c/y")])

    assert (top.name, top.path) == ("a/b/c", "/a/b/c")


def test_a_lock_above_other_locks_is_its_own_child() -> None:
    """So that it can be opened."""
    (top,) = path_tree([total("/l", 2), total("/l/x", 1)])

    assert (top.locks, top.waiting) == (2, 3)
    assert [(one.name, one.path) for one in top.below] == [(ITSELF, "/l"), ("x", "/l/x")]


def test_a_prefix_is_free_only_if_all_its_locks_are() -> None:
    """A prefix with a held lock is ok."""
    (top,) = path_tree([total("/l/a", status=FREE), total("/l/b", status=OK)])

    assert top.worst is OK


def test_a_large_prefix_is_closed_unless_the_selected_lock_is_in_it() -> None:
    """A thousand lines would hide the others."""
    (top,) = path_tree(total(f"/l/{number}") for number in range(MAX_OPEN_BELOW + 1))

    assert not is_open_by_default(top, None)
    assert is_open_by_default(top, "/l/3")
    assert not is_open_by_default(top, "/lx/3")
    assert is_open_by_default(replace(top, below=top.below[1:]), None)


def test_totals_agree_with_the_report() -> None:
    """As screen 1 counts them."""
    report = trouble()[-1].report
    top = tree_of(report)

    assert top.locks == len(report.paths)
    assert top.waiting == sum(len(record.lock.waiters) for record in report.records.values())


def test_only_the_first_of_many_locks_are_listed() -> None:
    """The line of their prefix counts them all."""
    (top,) = path_tree(total(f"/l/{number}", number) for number in range(MAX_BELOW + 5))
    writer = LineWriter(78)
    PathTreeLines(lambda _: True).write(writer, replace(top, below=(top,)))

    assert (top.locks, len(top.below)) == (MAX_BELOW + 5, MAX_BELOW)
    assert text_of(writer.lines[-1]).split() == ["└─", "…", "and", "5", "more"]


def test_the_drawing_has_columns_and_fits() -> None:
    """Prefixes fold, locks open."""
    writer = LineWriter(78)
    PathTreeLines(lambda _: True).write(writer, tree_of(deadlock_frames()[-1].report))
    lines = [text_of(one) for one in writer.lines]

    assert lines[0].split() == ["PATH", "LOCKS", "WAITING", "WORST", "STATE"]
    assert lines[1].split()[1:] == ["▾", "locks/", "4", "7", "DEADLOCK?"]
    assert lines[2].split()[1:] == ["stock", "3", "DEADLOCK?"]
    assert isinstance(writer.links[1], FoldLink)
    assert max(map(width_of, writer.lines)) <= 78


def test_very_deep_locks_are_listed_in_the_last_folder_of_the_tree() -> None:
    """ZooKeeper allows any depth; the tree has one level for each of the first parts only."""
    deep = "/a" * (MAX_DEPTH - 1)
    folder, rest = f"{deep}/folder", "x/" * 1_000 + "lock"
    tree = path_tree([total(f"{folder}/{rest}", 2), total("/b"), total(f"{deep}/c")])
    node = next(one for one in tree if one.path != "/b")

    assert (node.path, node.waiting) == (deep, 2)
    assert [(one.name, one.path) for one in node.below] == [
        (f"folder/{rest}", f"{folder}/{rest}"),
        ("c", f"{deep}/c"),
    ]
