"""The test whether all of a ring existed at one moment, or was stitched together.

Queues are read at different times. But a node never changes and never comes back: it existed from
its czxid to the zxid of a listing that shows it. If the newest of the nodes is not younger than
the oldest of the looks, there was a moment with all of them.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from zktop.model.waits.state import Queue, Request


class Coexistence(Struct, frozen=True, gc=False):
    """Newest czxid, oldest look, and the locks that must be listed again to prove it."""

    newest: int
    oldest_look: int
    relist: tuple[str, ...]
    is_proven: bool


def coexistence(
    members: Iterable[tuple[str, Request]], queues: Mapping[str, Queue]
) -> Coexistence:
    """Test the members (lock path, request) against the newest looks at their locks.

    Nothing to list again and yet not proven: a zxid is not known, or a waiter has no node.
    """
    members = list(members)
    newest = max(request.czxid for _, request in members)
    looks = {lock: queues[lock].seen_zxid for lock, _ in members}
    is_known = all(looks.values()) and all(request.czxid > 0 for _, request in members)
    late = tuple(sorted(lock for lock, zxid in looks.items() if 0 < zxid < newest))
    return Coexistence(newest, min(looks.values()), late, is_proven=is_known and not late)
