"""Make the queues of a lock from children that were sorted by layout."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from zktop.model.facts import Session, join
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.sorting import Place
from zktop.model.locks import order
from zktop.model.locks.leases import Leases, leases_of
from zktop.model.locks.lock import Line, Member
from zktop.model.locks.members import NOBODY_KNOWN, Known, members_of
from zktop.model.locks.notes import notes_of
from zktop.model.locks.queue import Queue, Rule, Special, rule_of
from zktop.model.locks.ranges import Ranges
from zktop.model.locks.reentry import NONE, Watching, reentry
from zktop.model.text import Text


class Queues(msgspec.Struct, frozen=True):
    """The lines of a lock, and what was found out on the way."""

    lines: tuple[Line, ...] = ()
    leases: Leases = Leases()
    asks: bool = False
    warnings: tuple[str, ...] = ()


def one_queue(
    layout: Layout,
    places: Sequence[Place],
    watching: Watching,
    *,
    leases: int | None = None,
    known: Known = NOBODY_KNOWN,
) -> Queues:
    """Make the queue of a lock whose contenders all follow one layout."""
    members = order.in_order(layout, members_of(layout, places, known))
    notes = notes_of(layout, members)
    if layout.name == "accumulo-fate-lock":
        return Queues((Ranges(members, notes),))
    found = leases_of(layout, members, leases, watching)
    rule = rule_of(layout, found.number)
    if rule == "first-n" and layout.mode != "lease":
        members = tuple(msgspec.structs.replace(m, mode="lease") for m in members)
    again = reentry(members, watching) if layout.reentrant else NONE
    queue = Queue(
        found.layout or layout,
        rule,
        members,
        notes,
        Special(
            found.number,
            again.exempt,
            marked=found.holders,
            remarks=again.warnings + found.warnings,
        ),
    )
    return Queues((queue,), found, again.asks or found.asks)


def grouped(layout: Layout, places: Sequence[Place], known: Known) -> Queues:
    """Make one queue for each lock that shares the parent."""
    groups: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        groups[place.name.group].append(place)
    lines = [_plain(layout, group, known) for group in groups.values()]
    return Queues(tuple(lines))


def mixed(
    layouts: Sequence[Layout], places: dict[str, list[Place]], known: Known, *, interop: bool
) -> Queues:
    """Make one queue for each family; what it does not see does not exist for it."""
    families = {one.name: members_of(one, places.get(one.name, ()), known) for one in layouts}
    reads = any(member.mode == "read" for members in families.values() for member in members)
    lines = []
    for layout in layouts:
        others = [
            member
            for name, members in families.items()
            if name != layout.name and (interop or name in layout.sees)
            for member in members
        ]
        rule: Rule = "read-write" if reads and interop else rule_of(layout, None)
        lines.append(_beside(layout, rule, families[layout.name], others))
    holders = [holder for line in lines for holder in line.holders]
    broken = len(holders) > 1 and any(holder.mode != "read" for holder in holders)
    warnings = ("mixed-families", "mutual-exclusion-broken")[: 1 + broken]
    return Queues(tuple(lines), warnings=warnings)


def _beside(layout: Layout, rule: Rule, own: list[Member], others: list[Member]) -> Queue:
    """Make the queue of one family, in which the others it sees stand, too."""
    members = order.in_order(layout, own)
    seen = order.in_order(layout, own + others) if others else None
    return Queue(layout, rule, members, notes_of(layout, members), Special(seen=seen))


def _plain(layout: Layout, places: Sequence[Place], known: Known) -> Queue:
    members = order.in_order(layout, members_of(layout, places, known))
    return Queue(layout, rule_of(layout, None), members, notes_of(layout, members))


def watching_in(path: Text, watches: Watching) -> Watching:
    """Ask the watch tables about nodes relative to a lock."""

    def watching(session: Session, node: Text) -> bool | None:
        return watches(session, join(path, node))

    return watching
