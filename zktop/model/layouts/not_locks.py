"""Registries: numbered nodes without a queue, such as lists of workers, hosts or items.

Only names that many clients use are in doubt. A folder whose name or whose children sound like a
lock is a lock, and so is a root whose layout the config states. Otherwise the watches decide: a
client that waits watches the node of another member, and a client that only registers watches
none, or its own. If no session has two members, they may be a lock that no client waits for.

Without watch tables, two signs of a registry remain if neither the folder nor a folder above it
sounds like a lock: its own name, and several members that all belong to one session. A lock that
threads of one process share looks the same: it needs a watch table, or `--layout`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from zktop.model.facts import Session, join, last_name
from zktop.model.layouts.children_by_layout import ParsedChild
from zktop.model.layouts.lock_names import sounds_like_lock
from zktop.model.layouts.lock_site import LockSite
from zktop.model.text import Text
from zktop.model.world.world import World

REGISTRY: Final = "not-a-lock:registry"

DOUBTFUL: Final = frozenset(("named-sequence", "bare-sequence", "curator-custom"))
_SEVERAL: Final = 2
_FOLDER: Final = re.compile(
    r"(?:^|.*[-_.])(?:workers?|members?|nodes?|hosts?|instances?|services?|servers?|providers?"
    r"|consumers?|producers?|brokers?|agents?|endpoints?|peers?|clients?|replicas?|registry"
    r"|registrations?|queues?|items?|messages?|events?|inbox|outbox)",
    re.IGNORECASE,
)


def is_registry(site: LockSite, matches: dict[str, list[ParsedChild]]) -> bool | None:
    """Return whether a root is a registry, by what is known now; None if it is certainly none."""
    is_doubtful = len(matches) == 1 and not DOUBTFUL.isdisjoint(matches)
    if not is_doubtful or sounds_like_lock(last_name(site.path)):
        return None
    (members,) = matches.values()
    if any(sounds_like_lock(member.name.group) for member in members):
        return None
    return _only_register(site, members)


def _only_register(site: LockSite, members: list[ParsedChild]) -> bool:
    owned = _by_session(site.path, members)
    if _has_waiters(site.world, owned):
        return False
    is_among_locks = sounds_like_lock(site.path)
    if sounds_like_a_registry(last_name(site.path)) and not is_among_locks:
        return True
    per_owner = Counter((_owner(member), member.name.group) for member in members)
    if max(per_owner.values(), default=0) < _SEVERAL:
        return False
    return _are_tables_newer(site.world, members) or (len(owned) == 1 and not is_among_locks)


def _has_waiters(world: World, owned: dict[Session, frozenset[Text]]) -> bool:
    """Return whether a session watches members other than exactly its own."""
    all_members = frozenset().union(*owned.values())
    tables = [table.watches.rows or {} for table in world.tables.values() if table.watches]
    for session, own in owned.items():
        watched = {path for rows in tables for path in rows.get(session, ())} & all_members
        if watched and watched != own:
            return True
    return False


def _are_tables_newer(world: World, members: Iterable[ParsedChild]) -> bool:
    """Return whether all watch tables were read after the newest member was created."""
    newest = max(member.znode.stat.czxid if member.znode.stat else 0 for member in members)
    watches = [tables.watches for tables in world.tables.values()]
    return bool(watches) and all(
        table is not None and table.rows is not None and table.zxid >= newest for table in watches
    )


def _by_session(path: Text, members: Iterable[ParsedChild]) -> dict[Session, frozenset[Text]]:
    owned: dict[Session, set[Text]] = {}
    for member in members:
        if owner := _owner(member):
            owned.setdefault(owner, set()).add(join(path, member.znode.name))
    return {session: frozenset(paths) for session, paths in owned.items()}


def _owner(member: ParsedChild) -> Session:
    return member.znode.stat.owner if member.znode.stat else 0


def sounds_like_a_registry(folder: str) -> bool:
    """Return whether the name of a folder says that it lists hosts, services or items."""
    return _FOLDER.fullmatch(folder) is not None
