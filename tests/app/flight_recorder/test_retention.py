"""Which pieces of a flight recorder are deleted."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from zktop.app.flight_recorder.retention import StoredPiece, superfluous_pieces

SIZES = st.lists(st.integers(0, 50), max_size=12)


def pieces(sizes: list[int]) -> list[StoredPiece]:
    """One piece a second."""
    return [StoredPiece(Path(f"{n}"), n * 1000, size) for n, size in enumerate(sizes)]


@given(SIZES, st.integers(0, 12_000), st.integers(0, 300))
def test_the_remaining_pieces_are_young_and_small_enough(
    sizes: list[int], since: int, max_bytes: int
) -> None:
    """Nothing is older than the limit, and all of it fits."""
    stored = pieces(sizes)
    left = stored[len(superfluous_pieces(stored, since, max_bytes)) :]

    assert all(piece.begin >= since for piece in left)
    assert sum(piece.size for piece in left) <= max_bytes


@given(SIZES, st.integers(0, 12_000), st.integers(0, 300))
def test_no_piece_is_deleted_without_need(sizes: list[int], since: int, max_bytes: int) -> None:
    """The oldest are deleted first; one deletion fewer would exceed a limit."""
    stored = pieces(sizes)
    gone = superfluous_pieces(stored, since, max_bytes)

    assert list(gone) == stored[: len(gone)]
    if gone:
        remaining = stored[len(gone) - 1 :]
        is_old = gone[-1].begin < since
        assert is_old or sum(piece.size for piece in remaining) > max_bytes
