"""Read/write locks by the articles: readers share, a writer is alone, the order is by number."""

from zktop.demo.bell import Patience
from zktop.demo.recipes.recipe import QueueRecipe

HOST_NAMES = r".+-[RW]-"
PLAIN_NAMES = "read-|write-"


class ReadWrite(QueueRecipe):
    """Version 2: a reader watches the last smaller writer, a writer the one before it."""

    name = "rw"
    source = "article 3, read/write version 2: read- and write- nodes"
    brief = "a reader watches the last writer, a writer the one before"
    creates = "an ephemeral read-<number> or write-<number> node below the lock"
    lists = "the queue, and again whenever it is woken"
    decides = "a reader goes in when no writer is before it, a writer when nobody is"
    watches = "the last writer before it (a reader) or the node right before it (a writer)"
    modes = ("read", "write")
    pattern = PLAIN_NAMES

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the last node before us that excludes us."""
        patience = Patience(timeout)
        me = self._join(self._prefix())
        while ahead := self._ahead(me, self._queue()):
            self._decide(f"{ahead[-1]} is before {me} and excludes it")
            if self._watch_if_there(ahead[-1]) and not self._wait(patience):
                return self._gave_up()
        self._decide(f"nobody before {me} excludes it")
        return self._got()

    def _ahead(self, me: str, queue: list[str]) -> list[str]:
        """Who excludes us: for a writer everybody before it, for a reader every writer."""
        before = queue[: self._place(me, queue)]
        return before if self.mode == "write" else [name for name in before if self._writes(name)]

    def _prefix(self) -> str:
        return f"{self.mode}-"

    def _writes(self, name: str) -> bool:
        return name.startswith("write-")


class ReadWriteHost(ReadWrite):
    """Version 2 with the host's name in front of the mode."""

    name = "rw-host"
    source = "article 3, read/write version 2: host1-W- and host2-R- nodes"
    brief = "the same as rw, with the host in the nodes' names"
    creates = "an ephemeral <host>-R-<number> or <host>-W-<number> node below the lock"
    pattern = HOST_NAMES

    def _prefix(self) -> str:
        return f"{self.owner.replace('/', '_')}-{self.mode[0].upper()}-"

    def _writes(self, name: str) -> bool:
        return "-W-" in name[-13:]


class ReadWriteHerd(ReadWrite):
    """Version 1: everybody watches the children of the lock."""

    name = "rw-herd"
    source = "article 3, read/write version 1: read- and write- nodes"
    brief = "readers share; all watch the children: a herd"
    watches = "the children of the lock, so every change wakes everybody: a herd"

    def acquire(self, timeout: float | None = None) -> bool:
        """Look again whenever anything under the lock changes."""
        patience = Patience(timeout)
        me = self._join(self._prefix())
        while ahead := self._ahead(me, self._queue_watched()):
            self._decide(f"{ahead[-1]} is before {me} and excludes it: wait for any change")
            if not self._wait(patience):
                return self._gave_up()
        self._decide(f"nobody before {me} excludes it")
        return self._got()

    def _queue_watched(self) -> list[str]:
        self.client.bell.silence()
        watch = self.client.bell.ring
        return self._queue(self.client.retry(self.client.get_children, self.path, watch))


class ReadWriteHerdHost(ReadWriteHerd, ReadWriteHost):
    """Version 1 with the host's name in front of the mode."""

    name = "rw-herd-host"
    source = "article 3, read/write version 1: host1-W- and host2-R- nodes"
    brief = "the same as rw-herd, with the host in the nodes' names"
    creates = "an ephemeral <host>-R-<number> or <host>-W-<number> node below the lock"
