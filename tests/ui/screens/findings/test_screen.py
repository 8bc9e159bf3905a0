"""Screen 3 with its keys."""

import re

import pytest
from model.findings.cases import ZXID, connected, facts, k
from model.make_facts import NOW
from ui.example_ensemble import trouble
from ui.example_queues import looked, page_on, queue, ring_of, shown
from ui.example_states import deadlock_frames
from ui.fake_feed import frames, panel

from zktop.model.facts import AnyFact, Gone
from zktop.model.text import Text
from zktop.ui.screens.timeline.last_60_seconds_panel import MinutePanel
from zktop.ui.view_state import Selection

PAGE = "findings"


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_shows_what_to_do_and_the_ring_in_any_size(size: tuple[int, int]) -> None:
    """The client to stop comes before any drawing."""
    async with page_on(PAGE, looked(ring_of("ann", "bob", behind=2)), size) as (_, pilot):
        text = await shown(pilot)

    assert "● still there for" in text
    assert " Kill  ann " in text
    assert "has l0" in text


async def test_moving_in_the_list_shows_another_finding() -> None:
    """From the deadlock to the next finding."""
    async with page_on(PAGE, trouble()) as (app, pilot):
        first = app.selection.case
        text = await shown(pilot, "down")

        assert app.selection.case != first
        assert "WHAT TO DO" in text


async def test_enter_goes_to_the_finding_and_from_there_to_the_lock() -> None:
    """It goes from the list to the client to kill, to a step, and to the lock of that step."""
    async with page_on(PAGE, looked(ring_of("ann", "bob"))) as (app, pilot):
        await shown(pilot, "enter", "down", "down", "down", "enter")

        assert app.page is not None
        assert app.page.entry.name == "lock"
        assert (app.subject.path or "").startswith("/locks/l")
        assert app.subject.node is not None


async def test_n_shows_the_next_alert() -> None:
    """After the last alert comes the first one."""
    async with page_on(PAGE, trouble()) as (app, pilot):
        seen = []
        for _ in range(3):
            await shown(pilot, "n")
            seen.append(app.selection.case)

        assert len(set(seen)) > 1


async def test_a_selected_deadlock_stays_when_it_is_over() -> None:
    """Its diagram stays; the status says that it is over."""
    some = looked(ring_of("ann", "bob"))
    async with page_on(PAGE, some) as (app, pilot):
        await shown(pilot, "enter")
        app.query_one("#cases").moved()  # type: ignore[attr-defined]
        app.subject = Selection(case=some[-1].report.deadlocks[0].id)
        app.feed.send(frames((NOW + 60_000, facts(path="/locks/l0")))[-1])  # type: ignore[attr-defined]
        text = await shown(pilot)

    assert "○ over since" in text
    assert "has l0" in text


async def test_3_opens_the_worst_live_deadlock_and_not_one_that_is_over() -> None:
    """Unless the user selects it."""
    ring = ring_of("ann", "bob")
    wait = Gone(path=Text(f"/locks/l0/{k('bob', 2).name}"), zxid=ZXID + 1, at=NOW + 20_000)
    other = ring_at("/v", "/w")
    some = frames((NOW, ring), (NOW + 5_000, ()), (NOW + 20_000, [wait]), (NOW + 30_000, other))
    (first,), (second,) = (made.report.deadlocks for made in (some[1], some[-1]))
    async with page_on(PAGE, some[:2]) as (app, pilot):
        await shown(pilot, "enter")
        over = app.selection.case
        await shown(pilot, "1")
        for one in some[2:]:
            app.feed.send(one)  # type: ignore[attr-defined]
        text = await shown(pilot, "3")

        assert (over, app.selection.case) == (first.id, second.id)
        assert "Deadlock #2" in text
        app.turn_to(PAGE, Selection(case=first.id))
        assert "HOW IT ENDED" in await shown(pilot)


async def test_no_problems_comes_with_the_missing_data() -> None:
    """Missing data never looks like "no problem"."""
    async with page_on(PAGE, looked(facts(*queue("X")))) as (_, pilot):
        text = await shown(pilot)

    assert "No problems found in the data that zktop can read" in text
    assert "missed wake up" in text


async def test_the_blocking_tree_is_an_entry_of_the_list() -> None:
    """Root blockers, with their waiters below them."""
    async with page_on(PAGE, looked(ring_of("ann", "bob", behind=2))) as (_, pilot):
        text = await shown(pilot, "down")

    assert "WHO IS BLOCKING" in text
    assert "part of the deadlock" in text


async def test_3_leaves_a_deadlock_that_is_over_on_screen_3_itself() -> None:
    """Pressed again, it goes to the worst live one."""
    ring = ring_of("ann", "bob")
    wait = Gone(path=Text(f"/locks/l0/{k('bob', 2).name}"), zxid=ZXID + 1, at=NOW + 20_000)
    other = ring_at("/v", "/w")
    some = frames((NOW, ring), (NOW + 5_000, ()), (NOW + 20_000, [wait]), (NOW + 30_000, other))
    async with page_on(PAGE, some) as (app, pilot):
        app.turn_to(PAGE, Selection(case=some[1].report.deadlocks[0].id))
        before = await shown(pilot)
        after = await shown(pilot, "3")

    assert "Deadlock #1 · over" in before
    assert "Deadlock #2" in after


