"""What changed in a queue, and who stands behind all that matters."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from zktop.model.waits.state import WaitRequest, changed_requests, is_tail


def line(names: str) -> tuple[WaitRequest, ...]:
    """Give a queue, first to last."""
    return tuple(
        WaitRequest(
            node=f"n-{place}", actor=name, mode="exclusive", czxid=place + 1, since_ms=place
        )
        for place, name in enumerate(names.split())
    )


@pytest.mark.parametrize(
    ("names", "new", "is_so"),
    [
        ("T a b", "2", True),
        ("T a b", "1", True),  # its owner was read later than b came
        ("T a b", "1 2", True),
        ("a T b", "0", False),
        ("T a T", "1", False),
        ("T b", "", True),
    ],
)
def test_passers_by_may_follow_and_nobody_who_has_another_place(
    names: str,
    new: str,
    is_so: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """T stands in two locks: whoever comes before it may close a ring."""
    requests = line(names)
    created = tuple(requests[int(place)] for place in new.split())

    assert is_tail(requests, created, {"T"}) is is_so


@given(st.randoms(use_true_random=False))
def test_the_differences_of_long_queues_are_those_of_all_their_members(chance: random.Random):
    """Whether somebody came, left, changed or stands somewhere else now."""
    old = list(line(" ".join("a" * chance.randint(0, 150))))
    new = [one for one in old if chance.random() < 0.98]
    for place in chance.sample(range(len(new)), min(len(new), chance.randint(0, 3))):
        new[place] = replace(new[place], actor=chance.choice("ab"))
    if len(new) > 1 and chance.random() < 0.5:
        new.insert(chance.randrange(len(new)), new.pop(chance.randrange(len(new))))
    for number in range(chance.randint(0, 2)):
        new.insert(chance.randint(0, len(new)), WaitRequest(f"new-{number}", "c", "exclusive", 1))

    created, deleted = changed_requests(tuple(old), tuple(new))
    kept = [one for one in new if one in old]
    if kept == [one for one in old if one in new]:
        assert created == tuple(one for one in new if one not in old)
        assert deleted == tuple(one for one in old if one not in new)
    else:
        assert (created, deleted) == (tuple(new), tuple(old))
