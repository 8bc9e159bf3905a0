"""Waiters with similar names share a strip of the timeline."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, session
from output.stories import facts
from ui.fake_feed import Moment, app_of, frames, settled

from zktop.model.facts import Gone
from zktop.model.text import Text
from zktop.ui.past.state_changes import SessionState, StateChanges
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline import strips
from zktop.ui.screens.timeline.subjects import MATTERS_MOST, WaiterGroup, group_strip
from zktop.ui.styled_text import text_of

BEGIN = NOW + 1_000_000
END = BEGIN + 12_000


def moments() -> Sequence[Moment]:
    """The facts: five clients of one service queue up, then the holder leaves."""
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


async def test_waiters_that_are_called_alike_are_one_strip() -> None:
    """A holder, or a client with a unique name, keeps a strip of its own, with a letter."""
    lines = await timeline()
    actors = lines[next(n for n, one in enumerate(lines) if one.startswith("ACTORS")) :]

    said = {line[:18].strip() for line in actors[1:6]}
    assert {"api-* (3)", "A api-1", "B other"} <= said, "\n".join(lines)
    assert any(one.endswith("pick-1") for one in said)
    assert not any("api-2" in one for one in said)


def crewed(doings: Sequence[Sequence[tuple[int, int, int]]]) -> tuple[StateChanges, WaiterGroup]:
    """Sessions with these histories: when, locks held, locks waited for."""
    changes = StateChanges()
    for number, past in enumerate(doings, start=1):
        changes.sessions[number] = [
            SessionState(BEGIN + at, holds, waits) for at, holds, waits in past
        ]
    return changes, WaiterGroup("api-*", tuple(range(1, len(doings) + 1)))


PASTS = st.lists(
    st.lists(st.tuples(st.integers(0, 12_000), st.integers(0, 1), st.integers(0, 1))).map(sorted),
    min_size=1,
    max_size=5,
)


@given(PASTS)
def test_a_group_shows_in_each_column_what_matters_most(
    doings: Sequence[Sequence[tuple[int, int, int]]],
) -> None:
    """As if the strips of all its members lay upon each other."""
    changes, crew = crewed(doings)
    seen = strips.window(END, BEGIN, END, 500, 40)
    each = [text_of(strips.actor_strip(changes, one, seen)) for one in crew.sessions]
    laid = [min(cells, key=MATTERS_MOST.index) for cells in zip(*each, strict=True)]

    assert text_of(group_strip(changes, crew, seen)) == "".join(laid)


def test_a_group_of_a_large_lock_is_not_followed() -> None:
    """It says so, as the strip of one of them would: nothing is not the same as unknown."""
    seen = strips.window(END, BEGIN, END, 500, 40)

    assert text_of(group_strip(StateChanges(), WaiterGroup("api-*", (1, 2, 3)), seen)).startswith(
        "? not"
    )


def test_a_tape_has_the_history_of_a_group() -> None:
    """They came at the fourth second, and one of them has the lock from the eighth on."""
    tape, changes = Tape(), StateChanges()
    for frame in frames(*moments()):
        tape.add(frame)
    changes.update(tape)
    crew = WaiterGroup("api-*", tuple(session(f"api-{number}") for number in (1, 2, 3, 4)))

    seen = strips.window(END, BEGIN, END, 1_000, 40)
    assert text_of(group_strip(changes, crew, seen)) == "....----#####"
