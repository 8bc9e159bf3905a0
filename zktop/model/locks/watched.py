"""What the servers' watch tables say about one session and one path."""

from collections.abc import Iterable, Iterator, Mapping

from zktop.model.facts import Session, Watches
from zktop.model.locks.folder import Seen
from zktop.model.text import Text
from zktop.model.world import World

_TOO_MANY = 4_000  # watches of one session: looking through more takes longer than it is worth


def watches(world: World, session: Session, path: str) -> bool | None:
    """Tell whether a session watches a path; None when no table can tell."""
    tables = [table.watches.rows if table.watches else None for table in world.tables.values()]
    found = [rows[session] for rows in tables if rows and session in rows]
    if any(len(paths) > _TOO_MANY for paths in found):
        return None
    if any(path in paths for paths in found):
        return True
    return False if found or (tables and None not in tables) else None


def seen_watching(
    world: World,
    sessions: Iterable[Session],
    nodes: Mapping[Text, Text],
    before: Mapping[Session, Seen],
) -> dict[Session, Seen]:
    """Give what sessions watch among some paths, named as `nodes` says, and since when.

    Who was looked up before is looked up again: a watch that is older than a node is left over.
    """
    found: dict[Session, Seen] = {}
    for session in {*sessions, *before}:
        tables = list(_tables_of(world, session)) if session else []
        if len(tables) != 1:
            continue  # nobody knows, or it moves from one server to another
        table, paths = tables[0]
        known = before.get(session)
        earlier = known.here if known else {}
        here = {nodes[path] for path in paths if path in nodes}
        found[session] = Seen(
            table.zxid,
            known.since if known else table.zxid,
            {node: earlier.get(node, table.zxid) for node in here},
        )
    return found


def _tables_of(world: World, session: Session) -> Iterator[tuple[Watches, tuple[Text, ...]]]:
    """Give the watch tables that have a session, without those of which it has too many rows."""
    for tables in world.tables.values():
        table = tables.watches
        paths = (table.rows or {}).get(session, ()) if table else ()
        if table and paths and len(paths) <= _TOO_MANY:
            yield table, paths
