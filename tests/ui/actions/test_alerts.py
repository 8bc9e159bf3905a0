"""The keys for alerts: acknowledge one or all, hide notes, and go to the next one."""

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from ui.example_ensemble import ORDERS, trouble
from ui.fake_feed import app_of, settled
from ui.screens.findings.test_groups import radius
from ui.screens.locks.locks_app import SMALL, WIDE

from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.screens.locks.panes import AlertsPane

FILM = trouble()
DEADLOCK = FILM[-1].report.deadlocks[0]
ORPHAN = next(finding for finding in FILM[-1].report.findings if finding.rule == "B1")


def pane(app: Zktop) -> str:
    """The alerts pane of screen 1: its title, facts and lines."""
    found = app.query_one(AlertsPane)
    drawn = ("".join(run.text for run in found.draw(at, 100)) for at in range(found.count))
    return "\n".join((found.words.title, found.words.facts, *drawn))


def said(app: Zktop) -> list[str]:
    """The messages in the corner."""
    return [one.message for one in app._notifications]


async def after(pilot: Pilot[int], *keys: str) -> str:
    """The alerts pane after these keys."""
    await pilot.press(*keys)
    await settled(pilot)
    app = pilot.app
    assert isinstance(app, Zktop)
    return pane(app)


async def test_a_acknowledges_the_worst_alert_from_the_table() -> None:
    """It leaves the list and is counted, and a message names it."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        shown = await after(pilot, "a")
        text = "\n".join(await settled(pilot))

        assert "Deadlock" not in shown
        assert "Orphan · confirmed" in shown
        assert "1 critical · 1 acknowledged" in shown
        assert any(one.endswith("/locks/stock. It returns if it gets worse.") for one in said(app))
        assert "1 deadlock acknowledged" in text


async def test_a_acknowledges_the_alert_under_the_cursor() -> None:
    """With the keys in the pane."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.query_one(AlertsPane).focus()
        shown = await after(pilot, "down", "down", "down", "a")

        assert "Deadlock" in shown
        assert app.visit.acknowledged.covered(FILM[-1].report) == {ORPHAN.id}


async def test_capital_a_acknowledges_all_and_takes_all_back() -> None:
    """Only one line remains."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        before = pane(app)
        shown = await after(pilot, "A")
        again = await after(pilot, "A")

        assert "▸ No new alerts · 2 acknowledged" in shown
        assert "ORPHAN" not in shown
        assert again == before


@pytest.mark.parametrize("key", ["enter", "right"])
async def test_acknowledged_alerts_are_shown_on_demand(key: str) -> None:
    """They are dimmed below their line, and a undoes one of them."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "A")
        app.query_one(AlertsPane).focus()
        opened = await after(pilot, key)
        found = app.query_one(AlertsPane)
        inks = {run.ink for run in found.draw(found.count - 1, 100)}
        shown = await after(pilot, "down", "a")

        assert "DEADLOCK" in opened
        assert inks == {"dim"}
        assert "1 critical · 1 acknowledged" in shown
        assert app.visit.acknowledged.covered(FILM[-1].report) == {ORPHAN.id}


async def test_an_alert_that_gets_worse_comes_back_by_itself() -> None:
    """With the next report."""
    report = FILM[-1].report
    worse = replace(DEADLOCK, behind=DEADLOCK.behind + 5)
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        shown = await after(pilot, "A")
        app.feed.send(Frame(replace(report, deadlocks=(worse,)), ()))  # type: ignore[attr-defined]
        again = await after(pilot)

        assert "2 acknowledged" in shown
        assert "Deadlock" in again
        assert "1 critical · 1 acknowledged" in again


async def test_a_group_is_acknowledged_as_a_whole() -> None:
    """Each of its alerts."""
    app = app_of(*radius())
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        shown = await after(pilot, "a")

        assert "4 acknowledged" in shown
        assert "\u00d74" not in shown


async def test_i_hides_notes_and_shows_them_again() -> None:
    """The frame still shows their number."""
    app = app_of(*radius())
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        before = pane(app)
        shown = await after(pilot, "i")
        again = await after(pilot, "i")

        assert "4 notes hidden" in shown
        assert "BLAST RADIUS" not in shown
        assert again == before


async def test_hidden_notes_are_hidden_on_screen_3_too() -> None:
    """With their number."""
    app = app_of(*radius())
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("3", "i")
        shown = "\n".join(await settled(pilot))

        assert "blast-radius" not in shown
        assert "4 notes hidden" in shown


async def test_a_on_screen_3_moves_the_finding_below_the_others() -> None:
    """The cursor stays on it, so that a again takes it back."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("3", "a")
        lines = [line[1:34].strip() for line in await settled(pilot)]
        case = app.selection.case
        await pilot.press("a")
        after_all = [line[1:34].strip() for line in await settled(pilot)]

        assert "DEADLOCKS" not in lines
        assert lines.index("FINDINGS") < lines.index("ACKNOWLEDGED")
        assert case == DEADLOCK.id
        assert "ACKNOWLEDGED" not in after_all


async def test_n_goes_to_warnings_too_and_says_if_there_is_no_other_alert() -> None:
    """The header counts them, and a click on the count goes the same way."""
    calm = [replace(one, severity="warning", id=f"w{n}") for n, one in enumerate([ORPHAN] * 2)]
    last = FILM[-1]
    report = replace(last.report, findings=(ORPHAN, *calm), deadlocks=())
    app = app_of(*FILM[:-1], replace(last, report=report))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        seen = []
        for _ in range(4):
            await pilot.press("n")
            await settled(pilot)
            seen.append(app.subject.case)
        await pilot.press("a", "n", "a", "n", "n")
        await settled(pilot)

        assert seen == [ORPHAN.id, "w0", "w1", ORPHAN.id]
        assert said(app)[-1] == "There is no other alert."


async def test_n_skips_what_is_acknowledged() -> None:
    """It goes to the orphan; pressed again, it finds no new alert."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("a", "n")
        await settled(pilot)
        first = app.subject.case
        await pilot.press("1", "A", "n")
        await settled(pilot)

        assert first == ORPHAN.id
        assert said(app)[-1] == "No new alerts. 2 acknowledged."


async def test_a_row_keeps_its_state() -> None:
    """An acknowledged deadlock is still one."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "A")
        lines = await settled(pilot)

        assert any("DEADLOCK?" in line and ORDERS in line for line in lines)


async def test_without_alerts_the_keys_say_so() -> None:
    """Nothing happens."""
    calm = replace(FILM[-1].report, findings=(), deadlocks=())
    app = app_of(Frame(calm))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("a", "A")
        await settled(pilot)

        assert said(app) == ["No alert is selected.", "No alerts."]


async def test_a_small_window_counts_them_too() -> None:
    """The numbers are in the title line."""
    app = app_of(*FILM)
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        await pilot.press("a")
        lines = await settled(pilot)

        assert any("1 critical · 1 acknowledged" in line for line in lines)


async def test_a_recording_has_the_same_keys() -> None:
    """During playback alerts begin and end with the cursor, so no acknowledgement ends."""
    app = app_of(*FILM, is_live=False)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.seek(FILM[-1].at)
        shown = await after(pilot, "A")
        app.seek(FILM[0].at)
        await settled(pilot)
        app.seek(FILM[-1].at)
        again = await after(pilot)

        assert "2 acknowledged" in shown
        assert again == shown
