"""Waiters with similar names share a strip of the timeline."""

from collections.abc import Sequence

import pytest
from model.make_facts import NOW, session
from output.stories import facts
from ui.example_past import A, B, past
from ui.example_past import moments as deadlock_moments
from ui.fake_feed import Moment, app_of, frames, panel, settled

from zktop.model.facts import Gone, Session
from zktop.model.text import Text
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline import strips, time_axis
from zktop.ui.screens.timeline.strip_choice import (
    StripSubject,
    strip_counts,
    strip_locks,
    strip_sessions,
)
from zktop.ui.styled_text import text_of
from zktop.ui.view_state import Selection

BEGIN = NOW + 1_000_000
END = BEGIN + 12_000


def moments() -> Sequence[Moment]:
    """Facts: five clients of one service queue up, then the holder leaves."""
    crowd = facts("X x: boss api-1 api-2 api-3 api-4 pick-1", at=BEGIN + 4_000, zxid=200)
    boss = next(
        one for one in crowd if getattr(getattr(one, "stat", 0), "owner", 0) == session("boss")
    )
    gone = Gone(path=Text(boss.path), zxid=900, at=BEGIN + 8_000)
    return (
        (BEGIN, facts("Y x: other", at=BEGIN)),
        (BEGIN + 4_000, crowd),
        (BEGIN + 8_000, [gone]),
        (END, []),
    )


async def timeline() -> list[str]:
    """The strips that the timeline shows."""
    app = app_of(*frames(*moments()), page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        return await settled(pilot)


@pytest.mark.parametrize("name", ["the-billing-of-the-north-2", "計費服務計費服務計費-2"])
async def test_a_client_with_a_long_name_keeps_its_letter(name: str) -> None:
    """Its bars in the strips of locks have no other sign; the end of the name stays, too."""
    app = app_of(*frames((BEGIN, facts(f"X x: {name}", at=BEGIN))), page="timeline")
    async with app.run_test(size=(80, 24)) as pilot:
        inside = panel(await settled(pilot), "Timeline")
    strips_of_clients = inside[next(n for n, one in enumerate(inside) if "CLIENTS" in one) + 1 :]

    assert strips_of_clients[0].strip().startswith(f"A {name[:3]}")
    assert "-2 " in strips_of_clients[0]


async def test_waiters_with_similar_names_share_a_strip() -> None:
    """A holder, or a client with a unique name, keeps a strip of its own, with a letter."""
    lines = await timeline()
    inside = panel(lines, "Timeline")
    actors = inside[next(n for n, one in enumerate(inside) if one.strip().startswith("CLIENTS")) :]

    said = {line[:18].strip() for line in actors[1:6]}
    assert {"api-* (3)", "A api-1", "B other"} <= said, "\n".join(lines)
    assert any(one.endswith("pick-1") for one in said)
    assert not any("api-2" in one for one in said)


def group() -> StripSubject:
    """The four waiters that have similar names."""
    return StripSubject("api-*", tuple(session(f"api-{number}") for number in (1, 2, 3, 4)))


def drawn(sessions: Sequence[Session], window: time_axis.TimeWindow) -> str:
    """The strip of these sessions on the tape of those moments."""
    tape = Tape()
    for frame in frames(*moments()):
        tape.add(frame)
    alarms = strips.column_alarms(tape.tracks, window)
    return text_of(strips.session_strip(tape.tracks, sessions, window, alarms, {}))


@pytest.mark.parametrize("column_ms", [100, 500, 2_000, 5_000])
def test_a_group_shows_in_each_column_what_matters_most(column_ms: int) -> None:
    """The strips of its members are merged into one."""
    window = time_axis.window_around(END, BEGIN, END, column_ms, 40)
    each = [drawn([one], window) for one in group().sessions]
    laid = [min(cells, key=strips.MATTERS_MOST.index) for cells in zip(*each, strict=True)]

    assert drawn(group().sessions, window) == "".join(laid)


def test_a_tape_has_the_history_of_a_group() -> None:
    """They came at the fourth second, and one of them has the lock from the eighth on."""
    window = time_axis.window_around(END, BEGIN, END, 1_000, 40)

    assert drawn(group().sessions, window) == "....----#####"


def test_a_selected_session_that_has_left_keeps_its_name() -> None:
    """Its last event has it."""
    updates = past()
    app = app_of(*updates)
    for frame in updates:
        app.tape.add(frame)
    app.visit.subject = Selection(session=B)
    window = time_axis.latest(BEGIN + 21_000, 1_000, 10)

    assert next(strip_sessions(app.view_state, window, updates[-1].report, [])) == StripSubject(
        "B", (B,)
    )


ENDED = BEGIN + 20_000  # of the deadlock of A and B in x and y


def long_ago() -> Sequence[Moment]:
    """That deadlock, and an hour later a busy lock."""
    queue = facts("Q x: P1 P2 P3", at=ENDED + 3_600_000, zxid=5_000)
    return (*deadlock_moments(), (ENDED + 3_600_000, queue), (ENDED + 3_610_000, []))


@pytest.mark.parametrize(
    ("begin", "shown"),
    [
        (ENDED + 3_600_000, False),  # it was over long before
        (BEGIN - 12_000, False),  # it came later
        (BEGIN, True),
        (ENDED - 1_000, True),
    ],
)
def test_only_deadlocks_in_view_have_strips(begin: int, *, shown: bool) -> None:
    """Of their locks and of their clients; others leave the room to those that are busy."""
    updates = frames(*long_ago())
    app = app_of(*updates)
    for frame in updates:
        app.tape.add(frame)
    window = time_axis.TimeWindow(begin, 1_000, 10, ENDED + 3_610_000)
    report = updates[-1].report

    locks = list(strip_locks(app.view_state, window, report))
    sessions = {one.session for one in strip_sessions(app.view_state, window, report, [])}

    assert (locks[0] == "/locks/x") == shown
    assert sessions == ({A, B} if shown else set())


@pytest.mark.parametrize("locks", [0, 1, 4, 100])
@pytest.mark.parametrize("clients", [0, 1, 3, 100])
@pytest.mark.parametrize("room", range(1, 70))
def test_strips_fill_the_room_and_no_more(room: int, clients: int, locks: int) -> None:
    """The other lines count too; nothing is left out while there are free lines."""
    counts = strip_counts(room, locks, clients)
    each = 2 if counts.has_queues else 1
    used = each * counts.locks + counts.clients + counts.legends + counts.has_alerts + counts.graph
    used += counts.contacts + 1 if counts.contacts else 0

    assert used <= max(room, 1)
    assert counts.locks <= locks
    assert counts.clients <= clients
    assert counts.clients == clients or counts.locks == locks or used >= room - 1


@pytest.mark.parametrize("size", [(40, 10), (40, 6), (20, 3)])
async def test_a_tiny_window_has_no_room_for_strips(size: tuple[int, int]) -> None:
    """Nothing fails there."""
    app = app_of(*frames(*moments()), page="timeline")
    async with app.run_test(size=size) as pilot:
        await settled(pilot)

    assert app.error_log.last is None


@pytest.mark.parametrize(("room", "contacts"), [(40, 6), (20, 4)])
def test_all_clients_have_a_strip_of_contacts_where_there_is_room(
    room: int, contacts: int
) -> None:
    """Their number is not limited otherwise."""
    assert strip_counts(room, 1, 6).contacts == contacts
