"""The tape: what is kept, and what is found on it."""

from itertools import pairwise

import pytest
from model.builders import ZK1, expiry
from msgspec.structs import replace
from output.stories import facts
from ui.example_past import BEGIN, past
from ui.fake_feed import frames
from ui.past.test_playback import tape

from zktop.model.history.events import Event
from zktop.model.text import Text
from zktop.ui.past.tape import FINDINGS, MEMBERS, QUIET_MS, REPLAY, ROWS, Limits, Tape
from zktop.ui.ports import Frame


def busy(count: int, begin: int = BEGIN) -> list[Frame]:
    """Give frames, a second apart, in each of which the lock is held by somebody else."""
    story = [facts(f"X x: P{n}", zxid=100 + 50 * n) for n in range(count)]
    return frames(*((begin + 1_000 * n, told) for n, told in enumerate(story)))


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


def told(limits: Limits, those: list[Frame]) -> Tape:
    """Give the tape of these frames."""
    known = Tape(limits)
    for frame in those:
        known.add(frame)
    return known


def test_what_is_newly_wrong_is_an_alarm_where_there_is_no_deadlock() -> None:
    """Nor anything else that is new: all locks are as they were a second ago."""
    (quiet,) = frames((BEGIN, facts("X x: P1")))
    red = next(one for frame in past() for one in frame.report.findings)
    wrong = replace(quiet.report, now=BEGIN + 1_000, findings=(replace(red, severity="critical"),))

    known = told(Limits(), [quiet, Frame(wrong, ())])
    assert [one.alarms for one in known.kept()] == [(), (red.id,)]
    assert known.alarm_after(BEGIN) == BEGIN + 1_000


def test_a_live_tape_knows_less_of_what_is_long_ago() -> None:
    """Memory is bounded; the newest frames are all there, and the oldest are far apart."""
    known = told(Limits(room=200), busy(300))

    times = [(frame.at - BEGIN) // 1_000 for frame in known.frames()]
    assert 30 < len(times) <= 100
    assert times[0] == 0
    assert times[-10:] == list(range(290, 300))
    steps = [later - earlier for earlier, later in pairwise(times)]
    assert steps[0] > 3 * steps[-1]


def test_a_tape_never_takes_more_room_than_it_has() -> None:
    """Even if every frame of it is an alarm, or a single one is too large."""
    alarms = [frame for _ in range(30) for frame in past()]

    assert sum(one.room for one in told(Limits(room=40), alarms).kept()) <= 40
    assert len(told(Limits(room=1), past())) == 1


@pytest.mark.parametrize("room", [60, 200])
def test_a_live_tape_forgets_no_more_than_it_must(room: int) -> None:
    """It is thinned in small steps: most of its room is in use at any time."""
    known, used = Tape(Limits(room=room)), list[int]()
    for frame in busy(1_000):
        known.add(frame)
        used.append(sum(one.room for one in known.kept()))

    assert min(used[300:]) > 0.6 * room


def test_a_large_lock_takes_more_room_than_a_small_one() -> None:
    """A change in it makes new lists of all its members."""
    sizes = (2, 10 * MEMBERS)
    stories = (facts(f"X x: {' '.join(f'P{n}' for n in range(size))}") for size in sizes)
    tapes = [told(Limits(), frames((BEGIN, []), (BEGIN + 1, one))) for one in stories]

    small, large = ([one.room for one in known.kept()][-1] for known in tapes)
    assert large - small == 10


def test_findings_that_are_told_anew_take_their_room() -> None:
    """Each is a few sentences: those of a hundred locks are more than the rest of the frame."""
    crowd = [told for n in range(100) for told in facts(f"X{n} x: A{n} B{n}", zxid=100 + 9 * n)]
    looks = [BEGIN + after for after in (0, 30 * 60_000, 30 * 60_000 + QUIET_MS)]
    known = told(Limits(), frames((looks[0], crowd), *((at, []) for at in looks[1:])))
    _, late, later = known.kept()

    assert len(late.frame.report.findings) >= 100
    assert late.room >= 100 // FINDINGS
    assert later.room == 1, later.room


def test_large_tables_of_the_servers_take_their_room() -> None:
    """Each look has new ones: a quiet ensemble of many sessions must not fill the memory."""
    tables = (
        (at, [expiry(ZK1, {f"s{n}": 9_000 + at for n in range(1_000)}, at=at)])
        for at in range(BEGIN, BEGIN + 20 * QUIET_MS, QUIET_MS)
    )
    known = told(Limits(room=400), frames(*tables))

    assert 400 // 2 // (1_000 // ROWS) <= len(known) <= 400 // (1_000 // ROWS)


def test_a_recordings_tape_keeps_its_whole_length() -> None:
    """With less detail everywhere alike: beginning and end are still there."""
    known = told(Limits(room=20, is_even=True), busy(20))

    assert len(known) <= 10
    assert (known.begin, known[len(known) - 1].at) == (BEGIN, BEGIN + 19_000)
    assert known.is_thinned
    steps = [later.at - earlier.at for earlier, later in pairwise(known.frames())]
    assert max(steps) <= 4 * min(steps)


@pytest.mark.parametrize("is_even", [True, False])
def test_thinning_keeps_every_alarm(is_even: bool) -> None:  # noqa: FBT001  a parameter of pytest
    """The moments at which something went wrong are what one goes back for."""
    known = told(Limits(room=40, is_even=is_even), [*past(), *busy(300, BEGIN + 60_000)])

    assert known.is_thinned
    assert known.alarm_after(0) == BEGIN + 2_000


def test_what_changed_between_is_told_by_the_next_one_that_is_left() -> None:
    """So that the strips of locks and actors miss no lock."""
    known = told(Limits(room=100), busy(200))

    assert all(one.changed for one in known.kept(1))


def test_whoever_reads_on_gets_each_newer_frame_once() -> None:
    """Also when there are fewer frames than were read already."""
    known, story = Tape(Limits(room=100)), busy(200)
    read, at = 0, []
    for frame in story:
        known.add(frame)
        for one in known.since(read):
            read = one.number
            at.append(one.frame.at)

    assert at == [frame.at for frame in story]


def test_events_are_found_far_back_in_a_long_recording() -> None:
    """The newest thousands must not hide what was on at an early moment."""
    known = Tape(REPLAY)
    event = Event(event="queued", lock=Text("/x"), at=BEGIN)
    known.events.extend([event] * 3)
    known.events.extend(replace(event, at=BEGIN + 100_000 + n) for n in range(9_000))

    assert [one.at for one in known.events_until(BEGIN + 1)] == [BEGIN] * 3
