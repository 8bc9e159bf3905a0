"""Many sessions with similar names share a line until one of them is at risk."""

import re
from asyncio import sleep
from collections.abc import Iterable
from time import monotonic
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    connections,
    figures,
    lock,
    no_connections,
    own,
    row,
    session,
)
from textual.pilot import Pilot
from ui.fake_feed import WAIT_S, app_of, frames, settled

from zktop.model.facts import AnyFact
from zktop.model.format import fold_name
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.keys import with_user_keys
from zktop.ui.screens.common.live_rows import LiveRows
from zktop.ui.screens.sessions import directory
from zktop.ui.screens.sessions.rows import MIN_GROUP
from zktop.ui.screens.sessions.table import SessionTable
from zktop.ui.textual_fixes import work_in_steps
from zktop.ui.view_state import Selection
from zktop.ui.widgets.table import RowGroup

WEB = tuple(f"web-{number}" for number in range(30))


def one_at_risk(silent: str = "web-7", *more: AnyFact) -> list[Frame]:
    """Thirty sessions hold a lock each, and one of them is silent; one more has another name."""
    facts = [fact for name in WEB for fact in lock(f"/locks/{name}", name)]
    rows = [row(name, 9_000 if name == silent else 100) for name in (*WEB, "db")]
    tables = (own(), figures(ZK1), connections(ZK1, *rows))
    return frames((NOW, [*facts, *lock("/locks/db", "db"), *tables, *more]))


class Plain(NamedTuple):
    """The values of a row that its group depends on."""

    key: int
    group: str
    is_quiet: bool
    size: int = 0

    growth: int = 0

    @property
    def urgency(self) -> int:
        """Rows that are not quiet come first."""
        return 10 * (not self.is_quiet) + self.size


plain_rows = st.lists(
    st.builds(
        Plain,
        st.integers(1, 10**6),
        st.sampled_from(["", "cron-*", "web-*", "db"]),
        st.booleans(),
        st.integers(0, 3),
    ),
    max_size=80,
    unique_by=lambda row: row.key,
)


def grouped(rows: list[Plain], opened: Iterable[str], apart: Iterable[int]) -> list[object]:
    """The lines that stand for these rows."""
    live = LiveRows[Plain](MIN_GROUP, MIN_GROUP)
    live.open_groups = set(opened)
    for one in rows:
        live.put(one)
    return list(live.grouped(live.ordered(0), 0, apart))


def plain(*names: str, is_quiet: bool = True) -> list[Plain]:
    """Rows of these names."""
    return [Plain(session(name), fold_name(name), is_quiet) for name in names]


@given(plain_rows, st.frozensets(st.sampled_from(["cron-*", "web-*"])), st.data())
def test_each_row_is_listed_once(
    rows: list[Plain], opened: frozenset[str], data: st.DataObject
) -> None:
    """A row has its own line, or is in one closed group."""
    known = [row.key for row in rows]
    apart = set(data.draw(st.lists(st.sampled_from(known)))) if known else set()
    lines = grouped(rows, opened, apart)
    groups = [line for line in lines if isinstance(line, RowGroup)]
    alone = [line.key for line in lines if isinstance(line, Plain)]
    inside = [row.key for group in groups if not group.is_open for row in group.rows]

    assert sorted([*alone, *inside]) == sorted(known)
    assert all(group.is_open == (group.name in opened) for group in groups)
    assert {row.key for row in rows if not row.is_quiet} <= set(alone)
    assert apart <= set(alone)


def test_a_group_has_many_rows() -> None:
    """A few sessions with similar names are better seen one by one."""
    few, many = plain(*WEB[: MIN_GROUP - 1]), plain(*WEB[:MIN_GROUP])

    assert grouped(few, (), ()) == sorted(few)
    (group,) = grouped(many, (), ())
    assert isinstance(group, RowGroup)
    assert (group.name, len(group.rows)) == ("web-*", MIN_GROUP)


def test_rows_at_risk_come_first_and_single_ones_last() -> None:
    """In between come the groups."""
    bad, alone = plain("web-99", is_quiet=False), plain("db")
    lines = grouped([*alone, *plain(*WEB), *bad], (), ())

    assert [lines[0], lines[-1]] == [*bad, *alone]
    assert len(lines) == 3


async def opened(pilot: Pilot[int], *keys: str) -> list[str]:
    """The lines on the screen after these keys."""
    await settled(pilot)
    await pilot.press(*keys)
    return await settled(pilot)


