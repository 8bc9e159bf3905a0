"""Open the folder of a lock: all its children, who watches them, and what was so before."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from zktop.model.family import Family
from zktop.model.layouts.ground import Ground
from zktop.model.layouts.layout import Layout
from zktop.model.locks.folder import NO_MEMORY, Folder, Memory, children_of
from zktop.model.locks.folder_queue import FolderQueue
from zktop.model.locks.lock import Line, Lock, Member
from zktop.model.locks.pool import Pool
from zktop.model.locks.watched import seen_watching
from zktop.model.text import Text
from zktop.model.watching import absolute
from zktop.model.world import World


class Opening(msgspec.Struct, frozen=True):
    """What a folder is opened with."""

    world: World
    ground: Ground
    memory: Memory

    def of(
        self, family: Family, layouts: Sequence[Layout], below: str = ""
    ) -> Callable[[Iterable[Member]], Folder]:
        """Give what opens the folder of a family, once its contenders are known."""

        def opened(members: Iterable[Member]) -> Folder:
            children = children_of(family, members, layouts, below)
            nodes = {absolute(self.ground.path, child.node): child.node for child in children}
            sessions = [child.owner for child in children if child.owner]
            return Folder(
                children=children,
                memory=self.memory,
                watched=seen_watching(self.world, sessions, nodes, self.memory.watched),
                changed=_changed(family),
                own=self.ground.settings.layouts,
            )

        return opened


def _changed(family: Family) -> int:
    """Give when a child came or went last; where no Stat tells, nothing did after the listing."""
    if family.stat is None:
        return 0
    return family.listed_at if family.stat.pzxid is None else family.stat.pzxid


def folder_queues(lines: Iterable[Line]) -> Iterator[FolderQueue]:
    """Give the queues that stand in an open folder, also those in front of leases."""
    for line in lines:
        inner = line.gate if isinstance(line, Pool) else line
        if isinstance(inner, FolderQueue):
            yield inner


def memory_of(before: Lock | None) -> Memory:
    """Remember what was so, in a lock or in what it is made of."""
    queues = list(folder_queues(before.lines)) if before is not None else []
    if not queues:
        return NO_MEMORY
    waiting = [(queue, one) for queue in queues for one in queue.waiters]
    return Memory(
        names=frozenset().union(*(queue.folder.names for queue in queues)),
        waited={
            one.node: tuple(target.path for target in queue.expected(one))
            for queue, one in waiting
            if not queue.is_stranded(one)
        },
        stranded={one.node: one.layout for queue, one in waiting if queue.is_stranded(one)},
        proofs={node: proof for queue in queues for node, proof in queue.proofs.items()},
        watched=queues[0].folder.watched,
    )


def stranded_in(lines: Iterable[Line]) -> frozenset[Text]:
    """Name the nodes that failed clients left behind."""
    return frozenset(
        one.node
        for queue in folder_queues(lines)
        for one in queue.waiters
        if queue.is_stranded(one)
    )


def obstacles_of(lines: Sequence[Line]) -> tuple[Member, ...]:
    """Give the foreign children that somebody waits for."""
    found = {one.node: one for queue in folder_queues(lines) for one in queue.obstacles}
    for line in lines:
        if isinstance(line, Pool) and line.is_short:
            found.update((one.node, one) for one in line.taken)
    return tuple(found.values())
