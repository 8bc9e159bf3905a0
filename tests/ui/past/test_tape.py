"""The tape: which frames it stores, how it thins them out, and how it finds moments."""

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
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import (
    FINDING_BYTES,
    FRAME_BYTES,
    LOCK_BYTES,
    MEMBER_BYTES,
    QUIET_MS,
    REPLAY,
    ROW_BYTES,
    StoredFrame,
    Tape,
    TapeLimits,
    weight,
)

CHANGE_BYTES = FRAME_BYTES + LOCK_BYTES + 1_000  # a frame in which one small lock changed


def busy(count: int, begin: int = BEGIN, every_ms: int = 1_000) -> list[Frame]:
    """Frames in each of which another client holds the lock."""
    story = [facts(f"X x: P{n}", zxid=100 + 50 * n) for n in range(count)]
    return frames(*((begin + every_ms * n, some) for n, some in enumerate(story)))


def taped(those: list[Frame], *, room: int = 10_000, is_even: bool = False) -> Tape:
    """The tape of these frames, with memory for so many changes."""
    known = Tape(TapeLimits(memory_bytes=room * CHANGE_BYTES, is_even=is_even))
    for frame in those:
        known.add(frame)
    return known


def ages(known: Tape) -> list[int]:
    """How many seconds after the beginning each stored frame is."""
    return [(one.at - BEGIN) // 1_000 for one in known.stored()]


def test_a_frame_without_changes_is_not_stored() -> None:
    """A quiet hour is a few frames long; the newest frame is known all the same."""
    known = tape()

    assert len(known) == 3
    assert known.last is not None
    assert known.last.at == BEGIN + 21_000


def test_between_two_frames_the_earlier_one_is_shown() -> None:
    """Before the first frame it is the first."""
    known = tape()

    found = [known.frame_at(BEGIN + after) for after in (-5, 0, 1_999, 2_000, 30_000)]

    assert [one.at - BEGIN for one in found if one] == [0, 0, 0, 2_000, 21_000]


def test_an_alarm_is_where_a_deadlock_began() -> None:
    """Not while it lasts, nor at its end."""
    known = tape()

    assert known.alarm_after(0) == BEGIN + 2_000
    assert known.alarm_after(BEGIN + 6_000) is None


def test_a_critical_finding_is_an_alarm_without_any_other_change() -> None:
    """All locks are as they were a second ago."""
    (quiet,) = frames((BEGIN, facts("X x: P1")))
    red = next(one for frame in past() for one in frame.report.findings)
    wrong = replace(quiet.report, now=BEGIN + 1_000, findings=(replace(red, severity="critical"),))

    known = taped([quiet, Frame(wrong, ())])
    assert [one.alarms for one in known.stored()] == [(), (red.id,)]
    assert known.alarm_after(BEGIN) == BEGIN + 1_000


def test_steps_go_from_change_to_change() -> None:
    """Forwards and backwards over the same moments."""
    known = tape()

    assert known.change_after(BEGIN) == BEGIN + 2_000
    assert known.change_before(BEGIN + 2_000) == BEGIN
    assert known.change_before(BEGIN) is None


def test_gaps_of_a_live_tape_grow_with_age() -> None:
    """The newest seconds are complete, and the oldest frames are far apart."""
    known = taped(busy(600), room=120)

    steps = [later - earlier for earlier, later in pairwise(ages(known))]
    assert ages(known)[0] == 0
    assert ages(known)[-10:] == list(range(590, 600))
    assert steps[0] > 3 * steps[-1]


def widest(gone: list[int], youngest: int) -> float:
    """The largest gap as a share of its age, among frames at least this many seconds old."""
    pairs = ((older, newer) for older, newer in pairwise(gone) if newer >= youngest)
    return max((older - newer) / older for older, newer in pairs)


@pytest.mark.parametrize(("count", "room"), [(200, 90), (600, 120), (900, 100)])
def test_no_part_of_the_past_is_missing(count: int, room: int) -> None:
    """The last minute is complete; before it, gaps are a small share of their age."""
    known = taped(busy(count), room=room)
    gone = [count - 1 - at for at in ages(known)]

    assert known.times_thinned
    assert gone[0] == count - 1
    assert gone[-61:] == list(range(60, -1, -1))
    assert widest(gone, 60) <= 0.4


def test_a_full_memory_thins_the_last_minute_too() -> None:
    """The alternative would be to drop everything older."""
    gone = [599 - at for at in ages(taped(busy(600), room=40))]

    assert gone[0] == 599
    assert gone[-5:] == [4, 3, 2, 1, 0]
    assert widest(gone, 10) <= 0.75


@pytest.mark.parametrize("room", [3, 30])
@pytest.mark.parametrize("is_even", [True, False])
def test_a_tape_stays_within_its_memory(room: int, is_even: bool) -> None:  # noqa: FBT001  a parameter of pytest
    """Even if every frame of it is an alarm."""
    alarms = [frame for _ in range(30) for frame in past()]

    assert weight(taped(alarms, room=room, is_even=is_even).stored()) <= room * CHANGE_BYTES


def test_the_newest_frame_is_stored_however_large_it_is() -> None:
    """A tape is never empty."""
    assert len(taped(past(), room=0)) == 1


@pytest.mark.parametrize("room", [60, 200])
def test_a_live_tape_uses_most_of_its_memory(room: int) -> None:
    """It is thinned in small steps."""
    known, used = Tape(TapeLimits(memory_bytes=room * CHANGE_BYTES)), list[int]()
    for frame in busy(1_000):
        known.add(frame)
        used.append(weight(known.stored()))

    assert min(used[300:]) > 0.5 * room * CHANGE_BYTES


def last_of(known: Tape) -> StoredFrame:
    """The newest stored frame."""
    return list(known.stored())[-1]


def test_a_large_lock_weighs_more_than_a_small_one() -> None:
    """A change in it makes new lists of all its members."""
    sizes = (2, 2_000)
    stories = (facts(f"X x: {' '.join(f'P{n}' for n in range(size))}") for size in sizes)
    small, large = (
        last_of(taped(frames((BEGIN, []), (BEGIN + 1, one)))).weight_bytes for one in stories
    )

    assert large - small >= 1_998 * MEMBER_BYTES


def test_a_finding_weighs_only_where_it_is_new() -> None:
    """Each is a few sentences; those of a hundred locks outweigh the rest of the frame."""
    crowd = [told for n in range(100) for told in facts(f"X{n} x: A{n} B{n}", zxid=100 + 9 * n)]
    looks = [BEGIN + after for after in (0, 30 * 60_000, 30 * 60_000 + QUIET_MS)]
    known = taped(frames((looks[0], crowd), *((at, []) for at in looks[1:])))
    _, late, later = known.stored()

    assert len(late.frame.report.findings) >= 100
    assert late.weight_bytes >= 100 * FINDING_BYTES
    assert later.weight_bytes == FRAME_BYTES


def test_tables_of_the_servers_weigh_by_their_rows() -> None:
    """Each look has new ones: many sessions in a quiet ensemble must not fill the memory."""
    tables = (
        (at, [expiry(ZK1, {f"s{n}": 9_000 + at for n in range(1_000)}, at=at)])
        for at in range(BEGIN, BEGIN + 40 * QUIET_MS, QUIET_MS)
    )
    heavy = FRAME_BYTES + 1_000 * ROW_BYTES
    known = taped(frames(*tables), room=20 * heavy // CHANGE_BYTES)

    assert 5 <= len(known) <= 20


def test_a_recording_keeps_its_whole_length() -> None:
    """With less detail everywhere; beginning and end stay."""
    known = taped(busy(80), room=40, is_even=True)

    assert 10 <= len(known) <= 40
    assert (known.begin, known[len(known) - 1].at) == (BEGIN, BEGIN + 79_000)
    assert known.times_thinned
    steps = [later.at - earlier.at for earlier, later in pairwise(known.stored())]
    assert max(steps) <= 4 * min(steps)


@pytest.mark.parametrize("is_even", [True, False])
def test_an_alarm_outlives_other_frames(is_even: bool) -> None:  # noqa: FBT001  a parameter of pytest
    """Users go back to the moments at which something went wrong."""
    known = taped([*past(), *busy(300, BEGIN + 60_000)], room=60, is_even=is_even)

    assert known.times_thinned
    assert known.alarm_after(0) == BEGIN + 2_000


def test_a_merged_frame_passes_on_what_changed_in_it() -> None:
    """So the strips miss no change."""
    known = taped(busy(200), room=50)

    assert known.times_thinned
    assert all(one.changed for one in known.stored(1))


def happened(*moments: int) -> list[Frame]:
    """Frames of one quiet lock in each of which something had happened."""
    (quiet,) = frames((BEGIN, facts("X x: P1")))
    event = Event(event="queued", lock=Text("/x"), at=BEGIN)
    return [Frame(replace(quiet.report, now=at), (replace(event, at=at),) * 3) for at in moments]


def test_events_of_an_early_moment_are_found_behind_thousands() -> None:
    """Those read up to ten seconds later belong to them."""
    known = Tape(REPLAY)
    for frame in happened(BEGIN, *range(BEGIN + 100_000, BEGIN + 103_000)):
        known.add(frame)

    assert [one.at for one in known.events_until(BEGIN + 1)] == [BEGIN] * 3


def test_the_number_of_events_is_bounded() -> None:
    """The oldest go first; the rest come newest first."""
    known = Tape(TapeLimits(events=4))
    for frame in happened(BEGIN, BEGIN + 1, BEGIN + 2):
        known.add(frame)

    assert [one.at - BEGIN for one in known.events_until(BEGIN + 2)] == [2, 2, 2, 1]
