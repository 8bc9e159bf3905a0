"""The archive: facts of older moments, and reports made again from them."""

from collections.abc import Sequence

import msgspec
import pytest
from model.findings import cases
from model.findings.cases import At
from model.make_facts import connections, row, session
from output.stories import facts
from ui.example_past import past
from ui.fake_feed import frames
from ui.past.churn import BEGIN, churn

from zktop.model.examiner import Examiner
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.ui.interfaces import Frame
from zktop.ui.past.archive import (
    BLOCK_STEPS,
    CHILD_BYTES,
    FOLLOWED_STEPS,
    STEP_BYTES,
    STEP_MS,
    Archive,
    Packer,
    StoredFrame,
)

ROOMY = 10_000_000


def archived(those: list[Frame], room: int = ROOMY) -> Archive:
    """The archive of these frames."""
    made = Archive(room)
    made.add(
        Packer().packed(
            [StoredFrame(one, has_change=True, alarms=(), weight_bytes=1_000) for one in those]
        )
    )
    return made


def content(report: Report) -> object:
    """What a report says of its locks and problems, and since when."""
    locks = [(view.lock.path, *view.holders, *view.waiters) for view in report.views]
    findings = [(finding.id, finding.sentence, finding.confidence) for finding in report.findings]
    deadlocks = [
        (deadlock.id, deadlock.sentence, deadlock.confidence) for deadlock in report.deadlocks
    ]
    return report.now, locks, findings, deadlocks


def nodes(report: Report) -> list[list[Text]]:
    """The nodes of each lock, in queue order."""
    return [[member.node for member in view.lock.members] for view in report.views]


def test_reports_are_made_again_as_they_were() -> None:
    """Holders, waiters, since when, findings, deadlocks."""
    for those in (past(), churn(40)):
        known = archived(those)

        for frame in those:
            again = known.unpacked(frame.at, frame.report.settings).frame.report
            assert content(again) == content(frame.report)


def test_they_are_made_in_any_order() -> None:
    """Users jump back and forth; what is known for long is known at least since a state."""
    those = churn(4 * BLOCK_STEPS)
    known = archived(those)

    for number in (230, 3, 229, 100, 0, 101, 180, 179):
        frame = those[number]
        picture = known.unpacked(frame.at + 10, frame.report.settings)
        again = picture.frame.report
        assert picture.shows(frame.at + 10)
        assert picture.before is None or picture.before.at == those[number - 1].at
        assert nodes(again) == nodes(frame.report)


