"""The locks of a world, and how they differ from those of the previous world.

The lock at a path is rebuilt if its facts change. Locks with timed leases are also rebuilt when a
lease ends, and locks that depend on watches when a server has a new table of them.
"""

from collections.abc import Iterable, Mapping

from zktop.model.facts import Millis
from zktop.model.history.lock_change import LockChange
from zktop.model.layouts.lock_names import is_folder_of_locks, sounds_like_one_lock
from zktop.model.layouts.lock_site import LockSite
from zktop.model.lock_candidates import affected_locks, may_be_lock
from zktop.model.locks.folder import NO_MEMORIES, NO_MEMORY, FolderMemories
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.recognise import CONTAINER, PART, UNKNOWN
from zktop.model.locks.shapes.semaphores import QUEUE_OF_SEMAPHORE
from zktop.model.locks.simple_lock import simple_lock
from zktop.model.locks.update_lock import children_diff
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NO_FAMILY, Family, Znode
from zktop.model.world.world import World


class LockTracker:
    """A fold over worlds: the locks of the newest one."""

    def __init__(self, settings: Settings, memories: FolderMemories = NO_MEMORIES) -> None:
        """Begin with what was known about some locks, by path."""
        self._memories = dict(memories)
        self.locks: dict[Text, Lock] = {}
        self.paths: tuple[Text, ...] = ()  # of all locks, sorted
        self._settings = settings
        self._world = World()
        self._due: dict[Text, Millis] = {}  # when a lock will change without new facts
        self._watched: set[Text] = set()  # locks that watch tables can change
        self._rejected: set[Text] = set()  # paths that watch tables may still show to be locks

    def changes(self, world: World, now: Millis) -> list[LockChange]:
        """Advance to the next world; return the locks that changed."""
        changed = world.changed_since(self._world)
        paths = self._affected_paths(world, changed.paths)
        paths.update(path for path, due in self._due.items() if due <= now)
        if any(_watches_differ(self._world, world, server) for server in changed.servers):
            paths |= self._watched | self._rejected
        self._world = world
        changes = [
            change
            for path in sorted(paths)
            if (change := self._change(path, world, now)) is not None
        ]
        for change in changes:
            self._store(change)
        if any((change.before is None) != (change.after is None) for change in changes):
            self.paths = tuple(sorted(self.locks))
        return changes

    def _affected_paths(self, world: World, changed: Iterable[Text]) -> set[Text]:
        """The paths of the locks that depend on the changed children of these znodes."""
        paths: set[Text] = set()
        for path in changed:
            family_before = self._world.families.get(path, NO_FAMILY)
            family = world.families.get(path, NO_FAMILY)
            before, after = family_before.members, family.members
            names = children_diff(before, after).names if before else after
            unnumbered = _unnumbered(names, family)
            if len(unnumbered) < len(names) and _changes_kind(path, family_before, family):
                unnumbered = _unnumbered({**before, **after}, family)
            paths.update(affected_locks(path, _examined(unnumbered, before, after)))
        return paths

    def _change(self, path: Text, world: World, now: Millis) -> LockChange | None:
        self._rejected.discard(path)
        before, site = self.locks.get(path), LockSite(path, world, self._settings)
        if before is None and self._settings.roots and site.configured is None:
            return None  # outside the roots
        if before is not None and before.unrecognised:
            return _change_of_unrecognised(before, self._lock_at(site, now, None))
        after = self._lock_at(site, now, before)
        return None if after is before else LockChange.between(path, before, after)

    def _lock_at(self, site: LockSite, now: Millis, known: Lock | None) -> Lock | None:
        """The lock at a site, or an empty one if the user named it; `known` is the earlier one."""
        path, world = site.path, site.world
        is_new = known is None and path not in self._memories
        if is_new and (simple := simple_lock(site)):
            return simple
        if not may_be_lock(site):
            return None
        memory = self._memories.pop(path, NO_MEMORY)
        result = lock_at(path, world, self._settings, now, known, memory)
        if isinstance(result, Lock):
            return result
        if result.asks_watches:
            self._rejected.add(path)
        return _empty_lock(result, site.configured, world)

    def _store(self, change: LockChange) -> None:
        path, lock = change.path, change.after
        self._due.pop(path, None)
        self._watched.discard(path)
        if lock is None:
            del self.locks[path]
            return
        self.locks[path] = lock
        if lock.until is not None:
            self._due[path] = lock.until
        if lock.asks_watches:
            self._watched.add(path)


