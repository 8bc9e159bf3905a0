"""What a server says again is kept once: tables of the past share their rows with the newest one.

Whoever looks back into the past keeps the tables of then. Fifty thousand sessions are megabytes a
table, and from one table to the next hardly any of that is new.
"""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import force_setattr

from zktop.model.facts import Connection, Connections, Expiry, ServerFact, Watches

K = TypeVar("K")
V = TypeVar("V")


def share(facts: Sequence[ServerFact], before: Sequence[ServerFact]) -> None:
    """Let these facts, which nobody has seen yet, have their rows from those of the last look."""
    known = {type(fact): fact for fact in before}
    for fact in facts:
        earlier = known.get(type(fact))
        for name in _TABLES.get(type(fact), ()):
            force_setattr(fact, name, shared(getattr(fact, name), getattr(earlier, name, None)))
        if isinstance(fact, Connections) and isinstance(earlier, Connections):
            force_setattr(fact, "rows", _shared_rows(fact.rows, earlier.rows))


def shared(now: dict[K, V] | None, before: dict[K, V] | None) -> dict[K, V] | None:
    """Give a table made of parts of the one before it; that one itself if it says the same.

    >>> before = {1: ("/a",), 2: ("/b",)}
    >>> shared({1: ("/a",), 2: ("/b",)}, before) is before
    True
    >>> shared({2: ("/b",), 3: ("/c",)}, before)[2] is before[2]
    True
    """
    if not now or not before:
        return now
    if now == before:
        return before
    keys = dict(zip(before, before, strict=True))
    return {
        keys.get(key, key): earlier if (earlier := before.get(key)) == row and earlier else row
        for key, row in now.items()
    }


def _shared_rows(
    now: tuple[Connection, ...] | None, before: tuple[Connection, ...] | None
) -> tuple[Connection, ...] | None:
    if not now or not before:
        return now
    known = {row: row for row in before}
    return tuple(known.get(row, row) for row in now)


_TABLES: dict[type[ServerFact], tuple[str, ...]] = {
    Watches: ("rows", "children"),
    Expiry: ("expires_in_ms", "timeouts_ms", "ephemerals"),
}
