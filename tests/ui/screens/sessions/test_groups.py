"""Many sessions that are called alike are one line, until one of them is in danger."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, ZK1, connections, figures, lock, own, row, session
from textual.pilot import Pilot
from ui.fake_feed import app_of, frames, settled

from zktop.ui.app import Zktop
from zktop.ui.ports import Frame
from zktop.ui.screens.sessions.groups import MANY, SessionGroup, SessionSummary, gathered
from zktop.ui.screens.sessions.table import SessionTable
from zktop.ui.state import Selection

FLEET = tuple(f"web-{number}" for number in range(30))
NOBODY: frozenset[int] = frozenset()
ALL_CLOSED: frozenset[str] = frozenset()

ships = st.builds(
    SessionSummary,
    st.integers(1, 10**6),
    st.sampled_from([None, "cron-1", "web-1", "web-2", "db"]),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 3),
)
crews = st.lists(ships, max_size=80, unique_by=lambda ship: ship.session)


def ships_of(*names: str, well: bool = True) -> list[SessionSummary]:
    """Sessions of these names, with a place each."""
    return [SessionSummary(session(name), name, well, 1, 0) for name in names]


def one_in_danger(silent: str = "web-7") -> list[Frame]:
    """Thirty servers hold a lock each; one of them is silent, and somebody else is there too."""
    facts = [fact for name in FLEET for fact in lock(f"/locks/{name}", name)]
    rows = [row(name, 9_000 if name == silent else 100) for name in (*FLEET, "db")]
    tables = (own(), figures(ZK1), connections(ZK1, *rows))
    return frames((NOW, [*facts, *lock("/locks/db", "db"), *tables]))


@given(crews, st.frozensets(st.sampled_from(["cron-*", "web-*"])), st.data())
def test_nobody_is_lost_and_nobody_told_twice(
    crew: list[SessionSummary], opened: frozenset[str], data: st.DataObject
) -> None:
    """Each session is a line of its own, or in one fleet; of an open fleet, both."""
    known = [ship.session for ship in crew]
    apart = frozenset(data.draw(st.lists(st.sampled_from(known)))) if known else NOBODY
    items = gathered(crew, opened, apart)
    fleets = [one for one in items if isinstance(one, SessionGroup)]
    alone = [one for one in items if not isinstance(one, SessionGroup)]
    inside = [one for fleet in fleets if not fleet.is_open for one in fleet.sessions]

    assert sorted([*alone, *inside]) == sorted(known)
    assert all(fleet.is_open == (fleet.name in opened) for fleet in fleets)
    assert {ship.session for ship in crew if not ship.is_well} <= set(alone)
    assert apart <= set(alone)


def test_a_fleet_has_many() -> None:
    """A few that are called alike are better seen one by one."""
    few, many = ships_of(*FLEET[: MANY - 1]), ships_of(*FLEET[:MANY])

    assert gathered(few, ALL_CLOSED, NOBODY) == [ship.session for ship in few]
    (fleet,) = gathered(many, ALL_CLOSED, NOBODY)
    assert isinstance(fleet, SessionGroup)
    assert (fleet.name, len(fleet.sessions), fleet.holds) == ("web-*", MANY, MANY)


def test_who_is_in_danger_comes_first_and_who_is_alone_last() -> None:
    """In between come the fleets."""
    bad, alone = ships_of("web-99", well=False), ships_of("db")
    items = gathered([*alone, *ships_of(*FLEET), *bad], ALL_CLOSED, NOBODY)

    assert [items[0], items[-1]] == [bad[0].session, alone[0].session]
    assert len(items) == 3


async def opened(pilot: Pilot[int], *keys: str) -> list[str]:
    """What is on the screen after these keys."""
    await settled(pilot)
    await pilot.press(*keys)
    return await settled(pilot)


def app() -> Zktop:
    """The page of sessions."""
    return app_of(*one_in_danger(), page="sessions")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_who_is_silent_is_seen_above_the_others(size: tuple[int, int]) -> None:
    """And all others of its name are one line."""
    async with app().run_test(size=size) as pilot:
        text = "\n".join(await opened(pilot))

        assert "HIGH" in text.partition("web-7")[0]
        assert "29  ▸ web-*" in text
        assert "web-8" not in text


async def test_enter_unfolds_a_fleet_and_folds_it_again() -> None:
    """The cursor stays on its line."""
    async with app().run_test(size=(120, 50)) as pilot:
        unfolded = "\n".join(await opened(pilot, "down", "enter"))
        folded = "\n".join(await opened(pilot, "enter"))

        assert "29  ▾ web-*" in unfolded
        assert unfolded.count(" web-") > MANY
        assert "29  ▸ web-*" in folded
        assert "FLEET web-*  29 sessions called alike" in folded


async def test_f_unfolds_them_all() -> None:
    """And folds them again."""
    async with app().run_test(size=(120, 60)) as pilot:
        every = "\n".join(await opened(pilot, "f"))
        folded = "\n".join(await opened(pilot, "f"))

        assert "web-*" not in every
        assert "29  ▸ web-*" in folded


@pytest.mark.parametrize("keys", [("o",), ("slash", *"web", "enter")])
async def test_who_sorts_or_seeks_sees_each_of_them(keys: tuple[str, ...]) -> None:
    """A fleet has no place in an order."""
    async with app().run_test(size=(120, 60)) as pilot:
        assert not any("web-*" in line for line in await opened(pilot, *keys))


async def test_who_is_led_to_a_session_finds_it_outside_its_fleet() -> None:
    """As from the line of a lock, or from the palette."""
    ui = app()
    async with ui.run_test(size=(120, 36)) as pilot:
        await opened(pilot)
        ui.turn_to("sessions", Selection(session=session("web-12")))
        text = "\n".join(await opened(pilot))
        row_there = ui.screen.query_one(SessionTable).session_row

        assert row_there is not None
        assert row_there.session == session("web-12")
        assert "28  ▸ web-*" in text


async def test_a_fleet_is_copied_as_text() -> None:
    """What is told of it."""
    ui = app()
    async with ui.run_test(size=(120, 36)) as pilot:
        await opened(pilot, "down", "y")

        assert "29 sessions called alike, none of them in danger" in ui.clipboard
