"""The world: the newest fact about everything.

Facts commute. Whatever order they come in, however often, the same world comes out, because each
says for itself how new it is. A source may therefore read twice, late and in parallel; after a
reconnect it reads everything again and nothing has to be undone.
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from zktop.model.facts import (
    AnyFact,
    Children,
    Connections,
    Denied,
    Expiry,
    Gone,
    Link,
    Millis,
    Node,
    Server,
    ServerFact,
    Watches,
    ZnodeFact,
    split,
)
from zktop.model.family import NOBODY, Family, Znode
from zktop.model.shelf import Shelf
from zktop.model.text import Text


class Tables(msgspec.Struct, frozen=True):
    """What one ensemble member tells of itself; None where nothing was read yet."""

    server: Server | None = None
    connections: Connections | None = None
    watches: Watches | None = None
    expiry: Expiry | None = None

    def after(self, fact: ServerFact) -> "Tables":
        """Give the tables with this one in place of an older one of its kind."""
        field = type(fact).__name__.lower()
        known: ServerFact | None = getattr(self, field)
        if known is not None and _is_older(fact, known):
            return self
        return msgspec.structs.replace(self, **{field: fact})


NO_TABLES = Tables()
_OF_ZNODES = (Node, Children, Gone, Denied)


class Change(msgspec.Struct, frozen=True, gc=False):
    """What differs between two worlds."""

    paths: set[Text]  # whose families differ
    servers: set[Text]  # whose tables differ
    link: bool


class World(msgspec.Struct, frozen=True):
    """Everything that is known of the ensemble at one moment."""

    families: Shelf[Text, Family] = Shelf()
    tables: Shelf[Text, Tables] = Shelf()
    link: Link | None = None
    zxid: int = 0  # the newest transaction that any fact was read at
    at: Millis = 0  # when the newest fact arrived

    def after(self, *facts: AnyFact) -> "World":
        """Give the world with these facts learned; older facts change nothing."""
        if not facts:
            return self
        znodes, servers, link = _sorted_out(facts)
        if self.link is not None:
            link.append(self.link)
        return World(
            self._families_after(znodes),
            self.tables.with_changes(self._tables_after(servers)),
            max(link, key=_age, default=None),
            max(self.zxid, *[fact.zxid for fact in facts]),
            max(self.at, *[fact.at for fact in facts]),
        )

    def family(self, path: str) -> Family:
        """Give the children of a path, as far as they are known of the path as it is now."""
        family = self.families.get(Text(path), NOBODY)
        if family is NOBODY:
            return family
        parent, name = split(path)
        return family.since(self.families.get(parent, NOBODY).born_after(name))

    def node(self, path: str) -> Znode | None:
        """Give one znode, or None when it is absent or was never heard of."""
        parent, name = split(path)
        return self.family(parent).members.get(name)

    def changed_since(self, before: "World") -> Change:
        """Tell what differs from an earlier world, at a cost that follows the difference."""
        return Change(
            self.families.changed_since(before.families),
            self.tables.changed_since(before.tables),
            self.link != before.link,
        )

    def _families_after(self, facts: list[ZnodeFact]) -> "Shelf[Text, Family]":
        by_family: defaultdict[Text, list[ZnodeFact]] = defaultdict(list)
        for fact in facts:
            by_family[_family_of(fact)].append(fact)
        known = self.families
        after: dict[Text, Family | None] = {}
        for path, told in by_family.items():
            before = known.get(path, NOBODY)
            family = before.after(path, told)
            if len(family.members) != len(before.members) or family != before:
                after[path] = family
        families = known.with_changes(after)
        return families.with_changes(_outlived(families, facts))

    def _tables_after(self, facts: list[ServerFact]) -> dict[Text, Tables | None]:
        after: dict[Text, Tables | None] = {}
        for fact in facts:
            known = after.get(fact.server)
            if known is None:
                known = self.tables.get(fact.server, NO_TABLES)
            after[fact.server] = known.after(fact)
        return after


def _sorted_out(
    facts: Iterable[AnyFact],
) -> tuple[list[ZnodeFact], list[ServerFact], list[Link]]:
    znodes: list[ZnodeFact] = []
    servers: list[ServerFact] = []
    links: list[Link] = []
    for fact in facts:
        if isinstance(fact, _OF_ZNODES):
            znodes.append(fact)
        elif isinstance(fact, Link):
            links.append(fact)
        else:
            servers.append(fact)
    return znodes, servers, links


def _family_of(fact: ZnodeFact) -> Text:
    """Name the family that a fact speaks of: the znode's own for a listing, else its parent's."""
    path = fact.path
    if not isinstance(fact, Node | Gone) and (isinstance(fact, Children) or fact.what == "list"):
        return path
    slash = path.rfind("/")
    return Text(path[:slash]) if slash > 0 else split(path)[0]


def _outlived(
    families: Shelf[Text, Family], facts: Iterable[ZnodeFact]
) -> dict[Text, Family | None]:
    """Let go of what was known below a znode that these facts call gone or created again."""
    after: dict[Text, Family | None] = {}
    for path in families.among({fact.path for fact in facts if isinstance(fact, Gone | Node)}):
        parent, name = split(path)
        family = families[path]
        lasting = family.since(families.get(parent, NOBODY).born_after(name))
        if lasting is not family or not lasting.members:
            after[path] = None if lasting == NOBODY else lasting
    return after


def _is_older(fact: ServerFact, known: ServerFact) -> bool:
    """Compare the dates before all that they say: a table may be megabytes."""
    dates = (fact.at, fact.zxid), (known.at, known.zxid)
    return _age(fact) <= _age(known) if dates[0] == dates[1] else dates[0] < dates[1]


def _age(fact: AnyFact) -> tuple[int, int, bytes]:
    return fact.at, fact.zxid, msgspec.msgpack.encode(fact)
