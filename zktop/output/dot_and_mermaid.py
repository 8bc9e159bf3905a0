"""Draw the wait graph of a snapshot as DOT or Mermaid.

Edges go from locks to their holders and from waiters to locks, so that a chain reads like the
sentence of a deadlock. An actor is a session: two clients with the same label are two actors.
"""

from collections.abc import Iterator
from typing import NamedTuple

from zktop.output.schema import LockJson, SnapshotJson


class GraphEdge(NamedTuple):
    """An actor that holds a lock, or waits for it."""

    actor: str
    name: str
    lock: str
    label: str
    holds: bool
    is_deadlocked: bool


def edges(snapshot: SnapshotJson) -> Iterator[GraphEdge]:
    """Yield the edges of all locks with waiters."""
    deadlocked = {  # by node: an actor of a deadlock may have several sessions
        (place.lock, place.node)
        for deadlock in snapshot.deadlocks
        for step in deadlock.steps
        for place in (step.waits, *step.holds)
    }
    for lock in snapshot.locks:
        if lock.waiters:
            yield from _edges_of(lock, deadlocked)


def dot(snapshot: SnapshotJson) -> Iterator[str]:
    """Yield the lines of a graph for Graphviz."""
    yield "digraph locks {"
    yield "  rankdir=LR; node [fontname=monospace];"
    drawn = list(edges(snapshot))
    for lock in sorted({edge.lock for edge in drawn}):
        yield f"  {_quote(lock)} [shape=box];"
    for actor, name in sorted({(edge.actor, edge.name) for edge in drawn}):
        yield f"  {_quote(actor)} [label={_quote(name)}];"
    for edge in drawn:
        colour = ", color=red, penwidth=2" if edge.is_deadlocked else ""
        ends = (edge.lock, edge.actor) if edge.holds else (edge.actor, edge.lock)
        style = "" if edge.holds else ", style=dashed"
        start, end = map(_quote, ends)
        yield f"  {start} -> {end} [label={_quote(edge.label)}{style}{colour}];"
    yield "}"


def mermaid(snapshot: SnapshotJson) -> Iterator[str]:
    """Yield the lines of a graph for Mermaid."""
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
            yield f"  {lock} -->|{_entities(edge.label)}| {actor}"
        else:
            yield f"  {actor} -.->|{_entities(edge.label)}| {lock}"
    deadlocked = sorted({names[edge.actor] for edge in edges(snapshot) if edge.is_deadlocked})
    if deadlocked:
        yield "  classDef dead stroke:#d00,stroke-width:3px"
        yield f"  class {','.join(deadlocked)} dead"


def _edges_of(lock: LockJson, deadlocked: set[tuple[str, str]]) -> Iterator[GraphEdge]:
    for contender in (*lock.holders, *lock.waiters):
        actor = contender.session or f"{lock.path}/{contender.node}"
        yield GraphEdge(
            actor,
            contender.name,
            lock.path,
            label=f"{contender.state} {contender.mode}",
            holds=contender.state == "holds",
            is_deadlocked=(lock.path, contender.node) in deadlocked,
        )


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _entities(text: str) -> str:
    """Quote a label for Mermaid, whose strings have entities but no backslash escapes."""
    plain = "".join(
        char if char.isalnum() or char in " /.:_-" else f"#{ord(char)};" for char in text
    )
    return f'"{plain}"'
