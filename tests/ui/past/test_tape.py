"""The tape: which frames it stores, how it thins them out, and how it finds moments."""

from model.make_facts import ZK1, expiry, lock, own, watches
from msgspec.structs import replace
from output.stories import facts
from ui.example_past import BEGIN, past
from ui.fake_feed import frames
from ui.past.churn import make_room
from ui.past.test_playback import tape

from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Children, Denied, Node, Stat, join
from zktop.model.history.events import Event
from zktop.model.text import Text
from zktop.ui.interfaces import Frame
from zktop.ui.past.memory_limits import (
    ALIKE_BYTES,
    FINDING_BYTES,
    FRAME_BYTES,
    LOCK_BYTES,
    MEMBER_BYTES,
    REPLAY,
    ROW_BYTES,
    TapeLimits,
    new_bytes,
)
from zktop.ui.past.tape import ENDED_DEADLOCKS, MAX_LAST_REPORTS, QUIET_MS, StoredFrame, Tape

CHANGE_BYTES = FRAME_BYTES + LOCK_BYTES + 1_000  # a frame in which one small lock changed


def busy(count: int, begin: int = BEGIN, every_ms: int = 1_000) -> list[Frame]:
    """Frames in each of which another client holds the lock."""
    story = [facts(f"X x: P{n}", zxid=100 + 50 * n) for n in range(count)]
    return frames(*((begin + every_ms * n, some) for n, some in enumerate(story)))


def taped(those: list[Frame], *, room: int = 10_000) -> Tape:
    """The tape of these frames, with memory for so many changes."""
    known = Tape(TapeLimits(frames_bytes=room * CHANGE_BYTES))
    for frame in those:
        known.add(frame)
        make_room(known)
    return known


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


def test_only_the_newest_ended_deadlocks_keep_a_report() -> None:
    """Each of these may take megabytes; how the others were judged is still known."""
    known = Tape()
    report = next(one.report for one in past() if one.report.deadlocks)
    dead = report.deadlocks[0]
    for number in range(ENDED_DEADLOCKS + 1):
        known.add(Frame(replace(report, deadlocks=(replace(dead, id=f"d{number}"),)), ()))

    records = list(known.deadlocks.values())
    assert len(records) == ENDED_DEADLOCKS + 1
    assert sum(one.last is not None for one in records) == MAX_LAST_REPORTS + 1
    assert {one.verdict.sentence for one in records} == {dead.sentence}


def with_deadlocks(known: Tape, *moments: str) -> None:
    """Add a report for each moment, with these deadlocks: each letter is one."""
    report = next(one.report for one in past() if one.report.deadlocks)
    dead = report.deadlocks[0]
    for number, names in enumerate(moments):
        cases = tuple(replace(dead, id=name) for name in names)
        known.add(Frame(replace(report, now=report.now + number, deadlocks=cases), ()))


def test_the_oldest_endings_lose_their_reports() -> None:
    """That is not so for a long deadlock that ends after short ones that began later."""
    known = Tape()
    short = "abcdefghij"
    assert len(short) == MAX_LAST_REPORTS
    with_deadlocks(known, "L", *(f"L{name}" for name in short), "L", "")

    assert [name for name, one in known.deadlocks.items() if one.last is None] == ["a"]


def test_a_deadlock_that_came_back_is_the_newest() -> None:
    """Its record is a new one."""
    known = Tape()
    with_deadlocks(known, "a", "", "b", "ab")

    assert [*known.deadlocks] == ["b", "a"]


def test_an_earlier_ending_is_not_that_of_a_deadlock_that_came_back() -> None:
    """It has the same id, and the report still lists how it ended the first time."""
    known = Tape()
    with_deadlocks(known, "a", "", "a", "")
    record = known.deadlocks["a"]
    ends = (record.recorded_at - 1, record.recorded_at + 1)
    over = tuple(EndedDeadlock(record.deadlock, at, f"at {at}") for at in ends)
    report = next(one.report for one in past() if one.report.deadlocks)
    for shown in (over[:1], over):
        known.add(Frame(replace(report, deadlocks=(), over=shown), ()))
        assert known.deadlocks["a"].ending == (over[1] if over[1] in shown else None)


def test_a_deadlock_keeps_its_last_verdict() -> None:
    """More clients waited behind it later."""
    report = next(one.report for one in past() if one.report.deadlocks)
    dead = report.deadlocks[0]
    known = Tape()
    for number, behind in enumerate((0, 7)):
        worse = replace(report, now=report.now + number, deadlocks=(replace(dead, behind=behind),))
        known.add(Frame(worse, ()))

    assert known.deadlocks[dead.id].verdict.behind == 7


def test_a_critical_finding_is_an_alarm_without_any_other_change() -> None:
    """All locks are as they were a second ago."""
    (quiet,) = frames((BEGIN, facts("X x: P1")))
    red = next(finding for frame in past() for finding in frame.report.findings)
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


