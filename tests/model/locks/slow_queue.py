"""A slow reference for queues, straight from the rules: it compares every pair of members."""

from collections.abc import Callable, Sequence
from typing import Any

from zktop.model.layouts.layout import Layout
from zktop.model.locks.lock import Lock, Member

ORDERS: dict[str, Callable[[int], Any]] = {
    "number": lambda number: number,
    "text": lambda number: f"{number:010d}",
    "magnitude": abs,
    "digits": lambda number: f"{number:010d}".replace("-", ""),
}


def conflicts(layout: Layout, waiter: Member, other: Member) -> bool:
    """Return whether the waiter cannot hold while the other one is before it."""
    if waiter.mode != "read":
        return True
    return other.mode != "read" and not (layout.name == "zktools" and other.mode == "exclusive")


def blockers(layout: Layout, members: Sequence[Member], waiter: Member) -> set[str]:
    """Return all members that this one must wait for."""
    key = ORDERS[layout.order]
    mine = key(waiter.sequence or 0)
    places = {member.node: place for place, member in enumerate(members)}

    def is_before(other: Member) -> bool:
        theirs = key(other.sequence or 0)
        if theirs != mine or layout.ties == "share":
            return bool(theirs < mine)
        return places[other.node] < places[waiter.node]

    counted = [m for m in members if layout.name != "kazoo-lock" or not _is_short(m)]
    return {m.node for m in counted if is_before(m) and conflicts(layout, waiter, m)}


def closure(lock: Lock, member: Member) -> set[str]:
    """Follow blocked_by to the end."""
    found: set[str] = set()
    work = [member]
    while work:
        for other in lock.blocked_by(work.pop()):
            if other.node not in found:
                found.add(other.node)
                work.append(other)
    return found


def _is_short(member: Member) -> bool:
    """Kazoo does not see numbers with nine digits after the minus sign."""
    return -1_000_000_000 < (member.sequence or 0) < 0
