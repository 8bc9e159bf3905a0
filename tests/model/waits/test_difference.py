"""Who stands behind all that matters: then nobody else needs to be judged anew."""

import pytest

from zktop.model.waits.difference import is_tail
from zktop.model.waits.state import Request


def line(names: str) -> tuple[Request, ...]:
    """Give a queue, first to last."""
    return tuple(
        Request(node=f"n-{place}", actor=name, mode="exclusive", czxid=place + 1, since_ms=place)
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
