"""Locks of the plainest kind at first sight: recognised and put in order, many at one go.

Nearly every lock is one queue of exclusive, ephemeral contenders that one library named. The first
reading meets thousands of them at once, so what is asked of each member is asked of all members of
many locks together, in columns. What comes out is what `lock_at` gives, sooner; wherever a thing
is out of the ordinary, nothing comes out, and `lock_at` has to look.

Names of one shape, cut into columns: many at one go, for each by itself takes far longer.

A first reading meets tens of thousands of names, nearly all made in the same way: something fixed,
a token of the client, something fixed, and the number that the server appends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, count, repeat
from operator import gt
from struct import Struct
from typing import Final

import msgspec

from zktop.model.facts import Session, Stat
from zktop.model.layouts.by_shape import by_path, may_be_part
from zktop.model.layouts.catalogue import layout_named
from zktop.model.layouts.layout import Layout, LockKind
from zktop.model.layouts.owner_labels import REVOKED
from zktop.model.locks.lock import Lock, Member, Roll
from zktop.model.locks.members import is_election
from zktop.model.locks.queue import QueueRule, RankedQueue, rule_of
from zktop.model.locks.warnings import DISORDER, NEARLY_EXHAUSTED, plain_oddities
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.family import Family, Znode
from zktop.model.world.world import World

HEX: Final = b"h" * 32  # tokens; `h` stands for a digit of sixteen
UUID: Final = b"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"
_DIGITS_AS_H: Final = bytes.maketrans(b"0123456789abcdefh", b"hhhhhhhhhhhhhhhh?")
_NUMBER: Final = 10  # characters
_RUN: Final = 64  # names that are cut together

Shape = tuple[bytes, ...]  # what is before the number: fixed text, and a token at most


class Columns(msgspec.Struct, frozen=True, gc=False):
    """The parts of many names, in their order."""

    tokens: list[bytes]  # none where such names have none
    numbers: list[int]


def length(shape: Shape) -> int:
    """Count the characters of each name."""
    return sum(map(len, shape)) + _NUMBER


def columns(shape: Shape, names: Sequence[str]) -> Columns | None:
    """Give the parts of these names, if all are of this shape and their numbers below a billion.

    >>> columns((b"lock-",), ["lock-0000000007", "lock-0000000012"]).numbers
    [7, 12]
    """
    number, size = len(names), length(shape) + 1
    text = ("\n".join(names) + "\n").encode()
    if len(text) != number * size:
        return None
    parts: list[bytes] = []
    for begin in range(0, number, _RUN):
        parts += _cutter(shape, min(_RUN, number - begin))(text, begin * size)
    step = len(shape) + 1
    numbers, tokens = parts[step - 1 :: step], []
    for place, field in enumerate(shape):
        column = parts[place::step]
        if field not in (HEX, UUID):
            fits = column.count(field) == number
        else:
            fits = b"".join(column).translate(_DIGITS_AS_H) == field * number
            tokens = column
        if not fits:
            return None
    return Columns(tokens, list(map(int, numbers))) if _are_numbers(numbers) else None


def _are_numbers(texts: Sequence[bytes]) -> bool:
    """Tell whether these are digits alone, the first of each a 0: all clients agree on those."""
    text = b"".join(texts)
    return text.isdigit() and text[::_NUMBER].count(b"0") == len(texts)


@lru_cache(maxsize=512)
def _cutter(shape: Shape, number: int) -> Callable[[bytes, int], tuple[bytes, ...]]:
    """Give what cuts so many names at once, each with an end of line behind it."""
    fields = "".join([f"{len(field)}s" for field in shape])
    return Struct(f"{fields}{_NUMBER}sx" * number).unpack_from


# How libraries name exclusive contenders, and where in the name a token is.
_NAMES: Final[tuple[tuple[str, Shape, slice | None], ...]] = (
    ("kazoo-lock", (HEX, b"__lock__"), slice(0, 32)),
    ("curator-mutex", (b"_c_", UUID, b"-lock-"), slice(3, 39)),
    ("curator-latch", (b"_c_", UUID, b"-latch-"), slice(3, 39)),
    ("go-lock", (b"_c_", HEX, b"-lock-"), slice(3, 35)),
    ("plain-lock", (b"lock-",), None),
    ("plain-lock", (b"lock_",), None),
    ("zk-election", (b"n_",), None),
)
_MAY_BE_SEMAPHORE: Final = "curator-mutex"  # as watch tables may show
_TOGETHER: Final = 32  # locks


class Plain(msgspec.Struct, frozen=True, gc=False):
    """A plain lock, and who its members are, since everybody asks that now."""

    lock: Lock
    roll: Roll


class _Naming(msgspec.Struct, frozen=True, gc=False):
    """One way to name exclusive contenders."""

    layout: Layout
    shape: Shape
    rule: QueueRule
    kind: LockKind
    token_at: slice | None


class _Table(msgspec.Struct, frozen=True, gc=False):
    """The members of many locks, lock by lock, each lock's in the order of its queue."""

    members: list[Member]
    sessions: list[Session]
    born: list[int]
    is_late: bytes  # where the next one came before
    ends: list[int]  # of the locks


