"""One sentence for a deadlock: what is drawn, exported, spoken and pasted into a chat."""

from typing import NamedTuple

from zktop.model.waits.cores import Core
from zktop.model.waits.kinds import Rule, upgraders
from zktop.model.waits.knots import knot_sentence
from zktop.model.waits.names import Names, moment, span
from zktop.model.waits.ring import Edge, Ring, passes_by, queued
from zktop.model.waits.state import Request

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
    if len(ring) - len(queued(ring)) > _SPELLED_OUT:
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
    between = queued(ring)
    members = [edge for edge in ring if edge.request.actor not in between]
    owners = [names.owner(edge.request.actor) for edge in members]
    turns = " -> ".join([*owners[:2], "...", owners[-1], owners[0]])
    dated = [
        (edge.request.since_ms, edge) for edge in members if edge.request.since_ms is not None
    ]
    text = f"Ring of {len(members)}: {turns}"
    if dated:
        since, oldest = min(dated, key=lambda pair: pair[0])
        text += f"; oldest wait {names.owner(oldest.request.actor)} {span(now_ms - since)}"
    closed = ring[-1].request.since_ms
    at = f" at {moment(closed)}" if closed is not None else ""
    return f"{text}, closed by {names.owner(ring[-1].request.actor)}{at}."


class _Turn(NamedTuple):
    """A member of the ring, for whom it waits, and who queues in between."""

    edge: Edge
    holder: Request
    between: tuple[Request, ...]


def _turns(ring: Ring) -> list[_Turn]:
    """Give the members of the ring, the first of them in front; the last one closes it."""
    while passes_by(ring[0], ring[-1]):
        ring = (*ring[1:], ring[0])
    made: list[_Turn] = []
    for before, edge in zip((ring[-1], *ring), ring, strict=False):
        if passes_by(edge, before):
            last = made[-1]
            made[-1] = _Turn(last.edge, edge.blocker, (*last.between, edge.request))
        else:
            made.append(_Turn(edge, edge.blocker, ()))
    return made


def _rotation(ring: Ring, names: Names) -> str:
    """One part for each member; the first says what it holds, the last closes the ring."""
    turns = _turns(ring)
    first, last = turns[0], turns[-1]
    held = names.wanted(last.holder.mode, last.edge.queue.lock)
    owner = names.owner(first.edge.request.actor)
    if len(turns) == 1:
        wish = names.wanted(first.edge.request.mode, first.edge.queue.lock)
        again = f"{owner} holds {held} and asks for {wish} again"
        if not first.between:
            return f"{again}, behind itself; it waits for itself."
        return f"{again}, but {_queue(first, names)} in between and waits for {owner}."
    parts = [_part(turn, names) for turn in turns[:-1]]
    parts[0] = parts[0].replace(f"{owner} waits", f"{owner} holds {held} and waits", 1)
    return "; ".join([*parts, _part(last, names, is_told=len(turns) == _PAIR)]) + "."


def _part(turn: _Turn, names: Names, *, is_told: bool = False) -> str:
    """Say for what a member waits, and who holds that, unless it was told already."""
    request = turn.edge.request
    wish = names.wanted(request.mode, turn.edge.queue.lock)
    holder = "" if is_told else f", which {names.owner(turn.holder.actor)} holds,"
    why = f" because {_queue(turn, names)}" if turn.between else ""
    return f"{names.owner(request.actor)} waits for {wish}{holder if why else holder[:-1]}{why}"


def _queue(turn: _Turn, names: Names) -> str:
    """Say who queues in between, and for what."""
    request = turn.between[0]
    what = {"write": " to write", "read": " to read"}.get(request.mode, "")
    return f"{names.owner(request.actor)} is queued{what}"
