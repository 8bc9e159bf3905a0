"""Read the lock at a path of the world: `lock_at` returns it, or what the path is instead."""

from typing import Final

from zktop.model.facts import Millis, Session
from zktop.model.layouts.layout import Layout, LockKind
from zktop.model.layouts.site import LockSite
from zktop.model.locks.by_name import Queues, grouped, mixed, one_queue, watching_in
from zktop.model.locks.client_order import sorts_by_id
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.members import is_election, is_promoting, known_members
from zktop.model.locks.open_folder import (
    FolderOpener,
    folder_queues,
    is_watching,
    memory_of,
    obstacles_of,
    stranded_in,
)
from zktop.model.locks.recognise import Recognised, recognise
from zktop.model.locks.shapes import SHAPE_OF_LAYOUT
from zktop.model.locks.shapes.shape import LockShape, ShapeContext, ShapedQueues
from zktop.model.locks.update import updated
from zktop.model.locks.warnings import NEARLY_EXHAUSTED
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
) -> Lock | NotALock:
    """Return the lock at a path; `previous` is the earlier result for the same path.

    The same object comes back as long as its facts are the same. A different root under the same
    path has nothing to do with the previous one.
    """
    site = LockSite(Text(path), world, settings)
    before = previous if isinstance(previous, Lock) and _is_same_root(previous, site) else None
    if before is not None:
        if before.family is site.family and _is_unchanged(before, site, now):
            return before
        quick = updated(before, site)
        if quick is not None:
            return quick
    recognised = recognise(site, before.layout if before else None)
    if site.family.denied and before is None and site.configured is None:
        return NotALock(site.path, recognised.kind, error=DENIED)
    if not recognised.is_lock:
        foreign = tuple(znode.name for znode in recognised.rest)
        return NotALock(site.path, recognised.kind, foreign, _denial(site), recognised.asks)
    return _Build(site, recognised, world, now, before).lock()


def _is_same_root(previous: Lock, site: LockSite) -> bool:
    known, stat = previous.stat, site.family.stat
    return known is None or stat is None or known.czxid == stat.czxid


def _is_unchanged(lock: Lock, site: LockSite, now: Millis) -> bool:
    if lock.asks_watches or (lock.until is not None and now >= lock.until):
        return False
    return site.still_hold(lock.dependencies)


def _denial(site: LockSite) -> str | None:
    return DENIED if site.family.denied else None


class _Build:
    """The input of one lock, while it is put together."""

    def __init__(
        self,
        site: LockSite,
        recognised: Recognised,
        world: World,
        now: Millis,
        before: Lock | None,
    ) -> None:
        self.site, self.recognised, self.world, self.now = site, recognised, world, now
        self.configured = site.configured
        self.leases = self.configured.leases if self.configured else None
        self.before = before
        self.known = known_members(before)

    def lock(self) -> Lock:
        shape = SHAPE_OF_LAYOUT.get(self.recognised.kind)
        if shape is not None and not self.recognised.places:
            return self._of_shape(shape)
        return self._of_queues()

    def _of_shape(self, shape: LockShape) -> Lock:
        layout = self.recognised.layouts[0]
        opening = FolderOpener(self.world, self.site, memory_of(self.before))
        made = shape.make(
            ShapeContext(self.site, layout, self.now, self.leases, self.known, opening)
        )
        return self._lock(made, made.foreign, layout)

    def _of_queues(self) -> Lock:
        queues = self._queues()
        foreign = tuple(znode.name for znode in self.recognised.rest)
        layout = queues.leases.layout or self.recognised.layouts[0]
        return self._lock(queues, foreign, layout)

    def _queues(self) -> Queues:
        layouts, places = self.recognised.layouts, self.recognised.places
        opening = FolderOpener(self.world, self.site, memory_of(self.before))
        opened = opening.of(self.site.family, layouts)
        if len(layouts) > 1:
            interop = self.configured is not None and self.configured.interop
            return mixed(layouts, places, self.known, opened, interop=interop)
        layout = layouts[0]
        listed = places.get(layout.name, [])
        if layout.grouped:
            return grouped(layout, listed, self.known, opened)
        if layout.name == "clickhouse-leader-election":
            listed = [] if any(place.name.sequence is None for place in listed) else listed
        is_unsure = self.recognised.rest or opening.memory.stranded or sorts_by_id(layout)
        watching = watching_in(self.site.path, self._watches)
        return one_queue(
            layout,
            listed,
            watching,
            opened=opened if is_unsure else None,
            leases=self.leases,
            known=self.known,
        )

    def _watches(self, session: Session, path: Text) -> bool | None:
        return is_watching(self.world, session, path)

    def _lock(
        self, made: Queues | ShapedQueues, foreign: tuple[Text, ...], layout: Layout
    ) -> Lock:
        family = self.site.family
        return Lock(
            path=self.site.path,
            layout=self.recognised.kind,
            kind=self._kind(made, layout),
            queues=made.queues,
            stat=self.site.stat,
            seen_zxid=family.listed_at,
            at=family.told_at,
            leases=made.leases.number,
            leases_are=made.leases.are,
            foreign=foreign,
            obstacles=obstacles_of(made.queues),
            stranded=stranded_in(made.queues),
            warnings=self._warnings(made, foreign),
            error=_denial(self.site),
            blocking=self.configured is not None and self.configured.blocking,
            until=made.until if isinstance(made, ShapedQueues) else None,
            asks_watches=self.recognised.asks or made.asks,
            family=family,
            dependencies=tuple(self.site.dependencies),
        )

    def _kind(self, made: Queues | ShapedQueues, layout: Layout) -> LockKind:
        if self.configured is not None and self.configured.kind is not None:
            return self.configured.kind
        if layout.means == "mutex" and made.leases.number is not None and made.leases.number > 1:
            return "semaphore"
        if any(_is_shared(one, made) for one in self.recognised.layouts):
            return "read-write"
        means = "mutex" if layout.means == "read-write" else layout.means
        return "election" if is_election(self.site.path, layout, made.queues) else means

    def _warnings(self, made: Queues | ShapedQueues, foreign: tuple[Text, ...]) -> tuple[str, ...]:
        warnings = [word for queue in made.queues for word in queue.warnings]
        warnings.extend(made.warnings)
        stat = self.site.stat
        if stat is not None and (stat.next_sequence or 0) > NEARLY_EXHAUSTED:
            warnings.append("sequence-exhausted")
        if foreign:
            warnings.append("foreign-children")
        if obstacles_of(made.queues):
            warnings.append("blocked-by-foreign")
        if any(queue.fails for queue in folder_queues(made.queues)):
            warnings.append("broken-by-foreign")
        if self.recognised.guessed:
            warnings.append("low-confidence")
        return tuple(dict.fromkeys(warnings))


def _is_shared(layout: Layout, made: Queues | ShapedQueues) -> bool:
    """Return whether readers may share; with some names only once there is a reader."""
    if layout.means != "read-write" or not is_promoting(layout):
        return layout.means == "read-write"
    return any(member.mode == "read" for queue in made.queues for member in queue.members)
