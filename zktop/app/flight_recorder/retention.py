"""Decide which files of a flight recorder to delete. Nothing here touches a disk."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from zktop.model.facts import Millis

DEFAULT_KEEP_MS: Millis = 48 * 3_600_000
DEFAULT_MAX_SIZE = 2 << 30
MIN_KEEP_MS: Millis = 60_000
MIN_MAX_SIZE = 1 << 20
MAX_PIECE_MS: Millis = 600_000
MAX_PIECE_BYTES = 16 << 20
MIN_PIECES = 8  # so that deleting the oldest one loses little


class StoredPiece(msgspec.Struct, frozen=True):
    """A recording in the folder: a piece of the ring, or a finding file."""

    path: Path
    begin: Millis
    size: int
    is_torn: bool = False  # a write error may have left half a line at its end


class RingLimits(msgspec.Struct, frozen=True):
    """How old and how large the contents of the folder may be."""

    keep: Millis
    max_bytes: int

    @property
    def piece_ms(self) -> Millis:
        """The length of a piece."""
        return min(MAX_PIECE_MS, self.keep // MIN_PIECES)

    @property
    def piece_bytes(self) -> int:
        """The size after which a piece ends."""
        return min(MAX_PIECE_BYTES, self.max_bytes // MIN_PIECES)

    @property
    def finding_files_bytes(self) -> int:
        """The limit for all finding files together: half of the folder."""
        return self.max_bytes // 2


def superfluous_pieces(
    pieces: Sequence[StoredPiece], since: Millis, max_bytes: int
) -> Sequence[StoredPiece]:
    """Return the oldest pieces: those that begin before `since` or do not fit.

    The pieces are in order of time.
    """
    remaining_bytes = sum(piece.size for piece in pieces)
    for number, piece in enumerate(pieces):
        if piece.begin >= since and remaining_bytes <= max_bytes:
            return pieces[:number]
        remaining_bytes -= piece.size
    return pieces
