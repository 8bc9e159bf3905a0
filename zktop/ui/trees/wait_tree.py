"""The wait tree: root blockers at the top, their locks below them, then the waiters of each lock.

A tree shows one selected item (a lock, session or deadlock), or it is the overview of all root
blockers. Each session is listed once, unless only a watch shows that it waits; its other places
refer to the first one.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, Actors, session_of
from zktop.model.facts import Session, split
from zktop.model.format import short
from zktop.model.history.events import UNKNOWN_SINCE, Since
from zktop.model.layouts.layout import LockMode
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Lock, Member, absolute_path
from zktop.model.locks.open_folder import part_held_by
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import RootBlocker
from zktop.ui.past.states import locks_held, name_in
from zktop.ui.screens.common.numbers_and_times import frequent_names
from zktop.ui.trees.way_up import main_wait, way_up
from zktop.ui.view_state import Selection

MAX_ROOTS: Final = 20
MAX_TOPS: Final = 40  # clients of one root
MAX_WAITERS_SEARCHED: Final = 500  # waiters of one lock whose own locks are checked
MAX_NESTED: Final = 6  # waiters of one lock that are shown because others wait for them
MAX_LISTED: Final = 12  # other waiters of one lock in a tree about one item
MAX_DEPTH: Final = 5  # nested locks; the way to the selected item may be longer
MAX_ITEMS: Final = 300
MAX_WIDE_WAY: Final = 8  # on a longer way to the selected item, other waiters are left out
MAX_HOLDERS: Final = 20  # holders of one lock that are compared with a name
MAX_NAMES: Final = 3  # waiters named in one line

ClientKind = Literal[
    "runs",  # waits for nothing
    "waits",
    "stuck",  # it is in the deadlock at the root
    "again",  # listed elsewhere in the tree
    "by-name",  # no session, but a label
    "no-owner",
    "stranded",
    "hidden",
]
_KINDS: Final[dict[str, ClientKind]] = {
    UNOWNED: "no-owner",
    STRANDED: "stranded",
    UNKNOWN: "hidden",
    BY_NAME: "by-name",
}


class Request(NamedTuple):
    """A place in the queue of a lock."""

    path: Text
    node: Text | None
    mode: LockMode
    since: Since = UNKNOWN_SINCE


class TreeClient(NamedTuple):
    """A client, or a node without one, and below it the locks that others wait for."""

    kind: ClientKind
    name: str
    session: Session | None = None
    request: Request | None = None  # the one in the lock above it, or the node that it is
    elsewhere: str = ""  # where the client is listed first
    also_waits_for: tuple[Text, ...] = ()
    locks: "tuple[TreeLock, ...]" = ()
    is_selected: bool = False


class TreeLock(NamedTuple):
    """A lock, and below it its waiters, or only those that block others."""

    path: Text
    waiting: int
    co_holders: tuple[str, ...] = ()  # besides the client above it
    clients: tuple[TreeClient, ...] = ()
    names: str = ""  # those of its waiters, or in a tree about one item, of waiters not shown
    is_selected: bool = False
    knows_waiting: bool = True  # False: there may be more waiters

    @property
    def hidden(self) -> int:
        return max(0, self.waiting - len(self.clients))


class WaitTree(NamedTuple):
    """One root blocker, or a deadlock, with everything below it."""

    tops: tuple[TreeClient | TreeLock, ...]
    deadlock: Deadlock | None = None
    blocker: RootBlocker | None = None
    is_overview: bool = False
    hidden: int = 0  # clients at the top that are not shown


def overview(report: Report) -> Iterator[WaitTree]:
    """Yield a tree for each of the worst root blockers, about MAX_ITEMS lines in all.

    Of the waiters it shows only those that block others.
    """
    items = 0
    for root in report.blockers[:MAX_ROOTS]:
        if items > MAX_ITEMS:
            return
        builder = _TreeBuilder(report, max_listed=0)
        deadlock = deadlock_of(root, report)
        tops = builder.tops(root.actors, "stuck" if deadlock else "runs")
        items += builder.items
        hidden = len(root.actors) - len(tops)
        yield WaitTree(tops, deadlock, root, is_overview=True, hidden=hidden)


def tree_of(report: Report, selected: Selection) -> WaitTree | None:
    """Return the tree around a session, lock, deadlock or finding; None if it is gone."""
    deadlock = report.deadlock(selected.case)
    record = report.records.get(Text(selected.path)) if selected.path else None
    if selected.session is not None and selected.session in report.locks_of:
        return _of_session(report, selected.session, selected)
    if record is not None:
        return _of_lock(report, record.lock, selected)
    if deadlock is not None:
        return _of_deadlock(report, deadlock, selected, ())
    finding = report.finding(selected.case)
    if finding is None:
        return None
    places = [*([finding.lock] if finding.lock else []), *finding.locks]
    path = next((place for place in places if Text(place) in report.records), None)
    return tree_of(report, Selection(path=path)) if path else None


def _of_session(report: Report, session: Session, selected: Selection) -> WaitTree:
    steps = list(way_up(report, session))
    last = steps[-1]
    way = [step.owner for step in steps if step.owner]
    deadlocks = _deadlock_by_session(report)
    deadlock = next((deadlocks[owner] for owner in reversed(way) if owner in deadlocks), None)
    if deadlock is not None:
        return _of_deadlock(report, deadlock, selected, way)
    builder = _TreeBuilder(report, MAX_LISTED, selected, way)
    if last.owner:
        (top,) = builder.tops([session_text(last.owner)], "runs")
        if top.locks or main_wait(report, last.owner) is None:
            return WaitTree((top,))
        # The lock is the top instead; a new builder has not listed the session yet.
        builder = _TreeBuilder(report, MAX_LISTED, selected, way)
        return WaitTree((builder.lock(last.path, 1),))
    actor = Actors(report.settings).of(report.records[last.path].lock, last.member)
    if session_of(actor) is not None:  # the owner of a foreign child
        return WaitTree((builder.lock(last.path, 1),))
    return WaitTree(builder.tops([actor], "runs"))


def _of_lock(report: Report, lock: Lock, selected: Selection) -> WaitTree:
    """Return the tree of a holder, preferably one that waits for another lock.

    If the lock has separate queues, the holders of every queue with waiters are at the top, unless
    one of them is in a deadlock.
    """
    stuck, actors = _deadlock_by_session(report), Actors(report.settings)
    if lock.has_separate_queues and not any(holder.owner in stuck for holder in lock.holders):
        busy = [holder for queue in lock.queues if queue.waiters for holder in queue.holders]
        at_top = dict.fromkeys(actors.of(lock, holder) for holder in busy or lock.holders)
        tops = _TreeBuilder(report, MAX_LISTED, selected).tops([*at_top][:MAX_TOPS], "runs")
        return WaitTree(tops, hidden=len(at_top) - len(tops))
    owners = [holder.owner for holder in lock.holders[:MAX_HOLDERS] if holder.owner]
    waiting = [owner for owner in owners if main_wait(report, owner)]
    if owners:
        return _of_session(report, (waiting or owners)[0], selected)
    builder = _TreeBuilder(report, MAX_LISTED, selected)
    if lock.holders:
        return WaitTree(builder.tops([actors.of(lock, lock.holders[0])], "runs"))
    return WaitTree((builder.lock(lock.path, 1),))


def _of_deadlock(
    report: Report, deadlock: Deadlock, selected: Selection, way: Collection[Session]
) -> WaitTree:
    builder = _TreeBuilder(report, MAX_LISTED, selected, way)
    tops = builder.tops(deadlock.actors, "stuck")
    return WaitTree(tops, deadlock, hidden=len(deadlock.actors) - len(tops))


def _deadlock_by_session(report: Report) -> dict[Session, Deadlock]:
    return {
        session: deadlock
        for deadlock in report.deadlocks
        for actor in deadlock.actors
        if (session := session_of(actor)) is not None
    }


class _TreeBuilder:
    """Builds one tree, and remembers which sessions are listed."""

    def __init__(
        self,
        report: Report,
        max_listed: int,
        selected: Selection | None = None,
        way: Collection[Session] = (),
    ) -> None:
        self.report, self.max_listed = report, max_listed
        self.selected = selected or Selection()
        self.way = frozenset((*way, *filter(None, (self.selected.session,))))
        self.listed_at: dict[Session, str] = {}  # where each listed session is, in words
        self.items = 0

    def tops(self, actors: Sequence[str], kind: ClientKind) -> tuple[TreeClient, ...]:
        """Return the first actors, and those on the way to the selected item."""
        sessions = {actor: session_of(actor) for actor in actors}
        elsewhere = "part of the deadlock" if kind == "stuck" else "listed above"
        at_top = (session for session in sessions.values() if session is not None)
        self.listed_at = dict.fromkeys(at_top, elsewhere)
        selected = self.selected.session
        shown = sorted(
            sessions,
            key=lambda actor: (sessions[actor] != selected, sessions[actor] not in self.way),
        )[:MAX_TOPS]
        return tuple(
            self._without_session(actor, kind) if session is None else self._top(session, kind)
            for actor, session in sessions.items()
            if actor in shown
        )

    def _top(self, session: Session, kind: ClientKind) -> TreeClient:
        self.items += 1
        is_selected = self.selected.session == session
        locks = self._locks(session, 1)
        also = self._waits(session) if kind == "runs" else ()
        shown: ClientKind = "waits" if also else kind
        return TreeClient(
            shown,
            name_in(self.report, session) or session_text(session),
            session,
            also_waits_for=also,
            locks=locks,
            is_selected=is_selected,
        )

    def _waits(self, session: Session) -> tuple[Text, ...]:
        wait = main_wait(self.report, session)
        return (wait.path,) if wait else self._waits_by_watch(session)

    def _waits_by_watch(self, session: Session) -> tuple[Text, ...]:
        """Return the locks it waits for by a watch alone. In elections it stands by instead."""
        records = self.report.records
        return tuple(
            path for path in self.report.watched_by(session) if not records[path].lock.has_standbys
        )

    def _without_session(self, actor: str, kind: ClientKind) -> TreeClient:
        """Return an actor without a session: a node, or a label, and the locks that it holds."""
        self.items += 1
        held = tuple(held_by(actor, self.report))
        kind = _kind_of(actor, kind)
        name = actor.removeprefix(BY_NAME)
        if (own_node := node_of(actor, self.report)) is not None:
            path, node = own_node
            name = absolute_path(path, node) if kind == "hidden" else f"{short(node)} in {path}"
        request = Request(*held[0], "exclusive") if held else None
        paths = dict.fromkeys(path for path, _ in held)
        locks = tuple(self.lock(path, 1) for path in paths if self._is_waited_for(path))
        return TreeClient(kind, name, request=request, locks=locks)

    def _locks(self, session: Session, depth: int) -> tuple[TreeLock, ...]:
        """Return the locks that a session holds and others wait for, and the selected one."""
        if depth > MAX_DEPTH and session not in self.way:
            return ()
        wanted = (
            path
            for path in locks_held(self.report, session)
            if self._is_waited_for(path, session) or path == self.selected.path
        )
        return tuple(self.lock(path, depth, session) for path in wanted)

    def lock(self, path: Text, depth: int, holder: Session | None = None) -> TreeLock:
        self.items += 1
        view = self.report.view(path)
        if view is None:
            return TreeLock(path, 0)
        lock = view.lock if holder is None else part_held_by(view.lock, holder)
        waiters, watchers = lock.waiters, view.watch_check.watchers_waiting
        shown = self._chosen_waiters(waiters, path)
        clients = [self._waiter(view, waiters[at], depth) for at in shown]
        room = 0 if self.items > MAX_ITEMS else max(0, self.max_listed - len(clients))
        clients += [self._watcher(view, watcher) for watcher in watchers[:room]]
        return TreeLock(
            path,
            len(waiters) + len(watchers),
            self._co_holders(lock, holder),
            tuple(clients),
            self._names(waiters, shown),
            is_selected=path == self.selected.path and self.selected.session is None,
            knows_waiting=view.knows_waiters,
        )

    def _co_holders(self, lock: Lock, holder: Session | None) -> tuple[str, ...]:
        if holder is None:
            return ()
        others = (member for member in lock.holders[:MAX_HOLDERS] if member.owner != holder)
        return tuple(self.report.client_names(member.owner, member.label) for member in others)

    def _names(self, waiters: Sequence[Member], shown: Collection[int]) -> str:
        """Return frequent names of waiters; in a tree about one item, only of those not shown."""
        left_out = shown if self.max_listed else ()
        searched = enumerate(waiters[:MAX_WAITERS_SEARCHED])
        labels = [member.label for at, member in searched if at not in left_out]
        return frequent_names([label for label in labels if label], MAX_NAMES)

    def _chosen_waiters(self, waiters: Sequence[Member], path: Text) -> list[int]:
        """Choose which waiters to show: the first, blocking ones, those above the selection."""
        is_full = self.items > MAX_ITEMS
        nested = [
            at
            for at, waiter in enumerate(waiters[:MAX_WAITERS_SEARCHED])
            if not is_full and waiter.owner and self._blocks_elsewhere(waiter.owner, path)
        ]
        on_the_way = [
            at for at, waiter in enumerate(waiters if self.way else ()) if waiter.owner in self.way
        ]
        is_long_way = len(self.way) > MAX_WIDE_WAY and bool(on_the_way)
        first = range(0 if is_full or is_long_way else min(self.max_listed, len(waiters)))
        chosen = {*nested[:MAX_NESTED], *on_the_way[:MAX_NESTED], *first}
        if chosen and len(waiters) - len(chosen) == 1:  # "and 1 more" would take a line, too
            return list(range(len(waiters)))
        return sorted(chosen)

    def _blocks_elsewhere(self, session: Session, path: Text) -> bool:
        held = locks_held(self.report, session)
        return any(other != path and self._is_waited_for(other, session) for other in held)

    def _is_waited_for(self, path: Text, holder: Session | None = None) -> bool:
        record = self.report.records.get(path)
        if record is None:
            return False
        lock = record.lock if holder is None else part_held_by(record.lock, holder)
        if lock.has_standbys and not self.max_listed:
            return False  # standbys do not wait, so only a tree of one item lists them
        return bool(lock.waiters or self.report.watchers_waiting(path))

    def _waiter(self, view: LockView, member: Member, depth: int) -> TreeClient:
        self.items += 1
        session, path = member.owner, view.lock.path
        client = view.contender(member)
        request = Request(path, member.node, member.mode, Since(client.since, client.since_is))
        item = TreeClient("waits", client.name, session or None, request)
        if not session:
            actor = Actors(self.report.settings).of(view.lock, member)
            return item._replace(kind=_kind_of(actor, "waits"))
        here = f"also waits for {path}; listed there"
        if session in self.listed_at:
            elsewhere = self.listed_at[session]
            if elsewhere == here:
                elsewhere = "listed above"
            return item._replace(kind="again", elsewhere=elsewhere)
        self.listed_at[session] = here
        is_selected = session == self.selected.session
        return item._replace(locks=self._locks(session, depth + 1), is_selected=is_selected)

    def _watcher(self, view: LockView, session: Session) -> TreeClient:
        """Return a session that waits without a node, so that only its watch shows it."""
        self.items += 1
        client = view.watcher(session)
        return TreeClient(
            "waits", client.name, session, Request(view.lock.path, None, client.mode)
        )


def _kind_of(actor: str, default: ClientKind) -> ClientKind:
    return next((kind for prefix, kind in _KINDS.items() if actor.startswith(prefix)), default)


def deadlock_of(root: RootBlocker, report: Report) -> Deadlock | None:
    """Return the deadlock whose clients are this root blocker."""
    if root.core is None:
        return None
    actors = set(root.actors)
    for deadlock in report.deadlocks:
        if actors.intersection(deadlock.actors):
            return deadlock
    return None


def node_of(actor: str, report: Report) -> tuple[Text, Text] | None:
    """Return the lock and node of an actor that is a node without a session, else None."""
    if not actor.startswith((UNOWNED, STRANDED, UNKNOWN)):
        return None
    full_path = actor.partition(":")[2]
    path, node = split(Text(full_path))
    lock_path = path
    while lock_path not in report.records and lock_path != "/":
        lock_path = split(lock_path)[0]  # the node may be in a folder of the lock
    if lock_path not in report.records:
        return path, node
    return lock_path, Text(full_path[len(lock_path) + 1 :])


def held_by(actor: str, report: Report) -> Iterator[tuple[Text, Text]]:
    """Yield the locks that an actor without a session holds, and its node in each."""
    own_node = node_of(actor, report)
    if own_node is not None:
        yield own_node
        return
    named = Actors(report.settings)
    for path, record in report.records.items():
        for member in record.lock.holders[:MAX_HOLDERS]:
            if named.of(record.lock, member) == actor:
                yield path, member.node
                break
