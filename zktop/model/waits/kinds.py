"""Which kind of deadlock a core is, and by which rule."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from zktop.model.waits.cores import Core
from zktop.model.waits.remnant import Remnant
from zktop.model.waits.ring import Ring

Kind = Literal["cycle", "fairness", "knot", "upgrade", "upgraders", "watches", "election"]
Rule = Literal["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"]


def kind(core: Core, ring: Ring) -> tuple[Rule, Kind]:
    """Rule and kind of the core that shows itself by this ring."""
    if any(edge.queue.kind == "election" for edge in ring):
        return "D8", "election"
    if not all(edge.is_plain for edge in ring):
        return "D3", "knot"
    if any(edge.is_self for edge in ring):
        is_upgrade = ring[0].blocker.reads and not ring[0].request.reads
        return ("D4", "upgrade") if is_upgrade else ("D6", "cycle")
    if len({edge.queue.lock for edge in ring}) == 1 and upgraders(core, ring):
        return "D5", "upgraders"
    return ("D1", "cycle") if all(edge.is_hard for edge in ring) else ("D2", "fairness")


def upgraders(core: Core, ring: Ring) -> list[str]:
    """Who of the ring's first queue reads it and wants to write it, when there are several."""
    lock = ring[0].queue.lock
    found = sorted(
        {a for rest in core.remnants if rest.queue.lock == lock for a in _upgrades(rest)}
    )
    return found if len(found) > 1 else []


def _upgrades(rest: Remnant) -> Iterator[str]:
    pairs = list(zip(rest.members, rest.waits, strict=True))
    reading = {member.actor for member, waits in pairs if member.reads and not waits}
    if rest.queue.kind == "read-write":
        yield from (m.actor for m, waits in pairs if waits and not m.reads and m.actor in reading)


def doubles(ring: Ring) -> Counter[str]:
    """Actors that a ring needs twice in one queue.

    One session with several threads does that all day, so such a ring proves little.
    """
    roles = {(e.queue.lock, r.node, r.actor) for e in ring for r in (e.request, e.blocker)}
    places = Counter((lock, actor) for lock, _, actor in roles)
    return Counter(actor for (_, actor), number in places.items() if number > 1)
