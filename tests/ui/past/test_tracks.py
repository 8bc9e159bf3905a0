"""Tracks: the states of locks and sessions over time, without their reports."""

from collections.abc import Sequence

import pytest
from model.make_facts import NOW, lock, session
from msgspec.structs import replace
from ui.example_past import BEGIN, A, B, past
from ui.fake_feed import frames

from bench import past as churn
from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.interfaces import Frame
from zktop.ui.past.states import (
    Alarms,
    LockState,
    SessionState,
    alarms_in,
    lock_state,
    nodes_held,
)
from zktop.ui.past.tracks import Tracks

X, Y = Text("/locks/x"), Text("/locks/y")
QUIET = Text("/locks/quiet")


def tracks(updates: Sequence[Frame]) -> Tracks:
    """The tracks of these frames."""
    made, before = Tracks(), None
    for frame in updates:
        records = frame.report.records
        made.add(
            before, frame, records.changed_since(before.records) if before is not None else ()
        )
        before = frame.report
    return made


def assert_as_reported(known: Tracks, updates: Sequence[Frame]) -> None:
    """The tracks have the states of these reports."""
    paths = {path for frame in updates for path in frame.report.paths}
    sessions = {one for frame in updates for one in frame.report.locks_of}
    for report, at in ((one.report, one.at) for one in updates):
        for path in paths:
            state = lock_state(report.records.get(path), at)
            assert known.lock_states(path, at, at + 1)[-1] == state
        for one in sessions:
            assert known.session_states(one, at, at + 1)[-1] == session_state(report, one, at)
        assert known.alarm_states(at, at + 1)[-1].alarms == alarms_in(report)


def session_state(report: Report, session: Session, at: Millis) -> SessionState:
    """What a session does according to one report."""
    held = nodes_held(report, session)
    return SessionState(at, held > 0, len(report.locks_of.get(session, ())) > held)


def kept(known: Tracks) -> int:
    """How many states of locks and sessions take memory."""
    return sum(len(one.times) for one in (*known._locks.values(), *known._sessions.values()))


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> list[Frame]:
    """Frames of locks that change hands all the time, with sessions in several locks."""
    for name, value in {"LOCKS": 12, "EXPIRED": 3, "RELEASES_PER_S": 20}.items():
        monkeypatch.setattr(churn, name, value)
    return list(churn.churn_frames(160))


def test_tracks_have_the_states_of_all_reports(busy: list[Frame]) -> None:
    """At each moment that has a report."""
    assert_as_reported(tracks(busy), busy)


def test_alarms_are_remembered() -> None:
    """A deadlock begins and ends."""
    assert_as_reported(tracks(past()), past())


def test_later_states_stay_when_earlier_ones_are_forgotten(busy: list[Frame]) -> None:
    """The state at that moment stays, even if it began earlier."""
    known, later = tracks(busy[:120]), busy[90:120]
    many = kept(known)
    known.forget_before(later[0].at)

    assert known.begin == later[0].at
    assert kept(known) < many
    assert_as_reported(known, later)


def test_states_go_on_after_earlier_ones_were_forgotten(busy: list[Frame]) -> None:
    """Also those of locks and sessions that had no changes left."""
    known = Tracks()
    for before, frame in zip([None, *busy], busy, strict=False):
        report = before.report if before is not None else None
        changed = frame.report.records.changed_since(report.records) if report is not None else ()
        known.add(report, frame, changed)
        known.forget_before(frame.at - 500)

    assert_as_reported(known, busy[-5:])


def test_a_lock_that_never_changes_takes_no_memory() -> None:
    """Its state is that of the newest report."""
    updates = frames((NOW, lock(QUIET, "ann", "bob")), (NOW + 1_000, []), (NOW + 2_000, []))
    known = tracks(updates)

    assert kept(known) == 0
    assert known.lock_states(QUIET, NOW + 500, NOW + 2_001) == [
        LockState(NOW + 500, session("ann"), 1, queue=1)
    ]
    assert known.session_states(session("bob"), NOW + 500, NOW + 2_001) == [
        SessionState(NOW + 500, holds=False, waits=True)
    ]