def test_a_second_is_one_step_with_all_its_events() -> None:
    """Its report is that of its last frame."""
    those = churn(40, every_ms=STEP_MS // 4)
    known = archived(those)

    assert [one.at - BEGIN for one in known.after(0)][:3] == [750, 1_750, 2_750]
    happened = [event for frame in reversed(those) for event in reversed(frame.events)]
    assert list(known.events_until(those[-1].at)) == happened
    assert [one.at for one in known.events_until(BEGIN + 1_000)][:1] == [BEGIN + 1_000]


def test_worlds_are_unpacked_from_a_moment_on() -> None:
    """For a recording that begins in the past."""
    those = churn(2 * BLOCK_STEPS)
    found = list(archived(those).worlds(those[70].at, those[90].at))

    assert [at for _, at in found] == [one.at for one in those[70:91]]
    nodes = [sorted(world.families) for world, _ in found]
    assert nodes == [sorted(one.report.world.families) for one in those[70:91]]


def test_nothing_from_before_a_gap_is_known_after_it() -> None:
    """A replay begins with an empty world after a gap, and so do the reports made again."""
    (before,) = frames((BEGIN, facts("X x: A", at=BEGIN, zxid=100)))
    later = BEGIN + 9_000_000
    world = World(gap_at=BEGIN).after(*facts("Y x: B", at=later, zxid=900))
    report = Examiner(before.report.settings).look(world, later)
    known = archived([before, Frame(report, report.events)])
    ((again, _),) = known.worlds(later, later)

    assert known.unpacked(later, report.settings).frame.report.paths == report.paths
    assert again.gap_at == BEGIN


def test_reports_of_a_span_are_made_one_after_the_other() -> None:
    """For sums over a period."""
    those = churn(2 * BLOCK_STEPS)
    settings = those[0].report.settings
    found = list(archived(those).reports(those[65].at, those[70].at, settings))

    assert [one.now for one in found] == [one.at for one in those[65:71]]


def test_the_oldest_steps_go_when_memory_is_full() -> None:
    """What is left begins with a state, so its reports can be made."""
    those = churn(12 * BLOCK_STEPS)
    whole = archived(those)
    known = archived(those, room=(room := whole.weight_bytes * 2 // 3))
    begin = known.begin

    assert begin is not None
    assert known.weight_bytes <= room
    assert BEGIN < begin < those[-100].at
    first = known.unpacked(begin, those[0].report.settings).frame.report
    assert first.now == begin
    assert len(first.paths) == 20


def test_facts_are_small() -> None:
    """A change of a lock takes a few hundred bytes with its events."""
    those = churn(10 * BLOCK_STEPS)

    assert archived(those).weight_bytes < 2_000 * len(those)


def test_after_older_data_reports_begin_anew() -> None:
    """An ensemble that was restored from a backup has fewer transactions."""
    late = frames(*((BEGIN + 1_000 * n, facts(f"X x: A{n} B", zxid=9_000 + n)) for n in range(3)))
    early = frames(*((BEGIN + 1_000 * n, facts(f"Y x: C{n} D", zxid=n)) for n in range(5, 9)))
    known = archived([*late, *early])

    for frame in (*late, *early):
        again = known.unpacked(frame.at, frame.report.settings).frame.report
        assert again.paths == frame.report.paths
        assert nodes(again) == nodes(frame.report)


def test_tables_of_servers_are_packed_too() -> None:
    """A session that was connected then is connected in the report."""
    table = connections("zk1:2181", row("A0", quiet_ms=100), at=BEGIN)
    those = frames((BEGIN, [*facts("X x: A0", at=BEGIN), table]))
    again = archived(those).unpacked(BEGIN, those[0].report.settings).frame.report

    assert again.ensemble.presence(session("A0")) == (
        those[0].report.ensemble.presence(session("A0"))
    )


def queued(*looks: Sequence[At]) -> list[Frame]:
    """One lock with these children, a look a second."""
    moments = []
    for number, children in enumerate(looks):
        at = BEGIN + number * STEP_MS
        known = cases.facts(*children, at=at)
        moments.append((at, [msgspec.structs.replace(one, zxid=1_000 + number) for one in known]))
    return frames(*moments)


def test_what_is_known_of_locks_is_kept_in_few_steps_and_counted() -> None:
    """In each step it would fill the memory with copies of long queues."""
    queue = [At(f"_c_{n:032x}-lock-{n:010d}", f"go-{n}", czxid=100 + n) for n in range(40)]
    config = At("config", "", czxid=200)
    film = queued(queue, *([*queue[number % 2 :], config] for number in range(BLOCK_STEPS)))
    known = archived(film)
    kept = [step.number for step in known.after(BEGIN) if step.memories]

    assert kept == [FOLLOWED_STEPS, BLOCK_STEPS]
    assert known.weight_bytes > len(kept) * len(queue) * CHILD_BYTES + len(film) * STEP_BYTES


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_client_that_failed_long_ago_is_still_known_to_have_failed(*, is_deleted: bool) -> None:
    """Config came after Go had queued; later facts do not show which client listed it."""
    one, two = (At(f"_c_{n:032x}-lock-{n:010d}", f"go-{n}", czxid=100 + n) for n in (1, 2))
    config = At("config", "", czxid=200)
    rest = (two,) if is_deleted else (two, config)
    film = queued((one, two), (one, two, config), (two, config), *[rest] * (2 * BLOCK_STEPS))
    last = film[-1]
    again = archived(film).unpacked(last.at, last.report.settings).frame.report

    (path,) = last.report.paths
    assert last.report.records[path].lock.stranded == {two.name}
    assert again.records[path].lock.stranded == {two.name}