def _watches_differ(before: World, after: World, server: Text) -> bool:
    """Whether a server has a new watch table, or came or went; hidden tables do not differ."""
    was, now = before.tables.get(server), after.tables.get(server)
    if was is None or now is None:
        return True
    return was.watches is not now.watches and any(
        table is not None and table.rows is not None for table in (was.watches, now.watches)
    )


def _unnumbered(names: Iterable[Text], parent: Family) -> list[Text]:
    """The names without a sequence number; numbered children are not locks themselves."""
    return [name for name in names if not parent.may_have_numbered(name)]


def _changes_kind(path: Text, before: Family, after: Family) -> bool:
    """Whether a folder of locks becomes the queue of one lock, or the other way round."""
    return is_folder_of_locks(path) and before.has_numbered != after.has_numbered


def _examined(
    names: Iterable[Text], before: Mapping[Text, Znode], after: Mapping[Text, Znode]
) -> list[Text]:
    """Leave out new children of which only the name is known.

    It would take a second to find that none of 100,000 such names is a lock.
    """
    return [
        name
        for name in names
        if name in before
        or (znode := after[name]).stat is not None
        or znode.hidden
        or name.endswith(QUEUE_OF_SEMAPHORE)
    ]


def _empty_lock(rejected: NotALock, root: Root | None, world: World) -> Lock | None:
    """Make an empty lock for a path that the user named, but where no lock is recognised."""
    if root is None or (("*" in root.path) and rejected.error is None):
        return None
    family = world.family(rejected.path)
    if not family.listed and not family.denied:
        return None
    is_unknown = rejected.kind == UNKNOWN
    is_free = not family.members or (is_unknown and _is_free(rejected.path, family))
    advice = f"use --root '{root.path.rstrip('/')}/**'"
    return Lock(
        path=rejected.path,
        layout=rejected.kind,
        kind=root.kind or "other",
        queues=(),
        stat=family.stat,
        seen_zxid=family.listed_at,
        at=family.arrived_at,
        foreign=rejected.foreign,
        error=rejected.error or (None if is_free else why_no_lock(rejected.kind, advice)),
        unrecognised=True,
        family=family,
    )


def _is_free(path: Text, family: Family) -> bool:
    """Whether the path names a lock, and no child is owned by a session or has children."""
    stats = [znode.stat for znode in family]
    are_plain = all(stat and not stat.owner and not stat.num_children for stat in stats)
    return are_plain and sounds_like_one_lock(path)


def why_no_lock(kind: str, advice: str) -> str:
    """Say why a path that the user named, and that has children, is not a lock.

    `advice` is what to do if it is a folder of locks.

    >>> why_no_lock("not-a-lock:queue", "name one of them")
    'its children look like those of a queue, not of a lock'
    """
    if kind == CONTAINER:
        return f"it is a folder of locks, so {advice}"
    if kind == PART:
        return "it is part of another lock"
    if kind == UNKNOWN:
        return f"zktop recognises no lock in its children; if it is a folder of locks, {advice}"
    return f"its children look like those of a {kind.removeprefix('not-a-lock:')}, not of a lock"


def _change_of_unrecognised(before: Lock, after: Lock | None) -> LockChange | None:
    """Compare an empty lock that the user named with its next version; None if both are the same.

    If a lock is recognised there only now, its members may be older than this look. So they are
    compared with no lock instead of an empty one.
    """
    if after is not None and after.unrecognised and _are_same(before, after):
        return None
    is_recognised = after is not None and not after.unrecognised
    had_children = bool(before.family.members) and not before.family.denied
    return LockChange.between(
        before.path, None if is_recognised and had_children else before, after
    )


def _are_same(before: Lock, after: Lock) -> bool:
    """Whether two empty locks at one path are the same."""
    return before.family is after.family and all(
        getattr(before, field) == getattr(after, field)
        for field in ("layout", "kind", "foreign", "error")
    )
