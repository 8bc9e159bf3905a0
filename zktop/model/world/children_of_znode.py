"""The children of one znode, assembled from facts that arrive in any order.

Three things can be known about a name: that it existed (a listing, a read, an event), that it did
not exist (a listing without it, a deletion), and its data. The newest zxid wins, so a fact that
arrives late or twice changes nothing. An absence is remembered only as long as an old read could
be mistaken for a node that was created again under the same name. After a deletion, it is
remembered until the next listing of the parent.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Final

import msgspec

from zktop.model.facts import (
    Children,
    Denied,
    Gone,
    Millis,
    Node,
    NodeBatch,
    Stat,
    ZnodeFact,
    last_name,
    prefix_below,
)
from zktop.model.text import Text

NEVER: Final = -1
_ZXID: Final = attrgetter("zxid")
ENDLESS: Final = 1 << 64
_MIN_NUMBER_DIGITS: Final = 9
_USUAL_NUMBER_DIGITS: Final = 10  # until the counter overflows
_MAX_NEWER: Final = 100_000  # sequential children that may be newer than their parent's listing

_MAX_EXAMINED_CHILDREN: Final = 1_000  # to see whether some are numbered
_NAMED_PER_NUMBERED: Final = 50  # with more of them, numbered children do not count

FamilyFact = ZnodeFact | NodeBatch


class Znode(msgspec.Struct, frozen=True, gc=False):
    """One child as it was last read; `stat` is None while it is known by name alone."""

    name: Text
    stat: Stat | None = None
    data: bytes | None = None
    read_at: int = NEVER  # zxid of the read
    seen_at: int = NEVER  # zxid of the newest proof that it exists
    hidden: bool = False  # its ACL does not let us read it

    @property
    def newest(self) -> int:
        """The zxid of the newest proof that the child exists."""
        return max(self.read_at, self.seen_at)

    @property
    def is_leaf(self) -> bool:
        """Whether it had no children when it was read. One that cannot be read counts as a leaf.

        False until it is read, because it may have children.
        """
        return self.hidden if self.stat is None else not self.stat.num_children


class Family(msgspec.Struct, frozen=True, dict=True):
    """The children of one znode: the newest listing, and newer facts about single children."""

    members: dict[Text, Znode] = {}
    absent: dict[Text, int] = {}  # name -> zxid at which there was no such child
    stat: Stat | None = None  # of the parent itself, from the newest listing; None: no such znode
    listed_at: int = NEVER  # zxid of the newest listing
    at: Millis = 0  # when that listing was read
    denied_at: int = NEVER  # zxid of the newest refusal to list
    oldest: int = ENDLESS  # zxid of the oldest fact in it
    arrived_at: Millis = 0  # when the newest of these facts arrived
    removals: dict[Text, Gone] = {}  # how children were removed, if facts show it
    creations: int = 0  # children created since the listing, as far as facts show
    removed_number: int = -1  # the largest number of a child created and deleted since then

    def __eq__(self, other: object) -> bool:
        """Compare the content, not the age of the facts."""
        return isinstance(other, Family) and self._known() == other._known()

    __hash__ = None  # type: ignore[assignment]  # it holds dictionaries

    def _known(self) -> tuple[object, ...]:
        return self.stat, self.listed_at, self.at, self.denied_at, self.members, self.absent

    @property
    def listed(self) -> bool:
        """Whether the names are complete: there is a listing, and no later refusal."""
        return self.listed_at >= self.denied_at and self.listed_at != NEVER

    @property
    def denied(self) -> bool:
        """Whether the newest attempt to list the children was refused."""
        return self.denied_at > self.listed_at

    def may_have_numbered(self, name: str) -> bool:
        """Return whether the digits at the end of a name may come from the parent's counter.

        Nodes with a number are never locks themselves; an order id is not such a number. If the
        parent was not read, ten digits are an id, since few counters get that far.
        """
        if len(name) < _MIN_NUMBER_DIGITS or not name[-_MIN_NUMBER_DIGITS:].isdecimal():
            return False
        digits = name[-_USUAL_NUMBER_DIGITS:]
        if not digits.isdecimal() or digits.startswith("0"):
            return True
        if self.stat is None:
            return self.listed
        following = self.stat.next_sequence if self.stat.cversion else None
        return following is None or int(digits) < following + _MAX_NEWER

    @cached_property
    def has_numbered(self) -> bool:
        """Whether some children may be numbered. A few among many named ones do not count.

        This is asked for each of 100,000 named children, so only the first ones are examined.
        """
        first = list(islice(self.members, _MAX_EXAMINED_CHILDREN))
        return sum(map(self.may_have_numbered, first)) * _NAMED_PER_NUMBERED > len(first)

    def after(self, path: str, facts: Sequence[FamilyFact]) -> "Family":
        """Return the family of `path` with these facts added."""
        draft = _Draft(self)
        below = len(prefix_below(path))
        for fact in facts:
            draft.oldest = min(draft.oldest, fact.zxid)
            draft.arrived_at = max(draft.arrived_at, fact.at)
            if isinstance(fact, NodeBatch):
                draft.read(fact.names, fact.stats, fact.data, fact.zxid)
            elif isinstance(fact, Node):
                draft.read((Text(fact.path[below:]),), (fact.stat,), (fact.data,), fact.zxid)
            else:
                draft.learn(path, fact)
        return draft.family()

    def absent_at(self, name: Text) -> int:
        """Return the newest zxid at which this child is known to have been absent."""
        unlisted = NEVER if name in self.members else self.listed_at
        return max(self.absent.get(name, NEVER), unlisted)

    def born_after(self, name: Text) -> int:
        """Return the newest zxid at which the present child is known not to have existed yet."""
        znode = self.members.get(name)
        if znode is None:
            return self.absent_at(name)
        created = NEVER if znode.stat is None else znode.stat.czxid - 1
        return max(created, self.absent[name]) if name in self.absent else created

    def since(self, zxid: int) -> "Family":
        """Drop facts up to this zxid: they are about an earlier znode at the parent's path."""
        if self.oldest > zxid:
            return self
        draft = _Draft(Family(denied_at=self.denied_at if self.denied_at > zxid else NEVER))
        draft.arrived_at = self.arrived_at
        if self.listed_at > zxid:
            draft.listed_at, draft.at, draft.stat = self.listed_at, self.at, self.stat
            draft.creations, draft.removed_number = self.creations, self.removed_number
        for name, znode in self.members.items():
            read = znode if znode.read_at > zxid else Znode(name, seen_at=znode.seen_at)
            if max(read.newest, draft.listed_at) > zxid:
                draft.members[name] = read
        draft.absent = {name: absent for name, absent in self.absent.items() if absent > zxid}
        empty = not draft.members and not draft.absent and draft.stat is None
        draft.oldest = ENDLESS if empty and draft.denied_at == NEVER else zxid + 1
        return draft.family()

    def __iter__(self) -> Iterator[Znode]:
        return iter(self.members.values())


