"""Annals: packed or not, what happened is found again."""

from itertools import dropwhile

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.history.events import Elapsed, Event
from zktop.model.text import Text
from zktop.ui.past.event_log import FRESH, TOGETHER, EventLog


def happened(number: int) -> Event:
    """Give one event of many; two at a time happen at one moment."""
    return Event(
        event="released",
        lock=Text(f"/locks/{number % 7}"),
        at=1_000_000 + number // 2,
        session=0x10000000000 + number,
        held=Elapsed(number, "at-least") if number % 3 else None,
    )


@given(
    counts=st.lists(st.integers(0, 400), max_size=8),
    most=st.integers(1, 2_500),
    moment=st.integers(999_990, 1_001_300),
)
def test_what_happened_is_found_newest_first(counts: list[int], most: int, moment: int) -> None:
    """Everything up to a moment, as far back as is remembered, as it was told."""
    known, told = EventLog(most), list[Event]()
    for count in counts:
        more = [happened(len(told) + number) for number in range(count)]
        known.extend(more)
        told += more

    found = list(known.until(moment))
    expected = list(dropwhile(lambda one: one.at > moment, reversed(told[-len(known) :])))
    assert found == (expected if len(known) else [])
    assert min(len(told), max(most - 2 * TOGETHER, min(most, FRESH))) <= len(known) <= most


def test_what_is_long_ago_takes_little_room() -> None:
    """Of a hundred thousand events nearly all are packed."""
    known = EventLog(100_000)
    known.extend(map(happened, range(100_000)))

    packed = sum(len(text) for _, text in known._old)
    assert len(known) > 99_000
    assert packed < 20 * len(known)  # bytes; as an object, each takes hundreds
