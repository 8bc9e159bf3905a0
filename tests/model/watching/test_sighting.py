"""A verdict is believed when two tables, some time apart, say the same."""

import pytest

from zktop.model.locks.lock import Target
from zktop.model.text import Text
from zktop.model.watching import NO_SIGHTING, Sighting, Watching

MISSING = Watching("missing", (Target(Text("/a/x"), "data"),), ())
ELSEWHERE = Watching("elsewhere", (Target(Text("/a/x"), "data"),), (Text("/a/y"),))
MOVED = Watching("missing", (Target(Text("/a/z"), "data"),), ())


def seen(*looks: tuple[Watching, int | None]) -> Sighting:
    """The sighting after these looks."""
    sighting = NO_SIGHTING
    for watching, table_at in looks:
        sighting = sighting.after(watching, table_at)
    return sighting


@pytest.mark.parametrize(
    ("looks", "settled"),
    [
        ([(MISSING, 0)], False),
        ([(MISSING, 0), (MISSING, 0)], False),
        ([(MISSING, 0), (MISSING, 1_999)], False),
        ([(MISSING, 0), (MISSING, 2_000)], True),
        ([(MISSING, 0), (ELSEWHERE, 2_000)], False),
        ([(MISSING, 0), (MOVED, 2_000)], False),
        ([(MISSING, 0), (MISSING, None), (MISSING, 2_000)], False),
        ([(MISSING, 0), (ELSEWHERE, 500), (MISSING, 2_000)], False),
        ([(MISSING, 0), (MISSING, 2_000), (MISSING, 1_000)], True),
    ],
    ids=[
        "one table",
        "one table, two looks",
        "too close",
        "two tables",
        "another verdict",
        "another expectation",
        "blind in between",
        "right in between",
        "a late look changes nothing",
    ],
)
def test_settled(looks: list[tuple[Watching, int | None]], *, settled: bool) -> None:
    """Two seconds are asked for."""
    assert seen(*looks).is_settled(2_000) is settled


def test_no_time_to_settle_still_takes_two_tables() -> None:
    """Even an impatient user gets no verdict from a single table."""
    assert not seen((MISSING, 5)).is_settled(0)
