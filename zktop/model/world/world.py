"""The world: the newest fact about every znode and every server.

Facts commute: in any order, and even repeated, they make the same world, because each fact has the
zxid or the time at which it was true. So a source may read data twice, late or in parallel, and
read everything again after a reconnect. A world can be turned back into facts: all of them, or
those that lead from an earlier world to a later one. Recordings consist of these.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar, cast

import msgspec

from zktop.model.facts import (
    AnyFact,
    Children,
    Complete,
    Denied,
    Gone,
    Link,
    Millis,
    Node,
    NodeBatch,
    OwnerNames,
    Server,
    ServerFact,
    SourceFact,
    join,
    prefix_below,
    split,
)
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NEVER, NO_FAMILY, Family, FamilyFact, Znode
from zktop.model.world.newest_tables import NO_TABLES, TableFacts, is_newer, newness
from zktop.model.world.persistent_map import PersistentMap

_ABOUT_ONE_CHILD = (Node, Gone)


class WorldDiff(msgspec.Struct, frozen=True, gc=False):
    """The differences between two worlds."""

    paths: set[Text]  # parents whose children differ
    servers: set[Text]  # addresses whose tables differ
    link: bool


class World(msgspec.Struct, frozen=True):
    """Everything known about the ensemble at one moment."""

    families: PersistentMap[Text, Family] = PersistentMap()
    tables: PersistentMap[Text, TableFacts] = PersistentMap()
    link: Link | None = None
    zxid: int = 0  # the newest transaction at which a fact was read
    at: Millis = 0  # when the newest fact arrived
    complete_to: int = 0  # the transaction up to which no change is missing; 0: not known
    owners: OwnerNames | None = None
    departures: PersistentMap[Text, Server] = PersistentMap()  # the last one of each server
    gap_at: Millis = 0  # the last gap in a recording: all that was known before it was lost

    def after(self, *facts: SourceFact) -> "World":
        """Return the world with these facts added. Facts older than known ones change nothing."""
        if not facts:
            return self
        grouped = _group(facts)
        families = self._families_after(grouped.families)
        due = grouped.znodes.union(_unlisted(self.families, families, grouped.listed))
        departures = self.departures.with_changes(_departures(self.departures, grouped.servers))
        return World(
            families.with_changes(_without_outdated(families, due)),
            self.tables.with_changes(self._tables_after(grouped.servers, departures)),
            _newest(self.link, _of(Link, grouped.others)),
            max(self.zxid, *[fact.zxid for fact in facts]),
            max(self.at, *[fact.at for fact in facts]),
            max([self.complete_to, *[fact.zxid for fact in _of(Complete, grouped.others)]]),
            _newest(self.owners, _of(OwnerNames, grouped.others)),
            departures,
            self.gap_at,
        )

    def family(self, path: str) -> Family:
        """Return the children of a path, without facts about earlier znodes at that path."""
        family = self.families.get(Text(path), NO_FAMILY)
        if family is NO_FAMILY:
            return family
        parent, name = split(path)
        return family.since(self.families.get(parent, NO_FAMILY).born_after(name))

    def node(self, path: str) -> Znode | None:
        """Return one znode, or None if it is absent or unknown."""
        parent, name = split(path)
        return self.family(parent).members.get(name)

    def removal_of(self, path: str) -> Gone | None:
        """Return how the znode at a path was removed, if a fact says so."""
        parent, name = split(path)
        return self.families.get(parent, NO_FAMILY).removals.get(name)

    def changed_since(self, before: "World") -> WorldDiff:
        """Compare with an earlier world, at a cost that depends only on the difference."""
        return WorldDiff(
            self.families.changed_since(before.families),
            self.tables.changed_since(before.tables),
            self.link != before.link,
        )

    def _families_after(
        self, by_family: Mapping[Text, list[FamilyFact]]
    ) -> "PersistentMap[Text, Family]":
        after: dict[Text, Family | None] = {}
        for path, facts in by_family.items():
            before = self.families.get(path, NO_FAMILY)
            family = before.after(path, facts)
            if family != before:
                after[path] = family
        return self.families.with_changes(after)

    def _tables_after(
        self, facts: list[ServerFact], departures: Mapping[Text, Server]
    ) -> dict[Text, TableFacts | None]:
        after: dict[Text, TableFacts | None] = {}
        for fact in facts:
            stored = self.tables.get(fact.server, NO_TABLES)
            known: TableFacts = after.get(fact.server) or stored
            departure = departures.get(fact.server)
            if departure is not None:
                known = known.since(departure)
            if departure is None or is_newer(fact, departure):
                known = known.after(fact)
            after[fact.server] = known if known != NO_TABLES else None
        return after


class _GroupedFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts by their subject."""

    families: Mapping[Text, list[FamilyFact]]  # listings by their path, others by their parent
    znodes: set[Text]  # paths that a fact reports as existing or deleted
    listed: set[Text]  # paths of listings
    servers: list[ServerFact]
    others: list[AnyFact]


