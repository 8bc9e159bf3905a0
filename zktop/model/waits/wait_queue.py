"""The input of the wait engine: queues of requests, as plain frozen values.

They need no garbage collection (`gc=False`), since they cannot be part of a reference cycle: tens
of thousands of them would slow down each collection.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from zktop.model.layouts.layout import LockMode

QueueKind = Literal["exclusive", "read-write", "pool", "single", "election", "conflict"]
_NUMBER: Final = "\0"  # between a path and the number of a queue: no path contains it


def queue_name(path: str, number: int) -> str:
    """The name of a lock's queue with this number. For number 0, it is the path itself."""
    return f"{path}{_NUMBER}{number}" if number else path


def lock_path(name: str) -> str:
    """The lock that a queue belongs to.

    >>> lock_path(queue_name("/locks/a", 0)), lock_path(queue_name("/locks/a", 1))
    ('/locks/a', '/locks/a')
    """
    return name.partition(_NUMBER)[0]


class WaitRequest(Struct, frozen=True, gc=False):
    """One place in a queue.

    `node` is unique in its queue. A request whose znode was not read has czxid 0; clients that
    only watch a znode have no request. An `exempt` one is granted at once, whatever its position,
    and still blocks those behind it (a re-entrant read, a lease known to be taken). No writer
    among readers may be exempt. `releases=False`: no client will ever remove the node; each such
    request has a pseudo actor. `session` is the owner, if the configuration merges sessions into
    one actor or splits them.
    """

    node: str
    actor: str
    mode: LockMode
    czxid: int
    since_ms: int | None = None
    exempt: bool = False
    releases: bool = True
    session: str | None = None

    @property
    def reads(self) -> bool:
        """Whether it shares the lock with other readers."""
        return self.mode == "read"


class WaitQueue(Struct, frozen=True, gc=False):
    """One lock at one moment: its requests in queue order, and the rule that decides between them.

    pool: `capacity` requests hold at once. If it is unknown (None or 0), none is known to wait.
    single: the first request and exempt ones hold. The rest wait for the first, in no particular
    order. If no client holds it, `requests` is empty.
    election: the first leads for good. Followers wait only if the root is `blocking`.
    conflict: a request waits for the nodes that `conflicts` lists for it. They precede it, except
    after an overflow of the counter; a deadlock that involves a later node may be missed.
    `seen_zxid` is the zxid in the header of the listing that the queue comes from (0: unknown).
    `guessed`: the layout of the lock, and so the order, is only a guess.
    """

    lock: str
    kind: QueueKind
    requests: tuple[WaitRequest, ...]
    capacity: int | None = None
    capacity_is: Literal["known", "inferred"] = "known"
    blocking: bool = False
    seen_zxid: int = 0
    conflicts: Mapping[str, tuple[str, ...]] | None = None
    guessed: bool = False

    @property
    def can_block(self) -> bool:
        """Whether a place in this queue can block another."""
        if self.kind == "election":
            return self.blocking
        return self.kind != "pool" or bool(self.capacity)

    @property
    def rules(self) -> tuple[object, ...]:
        """Everything besides the requests that decides which of them hold."""
        return self.kind, self.capacity, self.blocking

    @property
    def room(self) -> int:
        """The number of requests that can hold at once."""
        return (self.capacity or 1) if self.kind == "pool" else 1