def app() -> Zktop:
    """The page of sessions."""
    return app_of(*one_at_risk(), page="sessions")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_silent_session_is_above_its_group(size: tuple[int, int]) -> None:
    """All others of its name are one line."""
    async with app().run_test(size=size) as pilot:
        text = "\n".join(await opened(pilot))

        assert "HIGH" in text.partition("web-7")[0]
        assert "29  ▸ web-*" in text
        assert "web-8" not in text


async def test_enter_opens_a_group_and_closes_it() -> None:
    """The cursor stays on its line."""
    async with app().run_test(size=(120, 50)) as pilot:
        unfolded = "\n".join(await opened(pilot, "down", "enter"))
        folded = "\n".join(await opened(pilot, "enter"))

        assert "29  ▾ web-*" in unfolded
        assert unfolded.count(" web-") > MIN_GROUP
        assert "29  ▸ web-*" in folded
        assert "GROUP web-*  29 sessions with similar names" in folded


async def test_a_group_is_not_at_low_risk_if_a_table_is_missing() -> None:
    """Some of them may be connected to the other server, and silent."""
    ui = app_of(*one_at_risk("web-7", no_connections(ZK2)), page="sessions")
    async with ui.run_test(size=(120, 50)) as pilot:
        text = "\n".join(await opened(pilot, "down"))

        assert re.search(r"\? +29  ▸ web-\*", text)
        assert "similar names, none known to be at risk" in text


async def test_f_opens_all_groups() -> None:
    """Pressed again, it closes them."""
    async with app().run_test(size=(120, 60)) as pilot:
        every = "\n".join(await opened(pilot, "f"))
        folded = "\n".join(await opened(pilot, "f"))

        assert "web-*" not in every
        assert "29  ▸ web-*" in folded


async def test_the_detail_of_a_group_says_what_enter_does() -> None:
    """It opens a closed group, and closes an open one."""
    async with app().run_test(size=(120, 50)) as pilot:
        folded = "\n".join(await opened(pilot, "down"))
        unfolded = "\n".join(await opened(pilot, "enter"))

        assert "enter opens this group" in folded
        assert "enter closes this group" in unfolded


async def test_the_detail_of_a_group_names_the_users_key() -> None:
    """The key that opens all groups is not f for all users."""
    keys = {"fold": "f5"}
    ui = app_of(
        *one_at_risk(),
        page="sessions",
        table=with_user_keys(keys),
        changed_keys=frozenset(keys),
    )
    async with ui.run_test(size=(120, 50)) as pilot:
        assert "f5 opens all" in "\n".join(await opened(pilot, "down"))


@pytest.mark.parametrize("keys", [("o", "i", "enter", "escape"), ("slash", *"web", "enter")])
async def test_a_filter_or_an_order_lists_each_session(keys: tuple[str, ...]) -> None:
    """A group has no place in an order."""
    async with app().run_test(size=(120, 60)) as pilot:
        assert not any("web-*" in line for line in await opened(pilot, *keys))


async def test_a_selected_session_is_listed_outside_its_group() -> None:
    """When it was selected on another screen, or in the palette."""
    ui = app()
    async with ui.run_test(size=(120, 36)) as pilot:
        await opened(pilot)
        ui.turn_to("sessions", Selection(session=session("web-12")))
        text = "\n".join(await opened(pilot))
        row_there = ui.screen.query_one(SessionTable).row

        assert row_there is not None
        assert row_there.session == session("web-12")
        assert "28  ▸ web-*" in text


async def test_the_first_opening_reads_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the last, the screen says that it reads; then it shows what it always shows."""
    monkeypatch.setattr(directory, "MEMBERS_AT_ONCE", 1)
    monkeypatch.setattr(work_in_steps, "WORK_S", 0.0)
    ui = app_of(*one_at_risk())
    async with ui.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        ui.turn_to("sessions")
        said: set[str] = set()
        end = monotonic() + WAIT_S
        while not any("with locks" in one for one in said):
            assert monotonic() < end, f"waited for the number of sessions; there is {said}"
            await sleep(0)  # a step is taken between two of these
            for view in ui.screen.query(SessionTable):
                said.add(view.words.facts)
        text = "\n".join(await settled(pilot))

        assert "reading 31 sessions ..." in said
        assert "29  ▸ web-*" in text
        assert "HIGH" in text.partition("web-7")[0]


async def test_a_group_is_copied_as_text() -> None:
    """The text that describes it."""
    ui = app()
    async with ui.run_test(size=(120, 36)) as pilot:
        await opened(pilot, "down", "y")

        assert "29 sessions with similar names, all at low risk" in ui.clipboard
