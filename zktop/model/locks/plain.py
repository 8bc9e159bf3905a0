"""Locks of the plainest kind at first sight: recognised and put in order at one go.

Nearly every lock is one queue of exclusive, ephemeral contenders that one library named. The first
reading meets thousands of them at once, so all names of such a lock are read by one search. What
comes out is what `lock_at` gives, sooner; wherever a thing is out of the ordinary, nothing comes
out, and `lock_at` has to look.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

import msgspec

from zktop.model.facts import Session, Stat
from zktop.model.family import Family
from zktop.model.layouts.catalogue import layout_named
from zktop.model.layouts.labels import REVOKED
from zktop.model.layouts.layout import Kind, Layout
from zktop.model.layouts.names import compiled
from zktop.model.layouts.strangers import by_path
from zktop.model.layouts.structures import may_be_part
from zktop.model.locks.election import is_election
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.notes import DISORDER, NEARLY_EXHAUSTED, plain_notes
from zktop.model.locks.queue import Queue, Rule, rule_of
from zktop.model.locks.roll import Roll
from zktop.model.settings import Root, Settings
from zktop.model.text import Text
from zktop.model.world import World

# Layout -> how it names exclusive contenders: what is before the token, the token, what follows.
_NAMES: Final = {
    "kazoo-lock": ("", "{H32}", "__lock__"),
    "curator-mutex": ("_c_", "{U36}", "-lock-"),
    "curator-latch": ("_c_", "{U36}", "-latch-"),
    "go-lock": ("_c_", "{H32}", "-lock-"),
    "plain-lock": ("lock[-_]", "", ""),
    "zk-election": ("n_", "", ""),
}
_LENGTH: Final = {"{H32}": 32, "{U36}": 36}
_NUMBER: Final = r"(0\d{9})"  # below a billion all clients agree on the order


class _Shape(msgspec.Struct, frozen=True, gc=False):
    """One way to name exclusive contenders."""

    layout: Layout
    rule: Rule
    kind: Kind
    fits: Callable[[str], object]  # tells whether one name is of this shape
    numbers: Callable[[str], list[str]]  # finds the numbers in many names, a line each
    token_at: slice | None


class Plain(msgspec.Struct, frozen=True, gc=False):
    """A plain lock, and who its members are, since everybody asks that now."""

    lock: Lock
    roll: Roll


def plain_lock(path: Text, world: World, settings: Settings, root: Root | None) -> Plain | None:
    """Give the lock at a path where it is a plain one; `root` is what the user said of it."""
    if settings.layouts or by_path(path) or may_be_part(path[path.rfind("/") + 1 :]):
        return None
    if root is not None and not _says_nothing(root):
        return None
    family = world.family(path)
    stat = family.stat
    if stat is None or not family.listed or stat.next_sequence > NEARLY_EXHAUSTED:
        return None
    shape = _shape_of(family)
    if shape is None or (shape.layout.name == "curator-mutex" and world.tables):
        return None  # watch tables may show that it is a semaphore
    found = _queue(shape, family)
    if found is None:
        return None
    queue, roll = found
    return Plain(_lock(path, shape, queue, family, stat), roll)


def _says_nothing(root: Root) -> bool:
    """Tell whether the user only said where the lock is."""
    return not (root.layout or root.leases or root.kind or root.blocking)


def _shape_of(family: Family) -> _Shape | None:
    """Find the shape of the first name; all the others must have the same."""
    first = next(iter(family.members), None)
    if first is not None:
        for name in _NAMES:
            shape = _shape(name)
            if shape.fits(first):
                return shape
    return None


def _queue(shape: _Shape, family: Family) -> tuple[Queue, Roll] | None:
    """Make the queue, if there is nothing odd about any of its members."""
    numbers = shape.numbers("\n".join(family.members))
    by_number = dict(zip(numbers, family.members.values(), strict=False))
    if len(by_number) != len(family.members) or not _tell_apart(shape, family):
        return None  # somebody has another name, or a number twice
    layout, mode, name, at = shape.layout, shape.layout.mode, shape.layout.name, shape.token_at
    members: list[Member] = []
    sessions: list[Session] = []
    born: list[int] = []
    unordered = before = 0
    for number in sorted(by_number):
        znode = by_number[number]
        stat = znode.stat
        if stat is None or not stat.owner or not stat.czxid or znode.data in REVOKED:
            return None  # who was not read yet, has no session, or was told to let go
        members.append(Member(znode.name, mode, int(number), name, None, at, znode))
        sessions.append(stat.owner)
        born.append(stat.czxid)
        unordered += before > stat.czxid
        before = stat.czxid
    notes = plain_notes(unordered, members[-1].sequence or 0)
    return Queue(layout, shape.rule, tuple(members), notes), Roll(sessions, born)


def _tell_apart(shape: _Shape, family: Family) -> bool:
    """Tell whether each has a token of its own."""
    at = shape.token_at
    return at is None or len({name[at] for name in family.members}) == len(family.members)


def _lock(path: Text, shape: _Shape, queue: Queue, family: Family, stat: Stat) -> Lock:
    is_elected = is_election(path, shape.layout, (queue,))
    return Lock(
        path=path,
        layout=shape.layout.name,
        kind="election" if is_elected else shape.kind,
        lines=(queue,),
        stat=stat,
        seen_zxid=family.listed_at,
        at=family.told_at,
        warnings=(DISORDER,) if queue.notes.unordered else (),
        family=family,
    )


@cache
def _shape(name: str) -> _Shape:
    """Make a shape when the first lock may have it: patterns take long to compile."""
    before, token, after = _NAMES[name]
    layout = layout_named(name)
    if layout is None:
        raise LookupError(name)
    line = compiled(f"(?m)^{before}{token}{after}{_NUMBER}$")
    at = slice(len(before), len(before) + _LENGTH[token]) if token else None
    kind: Kind = "mutex" if layout.means == "read-write" else layout.means
    return _Shape(layout, rule_of(layout, None), kind, line.fullmatch, line.findall, at)
