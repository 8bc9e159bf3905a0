"""Where locks may be: the paths that are worth a closer look."""

from collections.abc import Iterator

from zktop.model.facts import join, split
from zktop.model.layouts.ground import Ground, is_lockish
from zktop.model.layouts.singles import is_lock_of_its_parent
from zktop.model.layouts.structures import part_of
from zktop.model.layouts.terms import expiring
from zktop.model.locks.reach import unnumbered
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world import World


def candidates(world: World, settings: Settings) -> Iterator[Text]:
    """Give every known path that may be a lock; `lock_at` has the last word."""
    paths = {Text(root.path) for root in settings.roots if "*" not in root.path}
    for path, family in world.families.items():
        paths.add(path)
        paths.update(join(path, name) for name in family.members)
    return (path for path in sorted(paths) if may_be_lock(path, world, settings))


def may_be_lock(path: str, world: World, settings: Settings) -> bool:
    """Tell whether a path may be a lock: a parent of anything, or a lock-like node.

    What is part of another lock is none of its own.
    """
    if any(root.path == path for root in settings.roots):
        return True
    ground = Ground(Text(path), world, settings)
    family = ground.family
    if family.listed or family.members or family.denied:
        return not part_of(ground)
    parent, name = split(path)
    znode = world.node(path)
    if znode is None or not unnumbered([name]):
        return False
    if not _may_be_held(znode.stat.owner if znode.stat else 0, name, znode.data):
        return False
    return not is_lock_of_its_parent(Ground(parent, world, settings), name)


def _may_be_held(owner: int, name: str, data: bytes | None) -> bool:
    if owner:
        return is_lockish(name)
    return data is not None and data[:1] == b"{" and expiring(data) is not None
