"""The user's list of owners names clients by session, address, host or pattern."""

from unittest.mock import MagicMock

import pytest

from zktop.model.owner_list import OwnerList

LIST = OwnerList(
    {
        "10.0.7.*": "batch",
        "10.0.*": {"name": "office", "floor": "2"},
        "10.0.0.1": "billing",
        "10.0.0.1:4001": "billing-admin",
        "0x1f": {"name": "nightly", "team": "data", "on call": "eve"},
        "[::1]": "laptop",
    }
)


@pytest.mark.parametrize(
    ("session", "client", "name"),
    [
        ("0x1f", "10.0.0.1:4000", "nightly"),
        ("0x2", "10.0.0.1:4001", "billing-admin"),
        ("0x2", "10.0.0.1:4002", "billing"),
        ("0x2", "10.0.7.8:4000", "batch"),
        ("0x2", "10.0.77.8:4000", "office"),
        ("0x2", "[::1]:4000", "laptop"),
        ("0x2", "10.1.0.1:4000", None),
        ("0x2", "", None),
    ],
)
def test_the_most_exact_entry_counts(session: str, client: str, name: str | None) -> None:
    """Session, then address, then host, then the first pattern."""
    key = LIST.key_of(session, client)

    assert (LIST.name(key) if key else None) == name


def test_further_fields_of_an_owner() -> None:
    """An entry may have more than a name."""
    assert LIST.details_of("0x1f", "") == {"name": "nightly", "team": "data", "on call": "eve"}
    assert LIST.details_of("0x2", "10.0.0.9:1") == {"name": "office", "floor": "2"}
    assert LIST.details_of("0x2", "10.0.0.1:1") == {"name": "billing"}
    assert LIST.details_of("0x2", "10.1.0.1:1") == {}


def test_a_list_is_not_compared_with_itself() -> None:
    """With 50,000 entries that takes 18 ms, and a screen asks twenty times a second."""
    entries = MagicMock(wraps=dict(LIST.entries))
    entries.__eq__.side_effect = AssertionError("compared")
    same = OwnerList(entries)

    assert same.has_entries_of(same)
    assert OwnerList({"a": "b"}).has_entries_of(OwnerList({"a": "b"}))
    assert not OwnerList({"a": "b"}).has_entries_of(OwnerList())
