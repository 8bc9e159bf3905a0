"""Where two versions of a sequence differ: what is put back together must be the later one."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.world.sequence_diff import changed_runs

MANY = st.lists(st.integers(0, 2_000), unique=True, max_size=1_500)


@given(
    before=st.permutations(range(12)), after=st.permutations(range(4, 16)), cut=st.integers(0, 12)
)
def test_with_the_stretches_replaced_one_becomes_the_other(
    before: list[int], after: list[int], cut: int
) -> None:
    """However much they differ."""
    assert _patched(before, after[:cut]) == after[:cut]


@given(before=MANY, gone=st.sets(st.integers(0, 2_000), max_size=6), come=st.integers(0, 6))
def test_a_few_changes_of_a_long_queue_are_found_exactly(
    before: list[int], gone: set[int], come: int
) -> None:
    """While the rest keeps its order, only objects that came or went are in a changed run."""
    after = [one for one in before if one not in gone] + [5_000 + one for one in range(come)]
    found = list(changed_runs(before, after))

    left = [one for part in found for one in before[part.old_start : part.old_end]]
    joined = [one for part in found for one in after[part.new_start : part.new_end]]
    assert left == [one for one in before if one in gone]
    assert joined == after[len(after) - come :]


def test_equal_sequences_have_no_changed_runs() -> None:
    """Nothing is yielded."""
    assert not list(changed_runs(range(2_000), range(2_000)))


def _patched(before: list[int], after: list[int]) -> list[int]:
    made, at = [], 0
    for part in changed_runs(before, after):
        made += before[at : part.old_start] + after[part.new_start : part.new_end]
        at = part.old_end
    return made + before[at:]