def test_the_locks_of_a_session_are_counted_when_it_is_first_drawn() -> None:
    """A session may be in hundreds of locks; later drawings find its state."""
    known = tracks(frames((NOW, lock(QUIET, "ann", "bob")), (NOW + 1_000, [])))
    drawn = [known.session_states(session("bob"), NOW, NOW + 500) for _ in range(2)]

    assert drawn == [[SessionState(NOW, holds=False, waits=True)]] * 2
    assert kept(known) == 1


def test_a_drawn_session_has_its_later_states(busy: list[Frame]) -> None:
    """Its strip may be drawn before it changes."""
    known, sessions = Tracks(), {one for frame in busy for one in frame.report.locks_of}
    for before, frame in zip([None, *busy], busy, strict=False):
        report = before.report if before is not None else None
        changed = frame.report.records.changed_since(report.records) if report is not None else ()
        known.add(report, frame, changed)
        for one in sessions:
            known.session_states(one, frame.at, frame.at + 1)

    assert_as_reported(known, busy)


def test_a_lock_has_its_state_at_the_beginning_and_its_changes() -> None:
    """Before the first data nothing is known: no holder, no queue."""
    states = tracks(past()).lock_states(Y, BEGIN - 1_000, BEGIN + 30_000)

    assert [(state.at - BEGIN, state.holder, state.queue) for state in states] == [
        (-1_000, 0, None),
        (0, 0, None),
        (2_000, B, 1),
        (20_000, A, 0),
    ]


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (-9_000, 0, []),
        (0, 1, [(0, False, False)]),
        (1_000, 3_000, [(1_000, False, False), (2_000, True, True)]),
        (2_000, 20_001, [(2_000, False, False), (2_000, True, True), (20_000, False, False)]),
        (30_000, 40_000, [(30_000, False, False)]),
    ],
)
def test_a_session_has_its_state_at_the_beginning_and_its_changes(
    begin: Millis, end: Millis, expected: list[tuple[Millis, bool, bool]]
) -> None:
    """There is none before the first data."""
    states = tracks(past()).session_states(B, BEGIN + begin, BEGIN + end)

    assert [(state.at - BEGIN, state.holds, state.waits) for state in states] == expected


def test_the_busiest_locks_are_first() -> None:
    """Only changes in that time count."""
    known = tracks(
        frames(
            (NOW, lock(QUIET, "ann")),
            (NOW + 1_000, lock(X, "ann", at=NOW + 1_000, czxid=200)),
            (NOW + 2_000, lock(Y, "ann", at=NOW + 2_000, czxid=300)),
            (NOW + 3_000, lock(Y, "ann", "bob", at=NOW + 3_000, czxid=300)),
        )
    )

    assert known.busiest(NOW, NOW + 9_000) == [Y, X]
    assert known.busiest(NOW + 1_500, NOW + 9_000) == [Y]
    assert known.busiest(NOW, NOW + 2_000) == [X]


def test_an_expiry_is_remembered_until_its_time_is_forgotten() -> None:
    """With the time of the frame that says so."""
    first, *later = frames((NOW, lock(X, "ann", "bob")), (NOW + 5_000, []), (NOW + 9_000, []))
    expiry = Event(at=NOW + 4_000, event="expired", lock=X, session=session("ann"))
    known = tracks([first, replace(later[0], events=(expiry,)), later[1]])
    seen = dict(known.expired)
    known.forget_before(NOW + 6_000)

    assert seen == {session("ann"): NOW + 5_000}
    assert known.expired == {}


def test_nothing_is_known_before_the_first_frame() -> None:
    """Neither alarms nor sessions."""
    known = Tracks()

    assert known.alarm_states(0, 9) == []
    assert known.session_states(A, 0, 9) == []
    assert known.lock_states(X, 0, 9) == [LockState(0)]
    assert known.busiest(0, 9) == []
    assert tracks(past()).alarm_states(BEGIN, BEGIN + 1)[0].alarms == Alarms()


def test_a_client_that_has_left_keeps_its_name_until_its_time_is_forgotten() -> None:
    """The strips of earlier deadlocks are named without a look at the events of the past."""
    moments = [(NOW, lock(X, "ann", "bob")), (NOW + 1_000, lock(X, "bob", czxid=101))]
    known = tracks(frames(*moments, (NOW + 9_000, [])))
    name = known.name(session("ann"))
    known.forget_before(NOW + 6_000)

    assert name == "ann"
    assert known.name(session("ann")) == session_text(session("ann"))
