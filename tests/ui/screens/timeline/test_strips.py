"""Strips: each column is the same time span for all locks and sessions."""

import pytest
from model.make_facts import ZK1, ZK2, connections, own, row, session
from msgspec.structs import replace
from ui.example_past import BEGIN, A, B, past
from ui.fake_feed import frames
from ui.past.test_playback import tape

from zktop.model.text import Text
from zktop.model.waits.confidence import Confidence
from zktop.ui.past.contacts_and_packet_rates import contacts
from zktop.ui.past.states import LockState
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline import strips, time_axis
from zktop.ui.styled_text import text_of

END = BEGIN + 21_000
LETTERS = {A: "A", B: "B"}


def whole_window(column_ms: int, columns: int = 40) -> time_axis.TimeWindow:
    """A window that shows the whole past."""
    return time_axis.window_around(END, BEGIN, END, column_ms, columns)


def test_a_lock_shows_its_holder_and_its_queue() -> None:
    """Each column has a letter, and the longest queue below it."""
    window = whole_window(1_000)
    states = tape().tracks.lock_states(Text("/locks/y"), window.begin, window.end)
    held, queue = strips.lock_strip(states, window, LETTERS)

    assert text_of(held) == "  BBBBBBBBBBBBBBBBBBAA"
    assert text_of(queue) == "  111111111111111111" + "10"


def past_with_confidence(confidence: Confidence) -> Tape:
    """The same past with a deadlock of this confidence."""
    changed = Tape()
    for frame in past():
        deadlocks = tuple(
            replace(deadlock, confidence=confidence) for deadlock in frame.report.deadlocks
        )
        changed.add(replace(frame, report=replace(frame.report, deadlocks=deadlocks, findings=())))
    return changed


SURE_OR_NOT = [("C4", "!", "critical"), ("C3", "!", "critical"), ("C2", "?", "warning")]


@pytest.mark.parametrize(("confidence", "sign", "ink"), SURE_OR_NOT)
def test_an_actor_shows_where_the_deadlock_is(confidence: Confidence, sign: str, ink: str) -> None:
    """Holding, then stuck or probably stuck, then gone or holding again; red is confirmed."""
    tracks, window = past_with_confidence(confidence).tracks, whole_window(1_000)
    alarms = strips.column_alarms(tracks, window)
    drawn, other = (
        strips.session_strip(tracks, [one], window, alarms, tracks.expired) for one in (A, B)
    )
    second = text_of(other)

    assert text_of(drawn) == f"##{sign * 18}##"
    assert second[:20] == f"..{sign * 18}"
    assert second[20:] in ("..", "xx")
    assert {run.ink for run in drawn if sign in run.text} == {ink}


@pytest.mark.parametrize(("confidence", "sign", "ink"), SURE_OR_NOT)
def test_alarms_have_a_strip(confidence: Confidence, sign: str, ink: str) -> None:
    """For as long as there is a critical problem, or probably one."""
    drawn = strips.alarm_strip(
        strips.column_alarms(past_with_confidence(confidence).tracks, whole_window(1_000))
    )

    assert text_of(drawn) == f"..{sign * 18}.."
    assert {run.ink for run in drawn if sign in run.text} == {ink}


def test_a_column_that_hides_turns_says_so() -> None:
    """A letter stands for one turn; two turns in one column are a colon."""
    states = [
        LockState(BEGIN), LockState(BEGIN + 100, A, 1, queue=0),
        LockState(BEGIN + 200, B, 1, queue=12), LockState(BEGIN + 1_100, A, 1, queue=0),
        LockState(BEGIN + 1_200, B, 1, queue=0), LockState(BEGIN + 1_300, A, 1, queue=0),
    ]  # fmt: skip

    held, queue = strips.lock_strip(states, whole_window(1_000), LETTERS)

    assert text_of(held) == "B:" + "A" * 20
    assert text_of(queue) == "**" + "0" * 20


def test_contacts_are_marked_where_they_were() -> None:
    """From all tables, each read once; a session in none has no contacts."""
    known = Tape()
    for at, quiet in ((BEGIN, 500), (BEGIN + 5_000, 1_500), (BEGIN + 9_000, None)):
        (frame,) = frames((at, [own(at=at), connections(ZK1, row("A", quiet), at=at, zxid=at)]))
        known.add(frame)
    window = time_axis.window_around(BEGIN + 9_000, BEGIN - 1_000, BEGIN + 9_000, 1_000, 40)
    heard = contacts(known, (A, B), window.begin, window.end)
    drawn = text_of(strips.contact_strip([at for at, _ in heard[A]], window))

    assert heard[A] == [(BEGIN - 500, ZK1), (BEGIN + 3_500, ZK1)]
    assert drawn == "p...p......"
    assert heard[B] == []


def test_each_session_has_its_own_contacts() -> None:
    """Also those in another server's table; contacts outside of the window do not count."""
    known = Tape()
    tables = (
        connections(ZK1, row("A", 500), at=BEGIN, zxid=1),
        connections(ZK2, row("B", 1_500), row("C", 5_000), row("D", 0), at=BEGIN, zxid=2),
    )
    (frame,) = frames((BEGIN, [own(at=BEGIN), *tables]))
    known.add(frame)
    c, d = session("C"), session("D")
    heard = contacts(known, (A, B, c, d), BEGIN - 2_000, BEGIN)

    assert heard == {A: [(BEGIN - 500, ZK1)], B: [(BEGIN - 1_500, ZK2)], c: [], d: []}
