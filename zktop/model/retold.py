"""Facts from worlds: those that make a world again, or that make a later one of an earlier one.

Facts commute, and each says for itself how new it is, so it does not matter that nobody knows any
more in which order they came.
"""

from collections.abc import Iterator

from zktop.model.facts import AnyFact, Children, Denied, Gone, Millis, Node, join, split
from zktop.model.family import NEVER, NOBODY, Family, Znode
from zktop.model.text import Text
from zktop.model.world import NO_TABLES, World


def state(world: World) -> Iterator[AnyFact]:
    """Give the facts that make this world again."""
    for path in sorted(world.families):
        yield from _family_facts(path, world.family(path), world.at)
    for tables in world.tables.values():
        facts = (tables.server, tables.connections, tables.watches, tables.expiry)
        yield from (fact for fact in facts if fact is not None)
    if world.link is not None:
        yield world.link


def _family_facts(path: Text, family: Family, at: Millis) -> Iterator[AnyFact]:
    yield from _listing(path, family)
    if family.denied:
        yield Denied(path=path, what="list", zxid=family.denied_at, at=at)
    for name, znode in family.members.items():
        yield from _znode_facts(join(path, name), znode, at)


def _listing(path: Text, family: Family) -> Iterator[Children]:
    if family.listed_at != NEVER and family.stat is not None:
        names = sorted(name for name, one in family.members.items() if _was_listed(one, family))
        yield Children(
            path=path,
            names=tuple(names),
            stat=family.stat,
            zxid=family.listed_at,
            at=family.at,
        )


def _was_listed(znode: Znode, family: Family) -> bool:
    """Tell whether the newest listing had it; who came later was absent then."""
    listed_at = family.listed_at
    return znode.read_at <= listed_at and family.absent.get(znode.name, NEVER) < listed_at


def _znode_facts(path: Text, znode: Znode, at: Millis) -> Iterator[AnyFact]:
    if znode.hidden:
        yield Denied(path=path, what="read", zxid=znode.read_at, at=at)
    elif znode.stat is not None:
        yield Node(path=path, stat=znode.stat, data=znode.data, zxid=znode.read_at, at=at)
    if znode.seen_at > znode.read_at:
        yield Node(path=path, zxid=znode.seen_at, at=at)


def difference(before: World, after: World) -> Iterator[AnyFact]:
    """Give the facts that make the later world of the earlier one."""
    change = after.changed_since(before)
    for path in sorted(change.paths):
        family = after.families.get(path)
        if family is not None:
            yield from _family_changes(path, before.families.get(path, NOBODY), family)
        else:
            yield from _end(path, after)
    for server in sorted(change.servers):
        now, then = after.tables[server], before.tables.get(server, NO_TABLES)
        fields = ("server", "connections", "watches", "expiry")
        told = [getattr(now, field) for field in fields]
        yield from (
            fact
            for fact, field in zip(told, fields, strict=True)
            if fact is not None and fact is not getattr(then, field)
        )
    if change.link and after.link is not None:
        yield after.link


def _end(path: Text, world: World) -> Iterator[Gone]:
    """Say that a path is no more, as far as its parent tells."""
    parent, name = split(path)
    family = world.families.get(parent, NOBODY)
    zxid = family.absent_at(name)
    if zxid != NEVER:
        yield Gone(path=path, zxid=zxid, at=family.told_at)


def _family_changes(path: Text, before: Family, after: Family) -> Iterator[AnyFact]:
    at = after.told_at
    is_listed_anew = (after.listed_at, after.at) != (before.listed_at, before.at)
    yield from _listing(path, after) if is_listed_anew else ()
    if after.denied and after.denied_at != before.denied_at:
        yield Denied(path=path, what="list", zxid=after.denied_at, at=at)
    for name, znode in after.members.items():
        if before.members.get(name) is not znode:
            yield from _znode_facts(join(path, name), znode, at)
    absent = {name: after.absent_at(name) for name in before.members.keys() - after.members.keys()}
    absent |= {n: z for n, z in after.absent.items() if before.absent.get(n) != z}
    for name, zxid in absent.items():
        yield Gone(path=join(path, name), zxid=zxid, at=at)
