"""The number at the end of any name, where the config says that all clients compare it."""

import pytest

from zktop.model.layouts.client_view import BY_NUMBER, ranker_of
from zktop.model.layouts.layout import ClientView

RANK = ranker_of(ClientView(counts="all", key=BY_NUMBER, compare="number"))


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("lock-0000000007", 7),
        ("lock-1000000000", 1_000_000_000),
        ("lock--000000005", -5),
        ("lock-000000005", -5),
        ("lock--1000000000", -1_000_000_000),
        ("lock_-2147483648", -2_147_483_648),
        ("-2147483648", -2_147_483_648),
        ("lock-2147483648", -2_147_483_648),
        ("f__lock__-1999999999", -1_999_999_999),
    ],
)
def test_a_key_keeps_its_sign(name: str, number: int) -> None:
    """A dash belongs to the number if the name has another before it, or the number needs it."""
    assert RANK(name) == (1, number)
