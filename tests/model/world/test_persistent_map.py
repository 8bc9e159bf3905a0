"""A persistent map behaves like an immutable dictionary, and shows where two versions differ."""

import weakref

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.world.persistent_map import MAX_RECENT, PersistentMap

KEYS = st.integers(0, 3 * MAX_RECENT)
CHANGES = st.lists(
    st.dictionaries(KEYS, st.one_of(st.none(), st.text(max_size=2)), max_size=MAX_RECENT),
    max_size=8,
)


@given(CHANGES)
def test_every_version_is_the_dictionary_it_stands_for(changes: list[dict[int, str]]) -> None:
    """Setting and removing does what it does to a dictionary, before and after pouring."""
    entries, model = PersistentMap[int, str](), dict[int, str]()
    for change in changes:
        entries = entries.with_changes(change)
        model = {k: v for k, v in {**model, **change}.items() if v is not None}

        assert dict(entries) == model
        assert len(entries) == len(model)
        assert all((key in entries) == (key in model) for key in range(3 * MAX_RECENT))


@given(CHANGES, CHANGES)
def test_earlier_versions_never_change(
    first: list[dict[int, str]], second: list[dict[int, str]]
) -> None:
    """A version stays valid for as long as it is kept."""
    entries = PersistentMap[int, str]()
    for change in first:
        entries = entries.with_changes(change)
    before, later = dict(entries), entries
    for change in second:
        later = later.with_changes(change)

    assert dict(entries) == before


@given(CHANGES, CHANGES)
def test_all_differences_are_found(
    first: list[dict[int, str]], second: list[dict[int, str]]
) -> None:
    """Every key whose value differs between two versions is named."""
    before = PersistentMap[int, str]()
    for change in first:
        before = before.with_changes(change)
    after = before
    for change in second:
        after = after.with_changes(change)
    keys = {*before, *after}
    differing = {key for key in keys if before.get(key) is not after.get(key)}

    assert differing <= after.changed_since(before)


@given(CHANGES, st.sets(KEYS))
def test_which_of_some_keys_are_there(changes: list[dict[int, str]], keys: set[int]) -> None:
    """Asked at once as asked one by one, whatever came, went or was poured."""
    entries = PersistentMap[int, str]()
    for change in changes:
        entries = entries.with_changes(change)

    assert entries.among(keys) == {key for key in keys if key in entries}


class Value:
    """Something that can be seen to go."""


def test_a_merged_map_does_not_keep_old_values() -> None:
    """The keys are remembered, so that differences are found; a replaced value is let go."""
    old = Value()
    gone = weakref.ref(old)
    entries = PersistentMap({number: Value() for number in range(10_000)}).with_changes({5: old})
    del old
    others = {number: Value() for number in range(100, 100 + MAX_RECENT)}  # enough to be merged
    entries = entries.with_changes(others).with_changes({5: Value(), **others})

    assert 5 in entries.merged[0][1]
    assert gone() is None


def test_the_next_version_does_not_copy_the_large_part() -> None:
    """A change among many entries shares all the others with the version before."""
    entries = PersistentMap({number: str(number) for number in range(10_000)})
    later = entries.with_changes({5: "five"})

    assert later.base is entries.base
    assert later.changed_since(entries) == {5}


def test_keys_that_come_and_go_are_not_remembered() -> None:
    """A queue of one, through which thousands have gone, is as small as it looks."""
    entries: PersistentMap[str, int] = PersistentMap()
    for number in range(5_000):
        entries = entries.with_changes({f"lock-{number}": number, f"lock-{number - 1}": None})
    kept = {*entries.base, *entries.recent, *(key for _, keys in entries.merged for key in keys)}

    assert len(entries) == 1
    assert len(kept) < 20
