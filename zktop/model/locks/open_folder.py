"""Makes the folders of a lock: all children, the watches on them, and the previous state.

Independent locks may share a folder, and are shown as one lock with separate queues: their names
distinguish them. The queues of a semaphore belong together, and so do those of clients that count
each other's znodes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from zktop.model.facts import Session, Watches
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.lock_site import LockSite
from zktop.model.locks.folder import NO_MEMORY, Folder, FolderMemory, SessionWatches, children_of
from zktop.model.locks.lock import Lock, LockQueue, Member, absolute_path
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family
from zktop.model.world.world import World

_MAX_WATCHES = 4_000  # per session; searching more takes too long


def is_watching(world: World, session: Session, path: str, since: int) -> bool | None:
    """Return whether a session watches a path, or None if no table of this zxid or later shows it.

    In an older table, its watches may be those of an earlier attempt.
    """
    watches = [tables.watches for tables in world.tables.values()]
    usable = [
        table.rows
        for table in watches
        if table is not None and table.rows is not None and table.zxid >= since
    ]
    watched = [rows[session] for rows in usable if session in rows]
    if any(len(paths) > _MAX_WATCHES for paths in watched):
        return None
    if any(path in paths for paths in watched):
        return True
    are_all_usable = bool(usable) and len(usable) == len(watches)
    return False if watched or are_all_usable else None


def watches_of(
    world: World,
    sessions: Iterable[Session],
    nodes: Mapping[Text, Text],
    previous: Mapping[Session, SessionWatches],
) -> dict[Session, SessionWatches]:
    """Return which of these nodes each session watches. `nodes` maps paths to names.

    Sessions of the previous look are included even if their nodes are gone: a watch that
    is older than a session's next node is left over from an earlier one.
    """
    watches: dict[Session, SessionWatches] = {}
    for session in {*sessions, *previous}:
        tables = list(_tables_of(world, session)) if session else []
        if len(tables) != 1:
            continue  # unknown, or moving from one server to another
        table, paths = tables[0]
        known = previous.get(session)
        earlier = known.children if known else {}
        watched = {nodes[path] for path in paths if path in nodes}
        watches[session] = SessionWatches(
            table.zxid,
            known.since if known else table.zxid,
            {node: earlier.get(node, table.zxid) for node in watched},
        )
    return watches


def _tables_of(world: World, session: Session) -> Iterator[tuple[Watches, tuple[Text, ...]]]:
    """Yield the watch tables with watches of a session, unless it has too many."""
    for tables in world.tables.values():
        table = tables.watches
        paths = (table.rows or {}).get(session, ()) if table else ()
        if table and paths and len(paths) <= _MAX_WATCHES:
            yield table, paths


class FolderOpener(msgspec.Struct, frozen=True):
    """Makes folders for the queues of one lock."""

    site: LockSite
    memory: FolderMemory
    previous: Lock | None = None  # the previous version of the lock

    def of(
        self, family: Family, layouts: Sequence[Layout], below: str = ""
    ) -> Callable[[Iterable[Member]], Folder]:
        """Return a function that makes the folder of a parent from its contenders."""

        def open_folder(members: Iterable[Member]) -> Folder:
            children = children_of(family, members, layouts, below)
            nodes = {absolute_path(self.site.path, child.node): child.node for child in children}
            sessions = [child.owner for child in children if child.owner]
            memory = self.memory
            if memory is NO_MEMORY and self.previous is not None and not below:
                memory = _memory_before_others(self.previous, children)
            return Folder(
                children=children,
                memory=memory,
                watched=watches_of(self.site.world, sessions, nodes, self.memory.watched),
                changed=_last_change(family),
                user_layouts=self.site.settings.layouts,
            )

        return open_folder


def _last_change(family: Family) -> int:
    """Return the last transaction that created or deleted a child, or that of the listing."""
    if family.stat is None:
        return 0
    return family.listed_at if family.stat.pzxid is None else family.stat.pzxid


def only_mixed(queues: Iterable[LockQueue]) -> Iterator[MixedQueue]:
    """Yield the queues that share a folder with other children, including gates."""
    for queue in queues:
        inner = queue.gate if isinstance(queue, LeasePool) else queue
        if isinstance(inner, MixedQueue):
            yield inner


def memory_of(lock: Lock) -> FolderMemory:
    """Return the state that the next version of a lock needs."""
    queues = list(only_mixed(lock.queues))
    if not queues:
        return NO_MEMORY
    waiting = [(queue, member) for queue in queues for member in queue.waiters]
    return FolderMemory(
        names=frozenset().union(*(queue.folder.names for queue in queues)),
        waited={
            member.node: tuple(target.path for target in queue.expected(member))
            for queue, member in waiting
            if not queue.is_stranded(member)
        },
        stranded={
            member.node: member.layout for queue, member in waiting if queue.is_stranded(member)
        },
        proofs={node: proof for queue in queues for node, proof in queue.proofs.items()},
        watched=queues[0].folder.watched,
        sessions={member.node: member.owner for _, member in waiting},
        left=queues[0].folder.left_watches,
    )


def unseen_memory(lock: Lock) -> FolderMemory | None:
    """Return the state that an observer starting now could not infer, if there is any.

    For example, whether a client listed a foreign child created while others held the lock.
    """
    memory = memory_of(lock)
    warns = "blocked-by-foreign" in lock.warnings or "broken-by-foreign" in lock.warnings
    return memory if warns or memory.stranded or memory.proofs else None


def _memory_before_others(lock: Lock, children: Sequence[Member]) -> FolderMemory:
    """Return the state of a lock of one library, if children of another kind were created since.

    Until then, a lock of one library needs no memory.
    """
    known = lock.family.members
    came = (child for child in children if child.node not in known)
    if all(child.layout == lock.layout for child in came):
        return NO_MEMORY
    waiting = ((queue, member) for queue in lock.queues for member in queue.waiters)
    return FolderMemory(
        names=frozenset(name for name, znode in known.items() if znode.stat or znode.hidden),
        waited={
            member.node: tuple(target.path for target in queue.expected(member))
            for queue, member in waiting
        },
    )


def stranded_in(queues: Iterable[LockQueue]) -> frozenset[Text]:
    """Return the nodes that failed clients left behind."""
    return frozenset(
        member.node
        for queue in only_mixed(queues)
        for member in queue.waiters
        if queue.is_stranded(member)
    )


def obstacles_of(queues: Sequence[LockQueue]) -> tuple[Member, ...]:
    """Return the foreign children that block members."""
    obstacles = {child.node: child for queue in only_mixed(queues) for child in queue.obstacles}
    for queue in queues:
        if isinstance(queue, LeasePool) and queue.is_short:
            obstacles.update((child.node, child) for child in queue.foreign)
    return tuple(obstacles.values())


def part_held_by(lock: Lock, session: Session) -> Lock:
    """Return the lock with only those separate queues in which a session holds.

    Its waiters are those that wait behind the session.
    """
    if not lock.has_separate_queues:
        return lock
    held = tuple(
        queue for queue in lock.queues if any(holder.owner == session for holder in queue.holders)
    )
    return msgspec.structs.replace(lock, queues=held)
