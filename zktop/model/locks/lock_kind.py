"""The kind of a lock: mutex, semaphore, read/write, election or lease."""

import ipaddress
import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from zktop.model.layouts.layout import Layout, LockKind
from zktop.model.layouts.lock_site import LockSite
from zktop.model.locks.lock import LockQueue, Member
from zktop.model.locks.members import is_promoting
from zktop.model.locks.queues_by_name import Queues
from zktop.model.locks.recognise import Recognised

_MAYBE_ELECTIONS: Final = frozenset(
    ("curator-mutex", "kazoo-lock", "guid-lock", "bare-sequence", "named-sequence")
)
_ELECTION_SAMPLE = 4
# Not a leaderboard, electronics or a selection; but `ordersElection` is one.
_ELECTION: Final = r"(?i:leader(?!board))|(?:(?<![sS])(?i:elect)|Elect)(?![rR])"


def kind_of(site: LockSite, recognised: Recognised, built: Queues) -> LockKind:
    """Return the kind of a lock, from its config, or else from its leases, modes and path."""
    first = built.leases.layout or recognised.layouts[0]
    if site.configured is not None and site.configured.kind is not None:
        return site.configured.kind
    if first.means == "mutex" and built.leases.number is not None and built.leases.number > 1:
        return "semaphore"
    if any(_is_shared(layout, built) for layout in recognised.layouts):
        return "read-write"
    means = "mutex" if first.means == "read-write" else first.means
    return "election" if is_election(site.path, first, built.queues) else means


def _is_shared(layout: Layout, built: Queues) -> bool:
    """Return whether this is a read/write lock: for some layouts, only if there is a reader."""
    if layout.means != "read-write":
        return False
    members = (member for queue in built.queues for member in queue.members)
    return not is_promoting(layout) or any(member.mode == "read" for member in members)


def is_election(path: str, layout: Layout, queues: Sequence[LockQueue]) -> bool:
    """Detect an election by its path. Candidates of Curator have an id instead of an address."""
    if layout.name not in _MAYBE_ELECTIONS:
        return False
    lower = path.lower()  # nearly all paths contain neither word
    if "leader" not in lower and "elect" not in lower:
        return False
    if not re.search(_ELECTION, path):
        return False
    members = (member for queue in queues for member in islice(queue.members, _ELECTION_SAMPLE))
    return layout.name != "curator-mutex" or not any(map(_is_address, members))


def _is_address(member: Member) -> bool:
    try:
        ipaddress.ip_address(member.label or "")
    except ValueError:
        return False
    return True
