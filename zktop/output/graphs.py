"""A snapshot as a drawing: who waits for whom, in DOT and in Mermaid.

Chains alternate between actor and lock, so that the drawing reads like the sentence. An actor is a
session, however it is called: two workers of one name are two.
"""

from collections.abc import Iterator
from typing import NamedTuple

from zktop.output.schema import LockJson, SnapshotJson


class GraphEdge(NamedTuple):
    """An actor holds a lock, or waits for it."""

    actor: str
    name: str
    lock: str
    says: str
    holds: bool
    dead: bool  # part of a deadlock


def edges(snapshot: SnapshotJson) -> Iterator[GraphEdge]:
    """Give the edges of all locks that somebody waits for."""
    dead = {
        (step.actor, lock)
        for deadlock in snapshot.deadlocks
        for step in deadlock.steps
        for lock in (step.waits.lock, *(held.lock for held in step.holds))
    }
    for lock in snapshot.locks:
        if lock.waiters:
            yield from _edges_of(lock, dead)


def dot(snapshot: SnapshotJson) -> Iterator[str]:
    """Write the graph for Graphviz."""
    yield "digraph locks {"
    yield "  rankdir=LR; node [fontname=monospace];"
    drawn = list(edges(snapshot))
    for lock in sorted({edge.lock for edge in drawn}):
        yield f"  {_quoted(lock)} [shape=box];"
    for actor, name in sorted({(edge.actor, edge.name) for edge in drawn}):
        yield f"  {_quoted(actor)} [label={_quoted(name)}];"
    for edge in drawn:
        colour = ", color=red, penwidth=2" if edge.dead else ""
        ends = (edge.lock, edge.actor) if edge.holds else (edge.actor, edge.lock)
        style = "" if edge.holds else ", style=dashed"
        start, end = map(_quoted, ends)
        yield f"  {start} -> {end} [label={_quoted(edge.says)}{style}{colour}];"
    yield "}"


def mermaid(snapshot: SnapshotJson) -> Iterator[str]:
    """Write the graph for Mermaid, as chats and wikis draw it."""
    yield "flowchart LR"
    names: dict[str, str] = {}
    for edge in edges(snapshot):
        for key, text, (left, right) in (
            (edge.lock, edge.lock, "[]"),
            (edge.actor, edge.name, "()"),
        ):
            if key not in names:
                names[key] = f"n{len(names)}"
                yield f"  {names[key]}{left}{_entities(text)}{right}"
        actor, lock = names[edge.actor], names[edge.lock]
        if edge.holds:
            yield f"  {lock} -->|{_entities(edge.says)}| {actor}"
        else:
            yield f"  {actor} -.->|{_entities(edge.says)}| {lock}"
    dead = sorted({names[edge.actor] for edge in edges(snapshot) if edge.dead})
    if dead:
        yield "  classDef dead stroke:#d00,stroke-width:3px"
        yield f"  class {','.join(dead)} dead"


def _edges_of(lock: LockJson, dead: set[tuple[str, str]]) -> Iterator[GraphEdge]:
    for contender in (*lock.holders, *lock.waiters):
        actor = contender.session or f"{lock.path}/{contender.node}"
        name = contender.name
        holds = contender.state == "holds"
        says = f"{contender.state} {contender.mode}"
        yield GraphEdge(actor, name, lock.path, says, holds, (actor, lock.path) in dead)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _entities(text: str) -> str:
    """Quote a label for Mermaid, whose strings know entities and no backslash."""
    plain = "".join(c if c.isalnum() or c in " /.:_-" else f"#{ord(c)};" for c in text)
    return f'"{plain}"'
