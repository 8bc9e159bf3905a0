"""The pulse: what is counted in each second, and what a quiet second shows."""

from model.make_facts import ZK1, connections, own, row, watches
from msgspec.structs import replace
from output.stories import facts
from ui.example_past import BEGIN
from ui.fake_feed import frames
from ui.screens.locks.test_rows import single

from zktop.model.facts import Gone, Millis
from zktop.model.history.events import Elapsed, Event
from zktop.model.text import Text
from zktop.ui.past.pulse import KEPT_S, MAX_WAITS, Pulse, PulseSecond

QUEUED = facts("X x: P1 P2 P3", zxid=100)
RELEASED = facts("X x: P2 P3", zxid=200)


def pulse(*moments: tuple[Millis, list[object]]) -> Pulse:
    """The pulse of what was read at these milliseconds."""
    found = Pulse()
    for frame in frames(*((BEGIN + at, list(read)) for at, read in moments)):
        found.add(frame)
    return found


def until(found: Pulse, at: Millis, seconds: int) -> list[PulseSecond]:
    """So many seconds up to this millisecond."""
    return found.until(BEGIN + at, seconds)


def test_waiters_are_those_at_the_end_of_a_second() -> None:
    """Two wait behind a holder; after its release one does."""
    found = pulse((0, QUEUED), (1_000, RELEASED))

    assert [one.waiting for one in until(found, 1_000, 2)] == [2, 1]


def test_clients_that_wait_by_a_watch_alone_are_counted() -> None:
    """Those of a lock that is one znode, as in the column QUEUE; a table may come later."""
    path = "/single/lock"
    known = [own(at=BEGIN), connections(ZK1, *map(row, ("ann", "bob", "cid")), at=BEGIN)]
    found = pulse(
        (0, [*known, *single(path, "ann")]),
        (1_000, [watches(ZK1, {"bob": (path,), "cid": (path,)}, at=BEGIN + 1_000)]),
        (2_000, [watches(ZK1, {"cid": (path,)}, at=BEGIN + 2_000)]),
        (3_000, [Gone(path=Text(path), zxid=60, at=BEGIN + 3_000)]),
    )

    assert [one.waiting for one in until(found, 3_000, 4)] == [0, 2, 1, 0]


def test_nothing_is_known_without_a_connection() -> None:
    """In a gap of a recording, too; the second of the loss keeps its number."""
    lost, back = own(state="suspended", at=BEGIN + 1_000), own(at=BEGIN + 4_000)
    found = pulse((0, [own(at=BEGIN), *QUEUED]), (1_000, [lost]), (2_000, []), (4_000, [back]))

    assert [one.waiting for one in until(found, 5_000, 6)] == [2, 2, None, None, 2, 2]
    assert found.waiting(BEGIN, 1_000, 6) == [2, 2, None, None, 2, None]


def test_a_second_without_news_goes_on_as_it_was() -> None:
    """Waiting clients still wait, but there are no acquisitions."""
    found = pulse((0, QUEUED), (1_000, RELEASED))

    late = until(found, 3_000, 3)

    assert [one.waiting for one in late] == [1, 1, 1]
    assert [one.acquired for one in late] == [1, 0, 0]


def test_before_the_first_report_nothing_is_known() -> None:
    """A gap, and not a zero."""
    found = pulse((0, QUEUED))

    assert [one.waiting for one in until(found, 0, 3)] == [None, None, 2]


def test_acquisitions_of_one_second_are_added_up() -> None:
    """Two reports within one second are one column."""
    found = pulse((0, QUEUED), (1_100, RELEASED), (1_200, facts("X x: P3", zxid=300)))

    assert until(found, 1_200, 1)[0].acquired == 2


def test_a_moment_in_the_past_shows_the_seconds_before_it() -> None:
    """Later seconds are not included."""
    found = pulse((0, QUEUED), (1_000, RELEASED))

    assert [one.waiting for one in until(found, 0, 1)] == [2]


def test_the_percentile_is_that_of_the_waits_that_ended() -> None:
    """The longest of a hundred waits is left out."""
    found = Pulse()
    first, later = frames((BEGIN, QUEUED), (BEGIN + 1_000, RELEASED))
    waits = tuple(
        Event(at=BEGIN, event="acquired", lock=Text("/x"), waited=Elapsed(ms, "exact"))
        for ms in range(1, 101)
    )
    found.add(replace(first, events=waits))
    found.add(later)

    assert [one.wait_p99_ms for one in until(found, 1_000, 2)] == [99, 99]


def test_of_very_many_waits_in_one_look_only_the_last_are_sorted() -> None:
    """Sorting all of them would stop the UI for seconds."""
    wait = Event(at=BEGIN, event="acquired", lock=Text("/x"), waited=Elapsed(1, "exact"))
    found = Pulse()
    acquired = found._note_waits((wait,) * 2 * MAX_WAITS)

    assert acquired == 2 * MAX_WAITS
    assert len(found._lengths) == MAX_WAITS


def test_it_forgets_after_some_hours() -> None:
    """A run of days needs no more memory than one of hours."""
    (frame,) = frames((BEGIN, QUEUED))
    found = Pulse()
    for second in range(KEPT_S + 100):
        found.add(replace(frame, report=replace(frame.report, now=BEGIN + 1_000 * second)))

    assert len(found._seconds) <= KEPT_S
    assert until(found, 1_000 * KEPT_S, 1)[0].waiting == 2


def test_a_percentile_is_forgotten_with_its_waits() -> None:
    """A recording has no report in a quiet minute."""
    found = Pulse()
    (first,) = frames((BEGIN, QUEUED))
    wait = Event(at=BEGIN, event="acquired", lock=Text("/x"), waited=Elapsed(70, "exact"))
    found.add(replace(first, events=(wait,)))

    assert [one.wait_p99_ms for one in until(found, 61_000, 62)] == [70] * 60 + [None] * 2


def test_waiters_are_known_to_the_millisecond() -> None:
    """The most in each step; unknown before the first report and after the newest one."""
    found = pulse((0, QUEUED), (1_250, RELEASED), (1_300, facts("X x: P3", zxid=300)), (2_000, []))

    assert found.waiting(BEGIN - 500, 500, 7) == [None, 2, 2, 2, 0, 0, None]
    assert found.waiting(BEGIN + 1_200, 50, 3) == [2, 1, 0]
    assert found.waiting(BEGIN + 5_000, 500, 2) == [None, None]