def plain_locks(paths: Iterable[Text], world: World, settings: Settings) -> dict[Text, Plain]:
    """Give the locks at those of these paths where they are plain ones."""
    found: dict[Text, Plain] = {}
    for place, alike in _sites(paths, world, settings).items():
        for begin in range(0, len(alike), _TOGETHER):
            found.update(_met(_naming(place), alike[begin : begin + _TOGETHER]))
    return found


_Site = tuple[Text, Family]


def _sites(paths: Iterable[Text], world: World, settings: Settings) -> dict[int, list[_Site]]:
    """Find where there may be plain locks, by the place of their naming."""
    found: dict[int, list[_Site]] = {}
    if settings.layouts:
        return found
    for site in world.families_of(paths):
        path, family = site
        if family.stat is None or not family.members or not family.listed:
            continue
        place = _place_of(next(iter(family.members)))
        if place is None or (world.tables and _NAMES[place][0] == _MAY_BE_SEMAPHORE):
            continue
        if _are_contenders(family) and _is_ordinary(path, family.stat, settings):
            found.setdefault(place, []).append(site)
    return found


def _are_contenders(family: Family) -> bool:
    """Tell whether all were read and belong to sessions, and nobody was told to let go.

    What may well be odd about one is asked lock by lock; their names are compared later.
    """
    size = len(next(iter(family.members)))
    for name, znode in family.members.items():
        stat = znode.stat
        if stat is None or not stat.owner or not stat.czxid or znode.data in REVOKED:
            return False
        if len(name) != size:
            return False
    return True


def _is_ordinary(path: Text, stat: Stat, settings: Settings) -> bool:
    """Tell whether neither the path nor the user says more of this lock than where it is."""
    if by_path(path) or may_be_part(path[path.rfind("/") + 1 :]):
        return False
    if (stat.next_sequence or 0) > NEARLY_EXHAUSTED:
        return False
    root = settings.root_of(path)
    if root is None:
        return not settings.roots
    return not (root.layout or root.leases or root.kind or root.blocking)


def _met(naming: _Naming, sites: Sequence[_Site]) -> Iterator[tuple[Text, Plain]]:
    """Give the plain locks among some; where one is odd, each is looked at by itself first."""
    table = _table(naming, [family for _, family in sites])
    if table is None and len(sites) > 1:
        sites = [site for site in sites if _table(naming, [site[1]]) is not None]
        table = _table(naming, [family for _, family in sites])
    if table is not None:
        yield from _locks(naming, sites, table)