async def test_y_copies_the_command_and_capital_y_the_whole_text() -> None:
    """The pane says so before."""
    some = looked(ring_of("ann", "bob"), [connected("ann", "bob")])
    async with page_on(PAGE, some, (80, 24)) as (app, pilot):
        text = await shown(pilot, "y")
        command = app.clipboard
        await shown(pilot, "Y")
        ticket = app.clipboard

    assert command.startswith("ssh 10.0.0.1 'ss -tnp sport = :")
    assert f"y copies {command}" in text
    assert ticket.startswith("DEADLOCK #1")
    assert "CONFIDENCE" in ticket
    assert " Kill " in ticket
    assert re.search("All ways out, with commands: zktop free /.* --hosts zk1:2181\n", ticket)


async def test_y_copies_the_whole_text_where_no_address_is_known() -> None:
    """That is also so for other findings."""
    async with page_on(PAGE, looked(ring_of("ann", "bob")), (80, 24)) as (app, _):
        assert app.page is not None
        assert app.page.copied() == app.page.copied_text()
        assert "DEADLOCK #1" in app.page.copied()


async def test_f_unfolds_the_explanation_and_it_stays_unfolded() -> None:
    """The next deadlock is unfolded too; f again folds all sections."""
    two = [*ring_of("ann", "bob"), *ring_at("/v", "/w")]
    async with page_on(PAGE, looked(two), (120, 24)) as (_, pilot):
        folded = await shown(pilot)
        open_ = await shown(pilot, "f")
        other = await shown(pilot, "down")
        again = await shown(pilot, "f")

    assert ("▸ Proof" in folded, "CONFIDENCE" in folded) == (True, False)
    assert "CONFIDENCE" in open_
    assert "CONFIDENCE" in other
    assert "▸ Proof" in again


async def test_enter_left_and_right_fold_one_section() -> None:
    """That of the line under the cursor. In a window with room for all, none is folded before."""
    async with page_on(PAGE, looked(ring_of("ann", "bob")), (120, 60)) as (_, pilot):
        assert "▾ Proof" in await shown(pilot)
        await shown(pilot, "f")
        await shown(pilot, "enter", "G")
        sentence = await shown(pilot, "enter")
        closed = await shown(pilot, "left")
        opened = await shown(pilot, "right")

    assert "▾ Full sentence" in sentence
    assert "▸ Proof" in sentence
    assert "▸ Full sentence" in closed
    assert "▾ Full sentence" in opened


def ring_at(*paths: str) -> list[AnyFact]:
    """A ring of cid and dee in two locks."""
    queues = zip(paths, (("cid", "dee"), ("dee", "cid")), strict=True)
    return [
        fact
        for path, names in queues
        for fact in facts(*(k(name, at) for at, name in enumerate(names)), path=path)
    ]


async def test_a_filter_leaves_matching_findings() -> None:
    """By rule, name, lock or words."""
    async with page_on(PAGE, trouble()) as (app, pilot):
        app.set_filter("orphan")
        text = await shown(pilot)

        assert "DEADLOCKS\n" not in text
        assert "orphan" in text


async def test_no_key_breaks_it() -> None:
    """Any keys, in any order, on any report."""
    keys = ["down", "G", "o", "O", "space", "left", "right", "f", "d", "enter", "escape", "tab"]
    async with page_on(PAGE, looked(ring_of("ann", "bob", behind=9))) as (app, pilot):
        for key in [*keys, *reversed(keys), "pagedown", "pageup", "g", "plus", "minus", "p", "p"]:
            await pilot.press(key)
        await shown(pilot, "escape")

        assert app.is_running


async def test_the_selected_finding_stays_when_a_worse_one_comes() -> None:
    """A new deadlock is first in the list; the cursor stays where it was."""
    some = trouble()
    async with page_on(PAGE, some) as (app, pilot):
        await shown(pilot, "down")
        before = app.selection.case
        app.feed.send(looked(ring_of("new", "newer"))[-1])  # type: ignore[attr-defined]
        app.feed.send(some[-1])  # type: ignore[attr-defined]
        await shown(pilot)

        assert app.selection.case == before


def test_a_node_without_session_is_not_called_disconnected() -> None:
    """An orphan has no session that could be missing from the tables: it is an orphan, no more."""
    rules = {finding.rule for finding in deadlock_frames()[-1].report.findings}

    assert "B1" in rules
    assert "P1" not in rules


async def test_a_large_window_shows_the_last_minute_of_a_deadlock() -> None:
    """Its clients come first; Enter opens the timeline of one."""
    async with page_on(PAGE, looked(ring_of("ann", "bob")), (200, 60)) as (app, pilot):
        lines = (await shown(pilot)).splitlines()
        app.screen.set_focus(app.query_one("#case-minute"))
        await shown(pilot, "g", "enter")

        assert panel(lines, "Last 60 s")[0].split()[0] in ("ann", "bob")
        assert app.page is not None
        assert app.page.entry.name == "timeline"


async def test_a_last_minute_without_links_opens_nothing() -> None:
    """Enter followed the link of the explanation above it, where the cursor had been."""
    async with page_on(PAGE, looked(ring_of("ann", "bob")), (200, 60)) as (app, pilot):
        await shown(pilot)
        minute = app.query_one("#case-minute", MinutePanel)
        app.screen.set_focus(minute)
        minute.show([])
        await shown(pilot, "enter")

        assert app.page is not None
        assert app.page.entry.name == "findings"