def _group(facts: Iterable[SourceFact]) -> _GroupedFacts:
    families: defaultdict[Text, list[FamilyFact]] = defaultdict(list)
    groups = _GroupedFacts(families, set(), set(), [], [])
    for fact in facts:
        if isinstance(fact, NodeBatch):
            families[fact.path].append(fact)
            below = prefix_below(fact.path)
            groups.znodes.update(cast("Iterable[Text]", map(below.__add__, fact.names)))
        elif isinstance(fact, _ABOUT_ONE_CHILD):
            families[split(fact.path)[0]].append(fact)
            groups.znodes.add(fact.path)
        elif isinstance(fact, Children):
            families[fact.path].append(fact)
            groups.listed.add(fact.path)
        elif isinstance(fact, Denied):
            families[fact.path if fact.what == "list" else split(fact.path)[0]].append(fact)
        elif isinstance(fact, ServerFact):
            groups.servers.append(fact)
        else:
            groups.others.append(fact)
    return groups


F = TypeVar("F")


def _of(kind: type[F], facts: Iterable[object]) -> list[F]:
    return [fact for fact in facts if isinstance(fact, kind)]


L = TypeVar("L", bound=Link | OwnerNames)


def _newest(known: L | None, new: list[L]) -> L | None:
    """Return the newest fact, or the known one, without encoding its content, if none is new."""
    if not new:
        return known
    return max(new if known is None else [known, *new], key=newness)


def _unlisted(
    before: PersistentMap[Text, Family], after: PersistentMap[Text, Family], listed: set[Text]
) -> Iterator[Text]:
    """Yield the known children that are missing from a newer listing."""
    for path in before.among(listed):
        for name in before[path].members.keys() - after[path].members.keys():
            yield join(path, name)


def _without_outdated(
    families: PersistentMap[Text, Family], reported: AbstractSet[Text]
) -> dict[Text, Family | None]:
    """Return the families below deleted or recreated znodes, without their outdated facts."""
    after: dict[Text, Family | None] = {}
    due: list[tuple[Text, int]] = []  # a path, and the zxid up to which facts are outdated
    for path in families.among(reported):
        parent, name = split(path)
        due.append((path, families.get(parent, NO_FAMILY).born_after(name)))
    while due:
        path, zxid = due.pop()
        family = after.get(path, families[path])
        if family is None:
            continue
        lasting = family.since(zxid)
        if lasting is family and lasting.members:
            continue
        after[path] = None if lasting == NO_FAMILY else lasting
        below = {join(path, name) for name in family.members}
        due += [(child, zxid) for child in families.among(below)]
    return after


def _departures(earlier: Mapping[Text, Server], facts: list[ServerFact]) -> dict[Text, Server]:
    """Return the newest departures of servers, without those known earlier."""
    newer: dict[Text, Server] = {}
    for fact in facts:
        if isinstance(fact, Server) and fact.left:
            known = newer.get(fact.server) or earlier.get(fact.server)
            if known is None or is_newer(fact, known):
                newer[fact.server] = fact
    return newer


