"""Candidates of an election stand by; where the user says that they are blocked, they wait."""

from functools import partial

import pytest
from model.make_facts import NOW
from output.stories import LAYOUTS, facts
from ui.example_ensemble import rows_of
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Gone, join
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.interfaces import Frame
from zktop.ui.past.pulse import Pulse
from zktop.ui.past.tape import Tape
from zktop.ui.screens.lock.heading import lock_head
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.locks.groups import LockGroup
from zktop.ui.screens.locks.table import LockCells
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.screens.timeline.wait_totals import wait_totals
from zktop.ui.styled_text import text_of

PATH = Text("/locks/e")
LATER = NOW + 10_000
either = partial(pytest.mark.parametrize, ("blocking", "expected"))


def looks(*later: AnyFact, blocking: bool) -> list[Frame]:
    """A leader and two other candidates for ten seconds; then more becomes known."""
    root = Root(PATH, layout="post", blocking=blocking)
    settings = Settings(roots=(root,), layouts=LAYOUTS)
    return frames((NOW, facts("E elect: L F1 F2")), (LATER, later), settings=settings)


@either([(True, (False, 20_000)), (False, (True, None))])
def test_the_row_counts_their_waits(*, blocking: bool, expected: tuple[object, ...]) -> None:
    """Only a lock without waiters is quiet."""
    rows = rows_of(looks(blocking=blocking)[-1].report)
    row = rows.rows[PATH]

    assert (row.is_quiet, row.blocked_ms(LATER)) == expected


@either([(True, 20_000), (False, 0)])
def test_a_group_adds_up_their_waits(*, blocking: bool, expected: int) -> None:
    """That of the quiet locks, after the others have left."""
    left = (
        Gone(path=join(PATH, f"post-{number:010d}"), zxid=2_000, at=LATER) for number in (1, 2)
    )
    row = rows_of(looks(*left, blocking=blocking)[-1].report).rows[PATH]

    assert row.is_quiet
    assert LockGroup(name="/locks/*", rows=(row,)).blocked_ms == expected


@either([(True, 2), (False, 0)])
def test_the_pulse_counts_them(*, blocking: bool, expected: int) -> None:
    """As clients that wait."""
    pulse = Pulse()
    for frame in looks(blocking=blocking):
        pulse.add(frame)

    assert pulse.until(LATER, 1)[0].waiting == expected


@either([(True, "e 20"), (False, "")])
def test_the_timeline_adds_up_their_waits(*, blocking: bool, expected: str) -> None:
    """In the line of the total waits."""
    tape = Tape()
    for frame in looks(blocking=blocking):
        tape.add(frame)
    window = TimeWindow(NOW, 1_000, 10, LATER)
    assert tape.last is not None
    drawn = wait_totals(tape, [PATH], window, tape.last.report, is_ascii=False)

    assert expected in "".join(map(text_of, drawn))
    assert bool(drawn) == blocking


@either([(True, "QUEUE"), (False, "STANDBY")])
def test_the_head_of_the_lock_says_so(*, blocking: bool, expected: str) -> None:
    """Above the queue of screen 2."""
    detail = LockDetail.of(looks(blocking=blocking)[-1].report, PATH)
    assert detail is not None

    assert expected in "\n".join(map(text_of, lock_head(detail, 100)))


@either([(True, "waits"), (False, "standby")])
def test_the_cell_of_the_queue_has_their_ink(*, blocking: bool, expected: str) -> None:
    """Those that wait are more urgent."""
    report = looks(blocking=blocking)[-1].report
    cells = LockCells()
    cells.report = report

    assert {run.ink for run in cells.queue(rows_of(report).rows[PATH])} == {expected}


@either([(True, False), (False, True)])
def test_the_graph_of_the_queue_has_their_ink(*, blocking: bool, expected: bool) -> None:
    """As the number beside it."""
    report = looks(blocking=blocking)[-1].report
    cells = LockCells()
    cells.report = report
    drawn = cells.minute(rows_of(report).rows[PATH])

    assert drawn
    assert ({run.ink for run in drawn} == {"standby"}) is expected