def test_a_lock_that_cannot_be_read_any_more_is_a_step() -> None:
    """It has no event, but screens 1 and 2 change."""
    path = Text("/locks/a")
    known = taped(
        frames(
            (BEGIN, (own(at=BEGIN), *lock(path, "ann", at=BEGIN))),
            (BEGIN + 3_000, [Denied(path=path, what="list", zxid=900, at=BEGIN + 3_000)]),
            (BEGIN + 6_000, []),
        )
    )

    assert known.change_after(BEGIN) == BEGIN + 3_000
    assert known.change_before(BEGIN + 6_000) == BEGIN + 3_000


def test_a_lock_that_is_only_read_again_is_no_step() -> None:
    """Next to a foreign child, every new watch table can change the queue."""
    children, *nodes = lock("/locks/a", "ann", "bob")
    assert isinstance(children, Children)
    name = Text("000-foreign")
    stat = Stat(103, 103, BEGIN)
    foreign = Node(path=join(Text("/locks/a"), name), stat=stat, data=b"", zxid=103, at=BEGIN)
    listed = replace(children, names=(*children.names, name))
    held = {"bob": (f"/locks/a/{children.names[0]}",)}
    tables = [watches(ZK1, held, at=BEGIN + at, zxid=200 + at) for at in range(0, 9_000, 3_000)]
    known = taped(
        frames(
            (BEGIN, [listed, *nodes, foreign, own(at=BEGIN), tables[0]]),
            (BEGIN + 3_000, [tables[1]]),
            (BEGIN + 6_000, [tables[2]]),
        )
    )

    assert len(known) == 3
    assert known.change_after(BEGIN) is None
    assert known.change_before(BEGIN + 6_000) == BEGIN


def test_a_full_tape_packs_its_oldest_seconds() -> None:
    """Nothing of the past is missing: each moment is a frame or a step of the archive."""
    known = taped(busy(200), room=50)
    steps = [one.at for one in known.archive.after(0)]

    assert known.begin == BEGIN
    assert 30 <= len(known) <= 50
    assert [*steps, *(one.at for one in known.stored())] == [one.at for one in busy(200)]