NO_FAMILY: Final = Family()
NONE_ABSENT: Final[dict[Text, int]] = {}  # shared by all families without absent names
NONE_REMOVED: Final[dict[Text, Gone]] = {}  # shared by all families without removals


class _Draft:
    """A family while facts are applied to it: its dictionaries are copied once per batch."""

    def __init__(self, before: Family) -> None:
        self.members = dict(before.members)
        self.absent = dict(before.absent)
        self.stat, self.listed_at, self.at = before.stat, before.listed_at, before.at
        self.denied_at, self.oldest = before.denied_at, before.oldest
        self.arrived_at = before.arrived_at
        self.removals = dict(before.removals) if before.removals else {}
        self.creations, self.removed_number = before.creations, before.removed_number

    def family(self) -> Family:
        return Family(
            self.members,
            self.absent or NONE_ABSENT,
            self.stat,
            self.listed_at,
            self.at,
            self.denied_at,
            self.oldest,
            self.arrived_at,
            self.removals or NONE_REMOVED,
            self.creations,
            self.removed_number,
        )

    def learn(self, path: str, fact: Children | Gone | Denied) -> None:
        match fact:
            case Children():
                self._listing(fact.names, fact.stat, fact.zxid, fact.at)
            case Gone():
                name = last_name(fact.path)
                self._gone(name, fact.zxid)
                if fact.how is not None and fact.zxid >= self.listed_at:
                    self.removals[name] = max(self.removals.get(name, fact), fact, key=_ZXID)
            case Denied(what="list") if fact.path == path:
                self.denied_at = max(self.denied_at, fact.zxid)
            case Denied():
                self._learn_of(Znode(last_name(fact.path), read_at=fact.zxid, hidden=True))

    def read(
        self,
        names: Sequence[Text],
        stats: Sequence[Stat | None],
        contents: Sequence[bytes | None],
        zxid: int,
    ) -> None:
        members = self.members
        for name, stat, data in zip(names, stats, contents, strict=True):
            known = members.get(name)
            if stat is None:
                self._learn_of(Znode(name, seen_at=zxid))
            elif known is None or known.read_at != NEVER or known.seen_at != NEVER or self.absent:
                self._learn_of(Znode(name, stat, data, zxid))
            else:  # known only from the listing, like most children at the first read
                members[name] = Znode(known.name, stat, data, zxid)

    def _learn_of(self, child: Znode) -> None:
        """Add what one fact shows about an existing child."""
        known = self.members.get(child.name)
        if known is not None:
            self._keep(_joined(known, child), self.absent.get(child.name, NEVER))
            return
        absent = max(self.absent.get(child.name, NEVER), self.listed_at)
        if child.newest > absent:
            self.creations += 1
            self._keep(child, absent)

    def _gone(self, name: Text, zxid: int) -> None:
        known = self.members.get(name)
        absent = max(self.absent.get(name, NEVER), zxid)
        if known is None:
            if absent > self.listed_at:
                if name not in self.absent:  # created and deleted since the listing
                    self.creations += 1
                self.absent[name] = absent
        elif max(known.newest, self.listed_at) > absent:
            self._keep(known, absent)
        else:
            del self.members[name]
            self.absent[name] = absent
            self._note_number(name)

    def _note_number(self, name: Text) -> None:
        """Note a number that the parent's counter may have assigned since the listing."""
        digits = name[-_USUAL_NUMBER_DIGITS:]
        if self.stat is not None and len(digits) == _USUAL_NUMBER_DIGITS and digits.isdecimal():
            number = int(digits)
            if self.removed_number < number < (self.stat.next_sequence or 0) + self.creations:
                self.removed_number = number

    def _keep(self, znode: Znode, absent: int) -> None:
        """Store an existing child, without data read before it was last absent."""
        name = znode.name
        if znode.read_at != NEVER and znode.read_at <= absent:
            znode = Znode(name, seen_at=znode.seen_at)
        if znode.seen_at != NEVER and znode.seen_at <= max(znode.read_at, self.listed_at):
            znode = msgspec.structs.replace(znode, seen_at=NEVER)  # a newer proof is enough
        self.members[name] = znode
        if absent > znode.read_at:
            self.absent[name] = absent
        else:
            self.absent.pop(name, None)

    def _listing(self, names: tuple[Text, ...], stat: Stat | None, zxid: int, at: Millis) -> None:
        if (zxid, at) < (self.listed_at, self.at):
            self._late_listing(names, zxid)
            return
        earlier, self.listed_at, self.at, self.stat = self.listed_at, zxid, at, stat
        self.creations, self.removed_number = 0, -1  # the counter in the stat is newer
        self.removals = {name: gone for name, gone in self.removals.items() if gone.zxid >= zxid}
        if earlier == NEVER and not self.members and not self.absent:
            self.members = {name: Znode(name) for name in names}
        else:
            self._relisted(names, zxid, earlier)

    def _relisted(self, names: tuple[Text, ...], zxid: int, earlier: int) -> None:
        """Apply a newer listing: names that are missing are gone, new names were created since."""
        members, self.members = self.members, {}
        absences, self.absent = self.absent, {}
        for name in names:
            known = members.pop(name, None)
            child = known or Znode(name)
            # An unknown name did not exist at the earlier listing.
            absent = absences.get(name, NEVER if known else earlier)
            if absent < max(zxid, child.newest):  # a tie counts as gone
                self._keep(child, absent)
            else:
                self.absent[name] = absent
        for name, child in members.items():
            if child.newest > zxid:
                self.creations += 1
                self._keep(child, max(absences.get(name, NEVER), zxid))
        for name, absent in absences.items():
            if absent > zxid and name not in self.members:
                self.absent[name] = absent

    def _late_listing(self, names: tuple[Text, ...], zxid: int) -> None:
        """Apply an older listing, which only shows which children did not exist then."""
        for name in self.members.keys() - set(names):
            self._keep(self.members[name], max(self.absent.get(name, NEVER), zxid))


def _joined(known: Znode, child: Znode) -> Znode:
    """Merge two facts about one name."""
    read = max(known, child, key=_newness_of_read)
    seen_at = max(known.seen_at, child.seen_at)
    # Keep the known name object: a copy for each fact would double the memory.
    return Znode(known.name, read.stat, read.data, read.read_at, seen_at, read.hidden)


def _newness_of_read(znode: Znode) -> tuple[int, bool, tuple[int, ...], bytes]:
    """Sort key: the larger, the newer the read. The content decides between equally old reads."""
    stat = znode.stat
    numbers = () if stat is None else (stat.czxid, stat.mzxid, stat.version, stat.pzxid or 0)
    return znode.read_at, not znode.hidden, numbers, znode.data or b""
