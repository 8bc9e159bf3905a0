"""Draw trees as lines: nested branches, and the wait tree."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from zktop.model.format import count, several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import MAX_LISTED, RootBlocker
from zktop.ui.inks import Ink
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.common.lock_status import clients_of, deadlock_name, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import (
    MODE_WORDS,
    age,
    at_least_sign,
    large_count,
    total_wait,
    with_spaces,
)
from zktop.ui.styled_text import Line, Run, fitted, line
from zktop.ui.trees.wait_tree import ClientKind, TreeClient, TreeLock, WaitTree, overview
from zktop.ui.view_state import Selection

HERE: Final[tuple[str, Ink]] = ("  selected", "selected")
ROOT_SAYS: Final[dict[ClientKind, tuple[str, Ink]]] = {
    "runs": ("not waiting itself", "holds"),
    "stuck": ("", "critical"),
    "by-name": ("has no session: its node outlives it", "warning"),
    "no-owner": ("has no owner: nothing will remove it", "warning"),
    "stranded": ("stranded: its client failed", "warning"),
    "hidden": ("owner hidden", "unknown"),
}
WAITER_SAYS: Final[dict[ClientKind, tuple[str, Ink]]] = {
    **{kind: ROOT_SAYS[kind] for kind in ("by-name", "stranded")},
    "no-owner": ("no owner", "warning"),
    "hidden": ("owner unknown", "unknown"),
}
MAX_TREE_LOCKS: Final = 500  # with more locks, panes show no trees, because they are slow


class Branch(NamedTuple):
    """A line of a tree, and the branches below it. `columns` are aligned in all lines."""

    drawn: Line
    link: LineLink | FoldLink | None = None
    below: "tuple[Branch, ...]" = ()
    columns: Line = ()


def write_branches(
    writer: LineWriter, branches: Sequence[Branch], indent: str = " ", columns_at: int = 0
) -> None:
    """Write branches below the last line, each with a stroke. The last one has a corner."""
    for number, branch in enumerate(branches, start=1):
        is_last = number == len(branches)
        mark, more = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        drawn = (Run(indent + mark, "dim"), *branch.drawn)
        if branch.columns:
            drawn = (*fitted(drawn, columns_at), *branch.columns)
        writer.write(drawn, branch.link)
        write_branches(writer, branch.below, indent + more, columns_at)


def write_overview(writer: LineWriter, report: Report, *, is_ascii: bool = False) -> None:
    """Write the trees of all root blockers."""
    writer.title("WHO IS BLOCKING", "root blockers, each above the waiters for its locks")
    if not report.blockers:
        if report.is_lost:
            writer.say("No client was waiting in a queue when the connection dropped.", "unknown")
        elif unread := sum(record.lock.error is not None for record in report.records.values()):
            unread_locks = f"{count(unread, 'lock')} cannot be read"
            writer.say(f"No client is seen waiting in a queue; {unread_locks}.", "unknown")
        else:
            writer.say("✓ No client waits in a queue.", "good")
        return
    trees = list(overview(report))
    WaitTreeLines(report, is_ascii=is_ascii).write(writer, trees)
    hidden = len(report.blockers) - len(trees)
    if hidden > 0:
        bound = "at least " if len(report.blockers) >= MAX_LISTED else ""
        more = count(hidden, "more root blocker")
        writer.say(f"… and {bound}{more} with less waiting in total", "dim")


class WaitTreeLines:
    """Draws the trees of one report."""

    def __init__(self, report: Report, *, is_ascii: bool = False) -> None:
        self.report, self.is_ascii = report, is_ascii
        self._number = 0  # distinguishes lines that open the same item

    def write(self, writer: LineWriter, trees: Iterable[WaitTree]) -> None:
        """Write the trees, one below another."""
        for tree in trees:
            if tree.deadlock is not None:
                self._deadlock(writer, tree, tree.deadlock)
                continue
            for top in tree.tops:
                branch = self._top(top, tree)
                writer.write((Run(" "), *branch.drawn), branch.link)
                write_branches(writer, branch.below)
            if tree.hidden:
                writer.write((Run(" "), *_more_clients(tree.hidden)))

    def _deadlock(self, writer: LineWriter, tree: WaitTree, dead: Deadlock) -> None:
        """Write a line for the deadlock, and its clients below it."""
        head = line(
            (f" {clients_of(dead)}", "strong"),
            (f"  DEADLOCK {deadlock_name(dead)}", ink_of_deadlock(dead)),
        )
        link = LineLink("findings", Selection(case=dead.id), f"deadlock {dead.id}")
        writer.write((*head, *self._blocked(tree.blocker)), link)
        more = [Branch(_more_clients(tree.hidden))] if tree.hidden else []
        write_branches(writer, [*(self._top(top, tree) for top in tree.tops), *more])

    def _top(self, top: TreeClient | TreeLock, tree: WaitTree) -> Branch:
        if isinstance(top, TreeLock):
            return self._lock(top, tree)
        says, ink = ROOT_SAYS.get(top.kind, ("", "plain"))
        if top.also_waits_for:
            says, ink = f"waits in {several(top.also_waits_for)}", "waits"
        blocked = self._blocked(tree.blocker) if tree.deadlock is None else ()
        drawn = (*self._client(top), *line((f"  {says}" if says else "", ink)), *blocked)
        below = tuple(self._lock(lock, tree) for lock in top.locks)
        return Branch((*drawn, *line(HERE if top.is_selected else "")), self._link(top), below)

    def _blocked(self, root: RootBlocker | None) -> Line:
        """Return how many clients a root blocker keeps waiting, and for how long in total."""
        if root is None:
            return ()
        bound = at_least_sign(is_ascii=self.is_ascii) if root.undated else ""
        total = f"{total_wait(root.blocked_ms, bound)} in total"
        return line("   blocks ", (with_spaces(root.blocked), "waits"), (f"  ({total})", "dim"))

    def _client(self, client: TreeClient) -> Line:
        """Return the name of a client, and its address unless that is its name."""
        address = self.report.address(client.session, client.name)
        ink: Ink = "selected" if client.is_selected else "strong"
        return line((client.name, ink), (f" {address}" if address else "", "address"))

    def _lock(self, lock: TreeLock, tree: WaitTree) -> Branch:
        ink: Ink = "selected" if lock.is_selected else "strong"
        waiting = count(lock.waiting, "waiter") if lock.waiting else "no waiters"
        waits: Ink = "waits" if lock.waiting else "dim"
        if not lock.waiting and not lock.knows_waiting:
            waiting, waits = "waiters unknown", "unknown"
        shared = f"  also held by {several(lock.co_holders)}" if lock.co_holders else ""
        names = f" ({lock.names})" if tree.is_overview and lock.names else ""
        drawn = line(
            (lock.path, ink), " ◀ ", (waiting, waits),
            (f"{names}{shared}", "dim"), HERE if lock.is_selected else "",
        )  # fmt: skip
        below = [self._waiter(client, tree) for client in lock.clients]
        if lock.hidden and (below or not tree.is_overview):
            below.append(_hidden(lock, has_names=not tree.is_overview))
        self._number += 1
        link = LineLink("lock", Selection(path=lock.path), f"{self._number} {lock.path}")
        return Branch(drawn, link, tuple(below))

    def _waiter(self, client: TreeClient, tree: WaitTree) -> Branch:
        request = client.request
        waits = f"waits{MODE_WORDS[request.mode]}" if request else "waits"
        since = request.since if request else None
        if since is not None and since.at is not None:
            waits += f" {age(since.at, since.bound, self.report.now, is_ascii=self.is_ascii)}"
        if client.kind == "again":
            says = line((f"  {waits}", "waits"), (f"  {client.elsewhere}", "critical"))
        else:
            owner, ink = WAITER_SAYS.get(client.kind, ("", "plain"))
            says = line((f"  {waits}", "waits"), (f"  {owner}" if owner else "", ink))
        below = tuple(self._lock(lock, tree) for lock in client.locks)
        here = line(HERE if client.is_selected else "")
        return Branch((*self._client(client), *says, *here), self._link(client), below)

    def _link(self, client: TreeClient) -> LineLink | None:
        """Return the link of a client: to its session, else to its place in the lock."""
        self._number += 1
        request, session = client.request, client.session
        if session is not None:
            subject = Selection(session=session)
            return LineLink("sessions", subject, f"{self._number} {client.name}")
        if request is not None:
            subject = Selection(path=request.path, node=request.node)
            return LineLink("lock", subject, f"{self._number} {client.name}")
        return None


def _hidden(lock: TreeLock, *, has_names: bool) -> Branch:
    names = f" ({lock.names})" if lock.names and has_names else ""
    return Branch(line((f"… and {count(lock.hidden, 'more waiter')}{names}", "dim")))


def _more_clients(number: int) -> Line:
    return line((f"… and {large_count(number, 'more client')}", "dim"))
