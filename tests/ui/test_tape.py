"""The tape: what is kept, and what is found on it."""

from headless.stories import facts
from model.builders import ZK1, expiry
from ui.feeds import frames
from ui.past import BEGIN, past
from ui.test_travel import tape

from zktop.ui.ports import Frame
from zktop.ui.tape import QUIET_MS, ROWS, Limits, Tape


def busy(count: int) -> list[Frame]:
    """Give frames in each of which another contender has joined."""
    names = [f"P{number}" for number in range(count)]
    story = [facts(f"X x: {' '.join(names[: n + 1])}", zxid=100 + 50 * n) for n in range(count)]
    return frames(*((BEGIN + 1_000 * n, told) for n, told in enumerate(story)))


def test_what_changes_nothing_is_not_kept() -> None:
    """A quiet hour is a few frames long; the newest is known all the same."""
    known = tape()

    assert len(known) == 3
    assert known.last is not None
    assert known.last.at == BEGIN + 21_000


def test_the_frame_of_a_moment_is_the_one_that_was_on_then() -> None:
    """Between two frames, the earlier one."""
    known = tape()

    found = [known.frame_at(BEGIN + after) for after in (-5, 0, 1_999, 2_000, 30_000)]

    assert [one.at - BEGIN for one in found if one] == [0, 0, 0, 2_000, 21_000]


def test_alarms_are_where_something_began_to_be_wrong() -> None:
    """Not where it went on, and not where it was over."""
    known = tape()

    assert known.alarm_after(0) == BEGIN + 2_000
    assert known.alarm_after(BEGIN + 6_000) is None


def test_steps_go_from_change_to_change() -> None:
    """Forth and back by the same moments."""
    known = tape()

    assert known.change_after(BEGIN) == BEGIN + 2_000
    assert known.change_before(BEGIN + 2_000) == BEGIN
    assert known.change_before(BEGIN) is None


def test_a_live_tape_forgets_its_beginning() -> None:
    """Memory is bounded, and the newest frames are the ones worth having."""
    known = Tape(Limits(frames=5))
    for frame in busy(20):
        known.add(frame)

    assert [frame.at for frame in known.frames()] == [BEGIN + 1_000 * n for n in range(15, 20)]
    assert known.dropped == 15


def test_large_tables_of_the_servers_take_their_room() -> None:
    """Each look has new ones: a quiet ensemble of many sessions must not fill the memory."""
    tables = (
        (at, [expiry(ZK1, {f"s{n}": 9_000 + at for n in range(1_000)}, at=at)])
        for at in range(BEGIN, BEGIN + 20 * QUIET_MS, QUIET_MS)
    )
    known = Tape(Limits(changes=400))
    for frame in frames(*tables):
        known.add(frame)

    assert len(known) == 400 // (1_000 // ROWS)


def test_a_recordings_tape_keeps_its_whole_length() -> None:
    """With less detail: no event is lost, and beginning and end are still there."""
    known, told = Tape(Limits(frames=8, thins=True)), busy(20)
    for frame in told:
        known.add(frame)

    assert len(known) <= 8
    assert (known.begin, known[len(known) - 1].at) == (BEGIN, BEGIN + 19_000)
    assert sum(len(one.events) for one in known.frames()) == sum(len(one.events) for one in told)
    assert known.is_thinned


def test_thinning_keeps_every_alarm() -> None:
    """The moments at which something went wrong are what a recording is made for."""
    known = Tape(Limits(frames=2, thins=True))
    for frame in past():
        known.add(frame)

    assert known.alarm_after(0) == BEGIN + 2_000
