"""Read/write locks: readers share the lock, a writer excludes all others.

Contenders queue up by sequence number, except in `rw-naive`, which is broken on purpose: it sorts
whole names, as the sample in the Python article does, so `read-` comes before `write-`.
"""

import re
from typing import ClassVar

from zktop.demo.recipes.queue_recipe import SEQUENCE_NUMBER, HerdRecipe, QueueRecipe
from zktop.demo.stoppable_wait import Timeout
from zktop.demo_types.contender_order import Flaw


class ReadWrite(QueueRecipe):
    """A reader watches the last writer ahead of it, a writer the node just ahead of it."""

    name = "rw"
    source = "article 3, read/write version 2: read- and write- nodes"
    brief = "a reader watches the last writer, a writer the node ahead"
    creates = "an ephemeral read-<number> or write-<number> node below the lock"
    decides = "a reader enters when no writer is ahead of it, a writer when no node is"
    watches = "the last writer ahead of it (a reader) or the node just ahead of it (a writer)"
    modes = ("read", "write")
    pattern = "read-|write-"
    joins: ClassVar[tuple[str, ...]] = ("rw-read-write",)

    def _ahead(self, me: str) -> list[str]:
        """Return the nodes that exclude ours: all ahead of a writer, writers ahead of a reader."""
        ahead = super()._ahead(me)
        if self.mode == "write":
            return ahead
        return [name for name in ahead if self._is_writer(name)]

    def _prefix(self) -> str:
        return f"{self.mode}-"

    def _is_writer(self, name: str) -> bool:
        return name.startswith("write-")


class ReadWriteHost(ReadWrite):
    """`ReadWrite` with the host's name in front of the mode."""

    name = "rw-host"
    source = "article 3, read/write version 2: host1-W- and host2-R- nodes"
    brief = "like rw, with the host in the node names"
    creates = "an ephemeral <host>-R-<number> or <host>-W-<number> node below the lock"
    pattern = r".+-[RW]-"
    joins: ClassVar[tuple[str, ...]] = ("rw-host",)

    def _prefix(self) -> str:
        return f"{self.owner.replace('/', '_')}-{self.mode[0].upper()}-"

    def _is_writer(self, name: str) -> bool:
        return re.search(rf"-W-{SEQUENCE_NUMBER}", name) is not None


class ReadWriteHerd(HerdRecipe, ReadWrite):
    """Read/write lock in which every contender watches the children of the lock: a herd."""

    name = "rw-herd"
    source = "article 3, read/write version 1: read- and write- nodes"
    brief = "readers share; all watch the children: a herd"
    joins: ClassVar[tuple[str, ...]] = ()


class ReadWriteHerdHost(ReadWriteHerd, ReadWriteHost):
    """`ReadWriteHerd` with the host's name in front of the mode."""

    name = "rw-herd-host"
    source = "article 3, read/write version 1: host1-W- and host2-R- nodes"
    brief = "like rw-herd, with the host in the node names"


SPIN = Flaw(
    "spin",
    "a waiting writer retries without a pause: thousands of requests per second",
)


class NaiveReadWrite(ReadWrite):
    """Broken on purpose: it sorts whole names, as a real sample does."""

    name = "rw-naive"
    source = "article 4, Python on kazoo: read- and write- nodes, sorted by name"
    brief = "BROKEN: whole names are sorted, so readers come first"
    decides = (
        "a reader enters unless the first of all names is a writer's, a writer if its own name is "
        "first; but read- sorts before write-"
    )
    watches = "the first of all names (exists)"
    flaws = (SPIN,)
    broken = (
        "it sorts whole names, so every reader believes that it is ahead of every writer, and "
        "enters while a writer holds the lock"
    )
    joins: ClassVar[tuple[str, ...]] = ()

    def _ahead(self, me: str) -> list[str]:
        """Return the first in the queue if it excludes ours. Sorting whole names is the flaw."""
        names = sorted(self._queue())
        place, first = self._place(me, names), names[0]
        matters = self.mode == "write" or self._is_writer(first)
        return [first] if place > 0 and matters else []

    def _watch(self, name: str) -> bool:
        return self._has_flaw(SPIN) or super()._watch(name)

    def _wait(self, deadline: Timeout) -> bool:
        if self._has_flaw(SPIN):
            self.client.wakeup.check()
            return not deadline.over
        return super()._wait(deadline)