def _table(naming: _Naming, families: Sequence[Family]) -> _Table | None:
    """Put the members in order, if there is nothing odd about any of them."""
    cut = columns(naming.shape, list(chain.from_iterable([one.members for one in families])))
    sizes = [len(one.members) for one in families]
    lock_of = list(chain.from_iterable(map(repeat, count(), sizes)))
    if cut is None or not (_differ(cut.tokens, lock_of) and _differ(cut.numbers, lock_of)):
        return None  # somebody has another name, or another one's token or number
    ends = list(accumulate(sizes))
    order = _order(cut.numbers, ends)
    listed = list(chain.from_iterable([one.members.values() for one in families]))
    znodes, numbers = [listed[at] for at in order], [cut.numbers[at] for at in order]
    stats = [stat for one in znodes if (stat := one.stat)]
    sessions, born = [one.owner for one in stats], [one.czxid for one in stats]
    is_late = bytes(map(gt, born, born[1:]))
    return _Table(_members(naming, znodes, numbers), sessions, born, is_late, ends)


def _differ(parts: Sequence[bytes | int], lock_of: Sequence[int]) -> bool:
    """Tell whether no two members of one lock have the same."""
    return len({*zip(parts, lock_of, strict=False)}) == len(parts)


def _order(numbers: Sequence[int], ends: Iterable[int]) -> list[int]:
    """Give the places of all, lock by lock in the order of the queues."""
    order: list[int] = []
    begin = 0
    for end in ends:
        order += sorted(range(begin, end), key=numbers.__getitem__)
        begin = end
    return order


def _members(naming: _Naming, znodes: Sequence[Znode], numbers: Sequence[int]) -> list[Member]:
    mode, name, at = naming.layout.mode, naming.layout.name, naming.token_at
    return [
        Member(znode.name, mode, number, name, None, at, znode)
        for znode, number in zip(znodes, numbers, strict=True)
    ]


def _locks(naming: _Naming, sites: Sequence[_Site], table: _Table) -> Iterator[tuple[Text, Plain]]:
    begin = 0
    for (path, family), end in zip(sites, table.ends, strict=True):
        members = tuple(table.members[begin:end])
        unordered = table.is_late.count(1, begin, end - 1)
        oddities = plain_oddities(unordered, members[-1].sequence or 0)
        queue = RankedQueue(naming.layout, naming.rule, members, oddities)
        roll = Roll(table.sessions[begin:end], table.born[begin:end])
        yield path, Plain(_lock(path, naming, queue, family), roll)
        begin = end


def _lock(path: Text, naming: _Naming, queue: RankedQueue, family: Family) -> Lock:
    is_elected = is_election(path, naming.layout, (queue,))
    return Lock(
        path=path,
        layout=naming.layout.name,
        kind="election" if is_elected else naming.kind,
        queues=(queue,),
        stat=family.stat,
        seen_zxid=family.listed_at,
        at=family.told_at,
        warnings=(DISORDER,) if queue.oddities.unordered else (),
        family=family,
    )


def _place_of(name: str) -> int | None:
    """Give the place of the naming that a name looks like; `columns` tells whether it is."""
    for place in _BY_LENGTH.get(len(name), ()):
        if name.startswith(_BEGINNINGS[place]):
            return place
    return None


_LENGTHS: Final = [length(shape) for _, shape, _ in _NAMES]
_BY_LENGTH: Final = {
    here: [place for place, other in enumerate(_LENGTHS) if other == here] for here in _LENGTHS
}
_BEGINNINGS: Final = [shape[0].decode() if shape[0] is not HEX else "" for _, shape, _ in _NAMES]


@cache
def _naming(place: int) -> _Naming:
    name, shape, token_at = _NAMES[place]
    layout = layout_named(name)
    if layout is None:
        raise LookupError(name)
    kind: LockKind = "mutex" if layout.means == "read-write" else layout.means
    return _Naming(layout, shape, rule_of(layout, None), kind, token_at)
