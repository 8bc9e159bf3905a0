"""Makes the lock at a path of the world, or says what is there instead (`lock_at`)."""

from typing import Final

import msgspec

from zktop.model.facts import Millis, join
from zktop.model.layouts.lock_site import LockSite
from zktop.model.locks.client_order import sorts_by_id
from zktop.model.locks.folder import NO_MEMORY, FolderMemory
from zktop.model.locks.lock import Lock, Member, NotALock
from zktop.model.locks.lock_kind import kind_of
from zktop.model.locks.members import known_members
from zktop.model.locks.open_folder import (
    FolderOpener,
    is_watching,
    memory_of,
    obstacles_of,
    only_mixed,
    stranded_in,
)
from zktop.model.locks.queue_oddities import is_nearly_exhausted
from zktop.model.locks.queues_by_name import Queues, grouped_queues, mixed_queues, one_queue
from zktop.model.locks.recognise import Recognised, has_clickhouse_marker, recognise
from zktop.model.locks.shapes import SHAPE_OF_LAYOUT
from zktop.model.locks.shapes.shape import LockShape, ShapeContext
from zktop.model.locks.simple_lock import simple_lock
from zktop.model.locks.update_lock import update_lock
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

DENIED: Final = "its children cannot be listed: the ACL forbids it"


def lock_at(
    path: str,
    world: World,
    settings: Settings,
    now: Millis,
    previous: Lock | NotALock | None = None,
    memory: FolderMemory = NO_MEMORY,
) -> Lock | NotALock:
    """Return the lock at a path; `previous` is the earlier result for the same path.

    The same object is returned while its facts stay the same. If the root was deleted and created
    again, `previous` is ignored. Without `previous`, `memory` stands in for what it would have
    remembered.
    """
    site = LockSite(Text(path), world, settings)
    before = previous if isinstance(previous, Lock) and _is_same_root(previous, site) else None
    if before is not None:
        is_due = before.asks_watches or (before.until is not None and now >= before.until)
        if before.family is site.family and not is_due and site.still_hold(before.dependencies):
            return before
        quick = update_lock(before, site)
        # A mixed queue remembers what its clients saw, which `simple_lock` would forget.
        if quick is None and not any(only_mixed(before.queues)):
            quick = simple_lock(site, known_members(before))
        if quick is not None:
            return quick
    recognised = recognise(site, before.layout if before else None)
    if site.family.denied and before is None and site.configured is None:
        return NotALock(site.path, recognised.kind, error=DENIED)
    if not recognised.is_lock:
        foreign = tuple(znode.name for znode in recognised.rest)
        asks_watches = recognised.asks_watches
        return NotALock(site.path, recognised.kind, foreign, _denial(site), asks_watches)
    known = memory if before is None else memory_of(before)
    return _LockBuilder(site, recognised, now, before, known).lock()


def _is_same_root(previous: Lock, site: LockSite) -> bool:
    known, stat = previous.stat, site.family.stat
    return known is None or stat is None or known.czxid == stat.czxid


def _denial(site: LockSite) -> str | None:
    return DENIED if site.family.denied else None


class _LockBuilder:
    """One lock under construction."""

    def __init__(
        self,
        site: LockSite,
        recognised: Recognised,
        now: Millis,
        before: Lock | None,
        memory: FolderMemory,
    ) -> None:
        self._site, self._recognised, self._now = site, recognised, now
        self._configured = site.configured
        self._leases = self._configured.leases if self._configured else None
        self._known = known_members(before)
        self._folders = FolderOpener(site, memory, before)
        self._previous_queues = before.queues if before else ()

    def lock(self) -> Lock:
        shape = SHAPE_OF_LAYOUT.get(self._recognised.kind)
        if shape is not None and not self._recognised.matches:
            built = self._by_shape(shape)
        else:
            foreign = tuple(znode.name for znode in self._recognised.rest)
            built = msgspec.structs.replace(self._by_name(), foreign=foreign)
        family = self._site.family
        return Lock(
            path=self._site.path,
            layout=self._recognised.kind,
            kind=kind_of(self._site, self._recognised, built),
            queues=built.queues,
            stat=self._site.stat,
            seen_zxid=family.listed_at,
            at=family.arrived_at,
            leases=built.leases.number,
            leases_are=built.leases.are,
            foreign=built.foreign,
            obstacles=obstacles_of(built.queues),
            stranded=stranded_in(built.queues),
            warnings=self._warnings(built),
            error=_denial(self._site),
            blocking=self._configured is not None and self._configured.blocking,
            until=built.until,
            asks_watches=self._recognised.asks_watches or built.asks_watches,
            family=family,
            dependencies=tuple(self._site.dependencies),
        )

    def _by_shape(self, shape: LockShape) -> Queues:
        layout = self._recognised.layouts[0]
        return shape.make(
            ShapeContext(
                self._site,
                layout,
                self._now,
                self._leases,
                self._known,
                self._folders,
                self._previous_queues,
            )
        )

    def _by_name(self) -> Queues:
        layouts, matches = self._recognised.layouts, self._recognised.matches
        open_folder = self._folders.of(self._site.family, layouts)
        if len(layouts) > 1:
            interop = self._configured is not None and self._configured.interop
            return mixed_queues(layouts, matches, self._known, open_folder, interop=interop)
        layout = layouts[0]
        listed = matches.get(layout.name, [])
        if layout.grouped:
            return grouped_queues(layout, listed, self._known, open_folder)
        if has_clickhouse_marker(layout, listed):
            listed = []  # with the marker, the nodes do not show which replica leads
        rest, stranded = self._recognised.rest, self._folders.memory.stranded
        needs_folder = bool(rest or stranded or sorts_by_id(layout))
        return one_queue(
            layout,
            listed,
            self._is_watching,
            open_folder=open_folder if needs_folder else None,
            leases=self._leases,
            known=self._known,
        )

    def _is_watching(self, member: Member, node: Text) -> bool | None:
        path = join(self._site.path, node)
        return is_watching(self._site.world, member.owner, path, member.czxid)

    def _warnings(self, built: Queues) -> tuple[str, ...]:
        warnings = [warning for queue in built.queues for warning in queue.warnings]
        warnings.extend(built.warnings)
        if is_nearly_exhausted(self._site.stat):
            warnings.append("sequence-exhausted")
        if built.foreign:
            warnings.append("foreign-children")
        if obstacles_of(built.queues):
            warnings.append("blocked-by-foreign")
        if any(queue.fails for queue in only_mixed(built.queues)):
            warnings.append("broken-by-foreign")
        if self._recognised.guessed:
            warnings.append("low-confidence")
        return tuple(dict.fromkeys(warnings))
