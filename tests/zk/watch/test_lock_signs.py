"""What a few Stats show: locks, folders of locks, or data."""

import pytest

from zktop.model.facts import Stat
from zktop.zk.watch.lock_signs import content_of, is_empty_lock_folder, needs_no_owner

LEAF, OWNED = Stat(1, 1, 0), Stat(1, 1, 0, owner=0x7)
FOLDER, ROW = Stat(1, 1, 0, num_children=3), Stat(1, 1, 0, data_length=9)
USED_BEFORE = Stat(1, 1, 0, cversion=4, data_length=9)


def test_one_owned_child_makes_a_lock() -> None:
    """A single child of a session is enough; otherwise children of children show a folder."""
    assert content_of([LEAF, FOLDER, OWNED]) == "lock"
    assert content_of([LEAF, FOLDER]) == "folder"
    assert content_of([LEAF, ROW]) == "unowned"


@pytest.mark.parametrize(
    ("name", "stat", "is_among_many", "expected"),
    [
        ("orders", USED_BEFORE, False, True),
        ("orders", LEAF, False, False),
        ("orders", LEAF, True, True),
        ("orders-lock", LEAF, False, True),
        ("orders", ROW, True, False),
        ("orders", OWNED, True, False),
        ("item-0000000001", LEAF, True, False),
    ],
)
def test_an_empty_lock_folder_had_children_or_has_no_data(
    name: str, stat: Stat, *, is_among_many: bool, expected: bool
) -> None:
    """Without former children it also takes a name like a lock, or many siblings."""
    assert is_empty_lock_folder(name, stat, is_among_many=is_among_many) == expected


def test_few_numbered_znodes_without_owner_may_be_locks() -> None:
    """Names decide: those of Hive, Accumulo and kazoo's queue outlive sessions; others do not."""
    assert needs_no_owner("/hive/db", ["LOCK-SHARED-0000000001"])
    assert needs_no_owner("/jobs/entries", ["entry-100-0000000000"])
    assert not needs_no_owner("/jobs", ["job-0000000001"])
