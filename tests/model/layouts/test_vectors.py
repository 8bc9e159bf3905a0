"""The atlas of lock layouts, one situation each."""

import pytest
from model.layouts.vectors import Vector, all_vectors, complaints, lock_of


@pytest.mark.parametrize("vector", list(all_vectors()), ids=lambda vector: vector["id"])
def test_says_of_a_vector_what_it_expects(vector: Vector):
    """Layout, holders, waiters in order, labels, watches, foreign children and warnings."""
    lock = lock_of(vector)

    assert complaints(vector, lock) == []
