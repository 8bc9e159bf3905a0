"""Caches parsed tables, because most hardly change from one reading to the next.

With ten thousand locks, the watches and the ephemeral znodes of a server are megabytes of text.
Text that is the same as before is not parsed again. If a few rows changed, the others stay the
same objects, because the past keeps old tables.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from msgspec.structs import force_setattr

from zktop.model.facts import Expiry, ServerFact, Watches
from zktop.zk.servers.table_formats import PathsBySession

K = TypeVar("K")
V = TypeVar("V")


class KnownTables:
    """The tables of one server as they were last parsed."""

    def __init__(self) -> None:
        # By name: the digest of the text, what else the rows depend on, and the rows.
        self._last_parsed: dict[str, tuple[bytes, object, PathsBySession]] = {}

    def rows(
        self,
        name: str,
        text: bytes | memoryview,
        parse: Callable[[], PathsBySession],
        basis: object = None,
    ) -> PathsBySession:
        """Parse a table, unless its text and everything else it depends on are unchanged."""
        digest = sha256(text).digest()
        last_parsed = self._last_parsed.get(name)
        if last_parsed is not None and last_parsed[:2] == (digest, basis):
            return last_parsed[2]
        rows = parse()
        self._last_parsed[name] = (digest, basis, rows)
        return rows


def share(facts: Sequence[ServerFact], previous: Sequence[ServerFact]) -> None:
    """Let new facts share rows with those of the previous sample.

    With fifty thousand sessions a table takes megabytes. Rows of connections are not shared: the
    silence in each differs every time.
    """
    previous_by_type = {type(fact): fact for fact in previous}
    for fact in facts:
        earlier = previous_by_type.get(type(fact))
        for name in _TABLES.get(type(fact), ()):
            force_setattr(fact, name, shared(getattr(fact, name), getattr(earlier, name, None)))


def shared(now: dict[K, V] | None, previous: dict[K, V] | None) -> dict[K, V] | None:
    """Return a table that shares rows with the previous one, or that one if nothing differs.

    >>> previous = {1: ("/a",), 2: ("/b",)}
    >>> shared({1: ("/a",), 2: ("/b",)}, previous) is previous
    True
    >>> shared({2: ("/b",), 3: ("/c",)}, previous)[2] is previous[2]
    True
    """
    if not now or not previous:
        return now
    if now == previous:
        return previous
    keys = dict(zip(previous, previous, strict=True))
    table: dict[K, V] = {}
    for key, row in now.items():
        earlier = previous.get(key, row)
        table[keys.get(key, key)] = earlier if earlier == row else row
    return table


_TABLES: dict[type[ServerFact], tuple[str, ...]] = {
    Watches: ("rows",),
    Expiry: ("expires_in_ms", "timeouts_ms", "ephemerals"),
}
