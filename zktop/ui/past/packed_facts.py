"""Packs facts, and the events that they caused, in pieces of limited size.

The facts of ten thousand locks are many times larger unpacked, so each piece is encoded and
compressed before the next one is built. Of the watches and ephemeral nodes of sessions, only rows
that changed since the previous step are packed.
"""

import lzma
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr, replace

from zktop.model.facts import AnyFact, Expiry, Session, Watches
from zktop.model.history.events import Event
from zktop.model.world.newest_tables import NO_TABLES
from zktop.model.world.world import World

PIECE_FACTS: Final = 1_000
COMPRESSION_LEVEL: Final = 1  # higher levels take several times as long for a few percent
LENGTH_BYTES: Final = 4  # each piece is preceded by its length
CHUNK_BYTES: Final = 1 << 16  # how much is unpacked at a time

_LargeTable = Watches | Expiry
_FIELDS: Final = {Watches: "rows", Expiry: "ephemerals"}


class SharedRows(msgspec.Struct, frozen=True, array_like=True):
    """Marks a table that is packed without the rows that it shares with the previous one."""

    fact: int  # the index of the table in the piece
    gone: list[Session]  # rows that only the previous table has


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """Some facts of a step, not decoded; the last piece has all events of the step."""

    facts: msgspec.Raw
    events: msgspec.Raw
    is_last: bool
    shared: list[SharedRows]


_encoder = msgspec.msgpack.Encoder()
_pieces = msgspec.msgpack.Decoder(Piece)
_facts = msgspec.msgpack.Decoder(list[AnyFact])
_events = msgspec.msgpack.Decoder(list[Event])


# Packing


def pieces(
    facts: Iterable[AnyFact], events: Sequence[Event] = (), previous_world: World | None = None
) -> Iterator[bytes]:
    """Encode events, and the facts that follow `previous_world`."""
    left = iter(facts)
    current = list(islice(left, PIECE_FACTS))
    while True:
        following = list(islice(left, PIECE_FACTS))
        encoded = _encoded(
            current, () if following else events, previous_world, is_last=not following
        )
        yield len(encoded).to_bytes(LENGTH_BYTES)
        yield encoded
        if not following:
            return
        current = following


def _encoded(
    facts: list[AnyFact], events: Sequence[Event], previous_world: World | None, *, is_last: bool
) -> bytes:
    shared: list[SharedRows] = []
    for index, fact in enumerate(facts):
        if previous_world is not None and isinstance(fact, _LargeTable):
            rows, rows_before = _rows(fact), _rows_before(fact, previous_world)
            if rows and rows_before:
                changed = {key: row for key, row in rows.items() if rows_before.get(key) != row}
                facts[index] = replace(fact, **{_FIELDS[type(fact)]: changed})
                shared.append(SharedRows(index, [key for key in rows_before if key not in rows]))
    return _encoder.encode((facts, events, is_last, shared))


def _rows(table: _LargeTable | None) -> dict[Session, Any] | None:
    return None if table is None else getattr(table, _FIELDS[type(table)])


def _rows_before(table: _LargeTable, world: World) -> dict[Session, Any] | None:
    tables = world.tables.get(table.server, NO_TABLES)
    return _rows(tables.watches if isinstance(table, Watches) else tables.expiry)


def packed(encoded: Iterable[bytes]) -> bytes:
    compressor = lzma.LZMACompressor(preset=COMPRESSION_LEVEL)
    return b"".join([*map(compressor.compress, encoded), compressor.flush()])


def packed_together(steps: Iterable[bytes]) -> bytes:
    """Compress packed steps again, now with their neighbours."""
    return packed(chunk for step in steps for chunk in _decompressed(step))


# Unpacking


def unpacked(compressed: bytes) -> Iterator[Piece]:
    return _split(_decompressed(compressed))


def facts_in(piece: Piece, previous_world: World) -> list[AnyFact]:
    """Decode the facts of a piece that follows `previous_world`."""
    facts = _facts.decode(piece.facts)
    for shared in piece.shared:
        table = facts[shared.fact]
        assert isinstance(table, _LargeTable)  # noqa: S101  no other has shared rows
        rows, changed = _rows_before(table, previous_world) or {}, _rows(table) or {}
        if gone := set(shared.gone):
            rows = {key: row for key, row in rows.items() if key not in gone}
        if changed:
            rows = rows | changed
        force_setattr(table, _FIELDS[type(table)], rows)
    return facts


def events_in(piece: Piece) -> list[Event]:
    return _events.decode(piece.events)


def _decompressed(compressed: bytes) -> Iterator[bytes]:
    decompressor = lzma.LZMADecompressor()
    yield decompressor.decompress(compressed, CHUNK_BYTES)
    while not decompressor.eof:
        yield decompressor.decompress(b"", CHUNK_BYTES)


def _split(chunks: Iterable[bytes]) -> Iterator[Piece]:
    read = bytearray()
    for chunk in chunks:
        read += chunk
        while len(read) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(read[:LENGTH_BYTES])
            if len(read) < end:
                break
            yield _pieces.decode(bytes(read[LENGTH_BYTES:end]))
            del read[:end]
