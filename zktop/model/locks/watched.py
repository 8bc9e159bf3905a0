"""What the servers' watch tables say about one session and one path."""

from zktop.model.facts import Session
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