def test_frames_of_one_second_are_packed_together() -> None:
    """So no step has a part of a second."""
    known = taped(busy(200, every_ms=300), room=50)
    first = known.in_memory_from

    assert first is not None
    assert [one.at // 1_000 for one in known.archive.after(0)] == list(
        range(BEGIN // 1_000, first // 1_000)
    )


def test_a_packed_moment_has_no_report_until_it_is_made_again() -> None:
    """Then all moments up to the next step have it."""
    known = taped(busy(200), room=50)
    settings = busy(1)[0].report.settings
    at = BEGIN + 20_500

    assert known.is_packed(at)
    assert known.frame_at(at) is None
    known.put_unpacked(known.archive.unpacked(at, settings), known.in_memory_from)
    shown = known.frame_at(at)
    assert shown is not None
    assert shown.at == BEGIN + 20_000
    assert known.frame_at(BEGIN + 20_000) is shown
    assert known.frame_at(BEGIN + 21_000) is None
    before = known.frame_before(shown)
    assert before is not None
    assert before.at == BEGIN + 19_000


def test_the_last_step_is_shown_up_to_the_first_frame() -> None:
    """There is no gap between packed and other frames."""
    known = taped(busy(200), room=50)
    first, settings = known.in_memory_from, busy(1)[0].report.settings

    assert first is not None
    known.put_unpacked(known.archive.unpacked(first - 1, settings), first)
    assert not known.is_packed(first - 1)
    known.add(busy(202)[-1])
    make_room(known)
    assert not known.is_packed(first - 1)


def test_a_tape_stays_within_its_memory() -> None:
    """Even if every frame of it is an alarm."""
    known = taped([frame for _ in range(30) for frame in past()], room=30)

    assert sum(one.weight_bytes for one in known.stored()) <= 30 * CHANGE_BYTES


def test_the_newest_frame_is_stored_however_large_it_is() -> None:
    """A tape is never empty."""
    assert len(taped(past(), room=0)) == 1


def last_of(known: Tape) -> StoredFrame:
    """The newest stored frame."""
    return list(known.stored())[-1]


def test_a_large_lock_weighs_more_than_a_small_one() -> None:
    """A change in it makes new lists of all its members."""
    queues = ("X x: " + " ".join(f"P{n}" for n in range(size)) for size in (2, 2_000))
    small, large = (
        last_of(
            taped(frames((BEGIN, facts(one)), (BEGIN + 1, facts(f"{one} Q", zxid=90_000))))
        ).weight_bytes
        for one in queues
    )

    assert large - small >= 1_998 * MEMBER_BYTES


def test_locks_that_are_read_for_the_first_time_weigh_nothing() -> None:
    """The newest frame has them too: only what is replaced is kept for the past alone."""
    known = taped(frames((BEGIN, facts("X x: P")), (BEGIN + 1, facts("Y x: P", zxid=900))))

    assert last_of(known).weight_bytes < FRAME_BYTES + LOCK_BYTES


def test_a_finding_weighs_only_where_it_is_new() -> None:
    """Each is a few sentences; those of a hundred locks outweigh the rest of the frame."""
    crowd = [found for n in range(100) for found in facts(f"X{n} x: A{n} B{n}", zxid=100 + 9 * n)]
    looks = [BEGIN + after for after in (0, 30 * 60_000, 30 * 60_000 + QUIET_MS)]
    known = taped(frames((looks[0], crowd), *((at, []) for at in looks[1:])))
    _, late, later = known.stored()

    assert len(late.frame.report.findings) >= 100
    assert late.weight_bytes >= 100 * FINDING_BYTES
    assert later.weight_bytes == FRAME_BYTES


def test_many_findings_shown_as_one_weigh_by_their_number() -> None:
    """The one names all their locks and sessions."""
    looks = ((BEGIN, facts("X x: A B")), (BEGIN + 30 * 60_000, []))
    before, after = frames(*looks)
    one = after.report.findings[0]
    weights = [
        new_bytes(
            replace(after, report=replace(after.report, findings=(shown,))), (), before.report
        )
        for shown in (replace(one), replace(one, alike=(one,) * 1000))
    ]

    assert weights[1] - weights[0] == 1000 * ALIKE_BYTES


def test_tables_of_the_servers_weigh_by_their_rows() -> None:
    """Each look has new ones: many sessions in a quiet ensemble must not fill the memory."""
    tables = (
        (at, [expiry(ZK1, {f"s{n}": 9_000 + at for n in range(1_000)}, at=at)])
        for at in range(BEGIN, BEGIN + 40 * QUIET_MS, QUIET_MS)
    )
    heavy = FRAME_BYTES + 1_000 * ROW_BYTES
    known = taped(frames(*tables), room=20 * heavy // CHANGE_BYTES)

    assert 5 <= len(known) <= 20


def test_steps_and_alarms_are_found_among_packed_moments() -> None:
    """The user goes on from moment to moment, wherever they are stored."""
    known = taped([*past(), *busy(300, BEGIN + 60_000)], room=60)
    first = known.in_memory_from

    assert first is not None
    assert known.alarm_after(0) == BEGIN + 2_000
    assert known.first_alarm == BEGIN + 2_000
    assert known.change_after(BEGIN + 70_000) == BEGIN + 71_000
    assert known.change_before(BEGIN + 70_000) == BEGIN + 69_000
    assert known.change_before(first) == first - 1_000
    assert known.change_after(first - 1_000) == first


def test_the_whole_past_can_be_written() -> None:
    """Packed moments first, then the others."""
    known = taped(busy(200), room=50)
    begin, end = BEGIN, BEGIN + 199_000

    assert [at for _, at in known.worlds(begin, end)] == [one.at for one in busy(200)]
    assert [at for _, at in known.worlds(end - 2_000, end - 1_000)] == [end - 2_000, end - 1_000]
    assert [one.now for one in known.reports(BEGIN + 30_000, end)][:2] == [
        BEGIN + 30_000,
        BEGIN + 31_000,
    ]


def test_moments_packed_while_the_past_is_written_are_not_written_twice() -> None:
    """It is unpacked on another thread, a moment later."""
    known = taped(busy(100), room=50)
    worlds = known.worlds(BEGIN, BEGIN + 99_000)
    reports = known.reports(BEGIN, BEGIN + 99_000)
    for frame in busy(140)[100:]:
        known.add(frame)
        make_room(known)

    assert [at for _, at in worlds] == [one.at for one in busy(100)]
    assert [report.now for report in reports] == [one.at for one in busy(100)]


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


def test_no_event_of_the_future_is_found() -> None:
    """Those that were read a little later may have happened later, too."""
    known = Tape(REPLAY)
    for frame in happened(*range(BEGIN, BEGIN + 20_000, 1_000)):
        known.add(frame)

    found = [one.at for one in known.events_until(BEGIN + 1_500)]
    assert found == [BEGIN + 1_000] * 3 + [BEGIN] * 3


def test_events_of_packed_moments_come_after_the_others() -> None:
    """Newest first."""
    known = taped(happened(*range(BEGIN, BEGIN + 100_000, 1_000)), room=20)

    assert known.archive.begin == BEGIN
    found = [one.at for one in known.events_until(BEGIN + 99_000)]
    assert found == sorted(found, reverse=True)
    assert len(found) == 300