def facts_of(world: World) -> Iterator[AnyFact]:
    """Yield facts that make the same world."""
    return facts_between(World(), world)


def _listing(path: Text, family: Family) -> Iterator[Children]:
    if family.listed_at != NEVER and family.stat is not None:
        names = sorted(znode.name for znode in family if _was_listed(znode, family))
        yield Children(
            path=path,
            names=tuple(names),
            stat=family.stat,
            zxid=family.listed_at,
            at=family.at,
        )


def _was_listed(znode: Znode, family: Family) -> bool:
    """Return whether the newest listing had the child; later children were absent then."""
    listed_at = family.listed_at
    return znode.read_at <= listed_at and family.absent.get(znode.name, NEVER) < listed_at


def _znode_facts(path: Text, znode: Znode, at: Millis) -> Iterator[AnyFact]:
    if znode.hidden:
        yield Denied(path=path, what="read", zxid=znode.read_at, at=at)
    elif znode.stat is not None:
        yield Node(path=path, stat=znode.stat, data=znode.data, zxid=znode.read_at, at=at)
    if znode.seen_at > znode.read_at:
        yield Node(path=path, zxid=znode.seen_at, at=at)


def facts_between(before: World, after: World) -> Iterator[AnyFact]:
    """Yield the facts that turn the earlier world into the later one, which was made from it."""
    change = after.changed_since(before)
    for path in sorted(change.paths):
        family = after.families.get(path)
        if family is not None:
            yield from _family_changes(path, before.families.get(path, NO_FAMILY), family)
        else:
            yield from _end(path, after)
    for server in sorted(change.servers):
        yield from _server_changes(server, before, after)
    if change.link and after.link is not None:
        yield after.link
    if after.complete_to != before.complete_to:
        yield Complete(zxid=after.complete_to, at=after.at)
    if after.owners is not None and after.owners is not before.owners:
        yield after.owners


def _server_changes(server: Text, before: World, after: World) -> Iterator[ServerFact]:
    departure = after.departures.get(server)
    if departure is not None and departure is not before.departures.get(server):
        yield departure
    now, then = after.tables.get(server, NO_TABLES), before.tables.get(server, NO_TABLES)
    for field in now.__struct_fields__:
        fact: ServerFact | None = getattr(now, field)
        if fact is not None and fact is not getattr(then, field):
            yield fact


def _end(path: Text, world: World) -> Iterator[Gone]:
    """Yield the deletion of a path, if its parent shows it as deleted."""
    parent, name = split(path)
    family = world.families.get(parent, NO_FAMILY)
    zxid = family.absent_at(name)
    if zxid != NEVER:
        yield Gone(path=path, zxid=zxid, at=family.arrived_at)


def _family_changes(path: Text, before: Family, after: Family) -> Iterator[AnyFact]:
    at = after.arrived_at
    is_new_listing = (after.listed_at, after.at) != (before.listed_at, before.at)
    if is_new_listing:
        yield from _listing(path, after)
    if after.denied and after.denied_at != before.denied_at:
        yield Denied(path=path, what="list", zxid=after.denied_at, at=at)
    for name, znode in after.members.items():
        if before.members.get(name) is not znode:
            yield from _znode_facts(join(path, name), znode, at)
    yield from _removals(path, before, after)


def _removals(path: Text, before: Family, after: Family) -> Iterator[Gone]:
    """Yield the deletions since then, and those of recreated znodes as far as facts show them."""
    removals = {
        name: gone
        for name, gone in after.removals.items()
        if gone is not before.removals.get(name)
    }
    absent = {name: after.absent_at(name) for name in before.members.keys() - after.members.keys()}
    absent |= {
        name: zxid for name, zxid in after.absent.items() if zxid != before.absent.get(name)
    }
    for name, zxid in absent.items():
        known = after.removals.get(name)
        if known is not None and known.zxid == zxid:
            removals[name] = known
        elif zxid != NEVER:  # otherwise it belonged to an earlier znode at this path
            yield Gone(path=join(path, name), zxid=zxid, at=after.arrived_at)
    yield from removals.values()
