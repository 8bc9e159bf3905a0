"""The first line of the timeline: an overview, or what one strip shows at one moment."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.model.facts import Millis, Session
from zktop.model.format import count, several, spoken
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.pulse import Pulse
from zktop.ui.past.states import Alarms, SessionState, locks_held
from zktop.ui.past.tracks import Tracks
from zktop.ui.screens.common.numbers_and_times import time_ms, time_s, with_date_if_needed
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, Run, line
from zktop.ui.view_state import ViewState

MAX_NAMED_CLIENTS: Final = 4  # more holders or waiters are counted


class Moment(NamedTuple):
    """A moment of the past, and its report if that is in memory."""

    at: Millis
    tracks: Tracks
    report: Report | None

    def alarms(self) -> Alarms:
        return self.tracks.alarm_states(self.at, self.at + 1)[-1].alarms

    def session(self, session: Session) -> SessionState:
        return self.tracks.session_states(session, self.at, self.at + 1)[-1]


def overview(state: ViewState, window: TimeWindow) -> Line:
    """Return the line about the current moment and how much of the past is stored."""
    begin = state.tape.begin or window.begin
    length = spoken(max(0, window.newest - begin) / 1000)
    if state.is_stale:
        mode = Run("LAST KNOWN STATE", "warning")
    elif state.is_newest:
        mode = Run("LIVE", "good")
    elif state.is_playing:
        mode = Run(f"PLAYING {state.speed:g}x", "good")
    else:
        mode = Run(" PAUSED ", "paused")
    first = with_date_if_needed(time_s(begin), begin, window.newest)
    last = with_date_if_needed(time_s(window.newest), window.newest, begin)
    kept = f"   {length} kept, {first} to {last} UTC"
    speed = f"   speed {state.speed:g}x" if not state.is_newest and state.speed != 1 else ""
    thin = "   older moments: one per second" if state.tape.archive.begin is not None else ""
    return (Run(" "), mode, Run(f"{kept}{speed}{thin}", "dim"))


def pointed_at(at: Millis, words: str) -> Line:
    """Return the moment under the mouse, and what a strip shows there."""
    return line((f" {time_ms(at)}Z ", "tab"), f" {words}")


def alert_words(moment: Moment) -> str:
    """Return the worst problem at a moment, and the number of others."""
    report, alarms = moment.report, moment.alarms()
    if not alarms.number:
        return "no critical problem"
    if report is None or not report.critical:
        return count(alarms.number, "critical problem")
    more = f" (and {alarms.number - 1} more)" if alarms.number > 1 else ""
    return f"{report.critical[0].sentence}{more}"


def lock_words(moment: Moment, path: Text) -> str:
    report = moment.report
    if report is None:
        return _lock_in_short(moment, path)
    record = report.records.get(path)
    if record is None:
        return f"{path} does not exist"
    holders, waiters = record.lock.holders, record.lock.waiters
    held = f"held by {_named(report, holders)}" if holders else "free"
    waits = f"; {count(len(waiters), 'client')} waiting: {_named(report, waiters)}"
    return f"{path} {held}{waits if waiters else ''}"


def _named(report: Report, members: Sequence[Member]) -> str:
    """Name the first of these members, and count the rest."""
    return several(map(report.client_names.of, members[:MAX_NAMED_CLIENTS]), len(members))


def _lock_in_short(moment: Moment, path: Text) -> str:
    """Return who holds a lock, or the number of holders, and the number of waiters."""
    state = moment.tracks.lock_states(path, moment.at, moment.at + 1)[-1]
    if state.queue is None:
        return f"{path} does not exist"
    held = "held" if state.holders else "free"
    if state.holders == 1:
        held = f"held by {moment.tracks.name(state.holder)}"
    elif state.holders:
        held = f"held by {count(state.holders, 'reader' if state.are_readers else 'holder')}"
    waiting = f"; {count(state.queue, 'client')} waiting" if state.queue else ""
    return f"{path} {held}{waiting}"


def session_words(moment: Moment, name: str, session: Session) -> str:
    """Return the locks that a session holds and waits for, and whether it is in a deadlock."""
    report, state = moment.report, moment.session(session)
    parts = ["holds a lock"] if state.holds else []
    parts += ["waits for a lock"] if state.waits else []
    if report is not None:
        held = locks_held(report, session)
        # A session may hold a lock with one node and wait in it with another.
        nodes_in = Counter(report.locks_of.get(session, ()))
        waited = [path for path in sorted(nodes_in) if nodes_in[path] > held.count(path)]
        parts = [f"holds {several(held)}"] if held else []
        parts += [f"waits for {several(waited)}"] if waited else []
    alarms = moment.alarms()
    stuck = ": likely deadlock" if session in alarms.suspected else ""
    stuck = ": deadlock" if session in alarms.proven else stuck
    return f"{name} {' and '.join(parts) or 'uses no lock'}{stuck}"


def waiting_words(moment: Moment, pulse: Pulse) -> str:
    """Return how many clients wait for locks."""
    (waiting,) = pulse.waiting(moment.at, step_ms=1, number=1)
    return "unknown" if waiting is None else f"{count(waiting, 'client')} waiting"


def group_words(moment: Moment, name: str, sessions: Sequence[Session]) -> str:
    """Return how many sessions of a group hold a lock, and how many wait."""
    states = [moment.session(session) for session in sessions]
    holding, waiting = sum(state.holds for state in states), sum(state.waits for state in states)
    idle = sum(not state.holds and not state.waits for state in states)
    parts = ((holding, "holding"), (waiting, "waiting"), (idle, "idle"))
    return f"{name}: {', '.join(f'{number} {word}' for number, word in parts if number)}"
