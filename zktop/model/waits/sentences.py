"""One sentence for a deadlock: what is drawn, exported, spoken and pasted into a chat."""

from zktop.model.waits.cores import Core
from zktop.model.waits.kinds import Rule, upgraders
from zktop.model.waits.knots import knot_sentence
from zktop.model.waits.names import Names, moment, span
from zktop.model.waits.ring import Edge, Ring

_SPELLED_OUT = 5
_PAIR = 2


def sentence(rule: Rule, ring: Ring, core: Core, names: Names, now_ms: int) -> str:
    """Say it, in the words for its rule."""
    if rule == "D3":
        return knot_sentence(core, names)
    if rule == "D5":
        return _upgraders(ring, core, names)
    if rule in ("D4", "D6"):
        return (_upgrade if rule == "D4" else _double)(ring[0], names)
    if len(ring) > _SPELLED_OUT:
        return _long_ring(ring, names, now_ms)
    return _rotation(ring, names)


def _upgrade(edge: Edge, names: Names) -> str:
    actor, lock = names.owner(edge.request.actor), names.path(edge.queue.lock)
    wish = f"{actor} reads {lock} and now wants to write {lock}"
    return f"{wish}; that can only succeed after its own read lock is gone."


def _double(edge: Edge, names: Names) -> str:
    held = names.wanted(edge.blocker.mode, edge.queue.lock)
    asked = names.wanted(edge.request.mode, edge.queue.lock)
    actor = names.owner(edge.request.actor)
    return f"{actor} holds {held} and asks for {asked} again, behind itself; it waits for itself."


def _upgraders(ring: Ring, core: Core, names: Names) -> str:
    actors, lock = upgraders(core, ring), names.path(ring[0].queue.lock)
    both = len(actors) == _PAIR
    who, every = names.all_of(actors), "both" if both else "all"
    other = "the other's read lock" if both else "the others' read locks"
    return f"{who} {every} read {lock} and {every} want to write it; each waits for {other}."


def _long_ring(ring: Ring, names: Names, now_ms: int) -> str:
    owners = [names.owner(edge.request.actor) for edge in ring]
    turns = " -> ".join([*owners[:2], "...", owners[-1], owners[0]])
    dated = [(edge.request.since_ms, edge) for edge in ring if edge.request.since_ms is not None]
    text = f"Ring of {len(ring)}: {turns}"
    if dated:
        since, oldest = min(dated, key=lambda pair: pair[0])
        text += f"; oldest wait {names.owner(oldest.request.actor)} {span(now_ms - since)}"
    closed = ring[-1].request.since_ms
    at = f" at {moment(closed)}" if closed is not None else ""
    return f"{text}, closed by {owners[-1]}{at}."


def _rotation(ring: Ring, names: Names) -> str:
    """One part for each actor; the first says what it holds, the last closes the ring."""
    if _passes_by(ring[0], ring[-1]):
        ring = (*ring[1:], ring[0])  # say what it waits for right after who waits behind it
    head = ring[-1].blocker
    parts = [
        _part(edge, before, names) for before, edge in zip((ring[-1], *ring), ring, strict=False)
    ]
    if ring[-1].is_hard:
        actor = names.owner(head.actor)
        held = names.wanted(head.mode, ring[-1].queue.lock)
        parts[0] = parts[0].replace(f"{actor} waits", f"{actor} holds {held} and waits", 1)
        if len(ring) == _PAIR and not _passes_by(ring[-1], ring[0]):
            parts[-1] = parts[-1].removesuffix(f", which {actor} holds")
    return "; ".join(parts) + "."


def _part(edge: Edge, before: Edge, names: Names) -> str:
    actor, other = names.owner(edge.request.actor), names.owner(edge.blocker.actor)
    wish = f"{actor} waits for {names.wanted(edge.request.mode, edge.queue.lock)}"
    if not edge.is_hard:
        return f"{wish} behind {other}'s queued {_QUEUED.get(edge.blocker.mode, 'request')}"
    if _passes_by(edge, before):
        verb = "reads" if edge.blocker.reads else "holds"
        return f"{actor} waits for {other}, which {verb} {names.path(edge.queue.lock)}"
    return f"{wish}, which {other} holds"


_QUEUED = {"write": "write", "read": "read"}


def _passes_by(edge: Edge, before: Edge) -> bool:
    """Whether the actor blocks by the very request with which it waits."""
    return edge.request == before.blocker and edge.queue.lock == before.queue.lock
