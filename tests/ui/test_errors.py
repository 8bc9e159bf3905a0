"""A failing drawing is reported, and the rest of the screen still works."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, painted, settled, until

from zktop.ui.base_app import MAX_LOG_BYTES, ErrorLog
from zktop.ui.screens.locks.screen import LocksScreen
from zktop.ui.styled_text import Line
from zktop.ui.textual_fixes.work_in_steps import call_in_steps
from zktop.ui.widgets.header import PageHeader
from zktop.ui.widgets.table import Table


def failing(*_: object) -> Line:
    """Fail as a bug would."""
    raise KeyError("x\x1b[2J")


def head(app: object) -> str:
    """The text of the header."""
    lines = app.query_one(PageHeader)._lines
    return " ".join("".join(run.text for run in one) for one in lines)


async def until_shown(pilot: Pilot[int]) -> str:
    """Wait until the header shows an error."""
    await until(pilot, lambda: "failed (" in head(pilot.app), "the error in the header")
    return " ".join(head(pilot.app).split())


async def test_a_failing_page_is_reported_and_the_others_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The header says what failed, and where the details are; the traceback is in the file."""
    monkeypatch.setattr(LocksScreen, "show", lambda _page, _moment: failing())
    log = tmp_path / "deep" / "ui.log"
    app = app_of(*trouble(), log=log)
    async with app.run_test(size=(120, 36)) as pilot:
        said = await until_shown(pilot)
        await pilot.press("2")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "lock", "screen 2"
        )

        assert "Drawing screen Locks failed (KeyError: 'x" in said
        assert "The rest continues." in said
        assert str(log) in said.replace(" ", "")
        assert "\x1b" not in said
    assert "Traceback" in log.read_text()
    assert log.read_text().count("Traceback") == 1  # however often it was drawn


async def test_a_failing_step_is_reported_and_is_the_last() -> None:
    """What waits for the steps goes on without them."""
    app, then = app_of(*trouble()), list[str]()

    def steps() -> Iterator[None]:
        yield
        failing()
        yield

    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert app.page is not None
        call_in_steps(app.page, steps(), then=lambda: then.append("went on"))
        said = await until_shown(pilot)

        assert "A step failed (KeyError" in said
        assert then == ["went on"]


async def test_a_line_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says that it could not be drawn."""
    drawn = Table.draw

    def draw(table: "Table[object]", index: int, width: int) -> Line:
        return failing() if index == 0 else drawn(table, index, width)

    monkeypatch.setattr(Table, "draw", draw)
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await until_shown(pilot)
        shown = [strip.text for strip in painted(app)]

        assert sum("could not be drawn" in one for one in shown) == 1
        assert any("/locks/stock" in one for one in shown)


async def test_a_failing_key_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next key works."""
    monkeypatch.setattr(LocksScreen, "copied", lambda _page: failing())
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("y")
        await until_shown(pilot)
        await pilot.press("question_mark")
        await pilot.pause()

        assert len(app.screen_stack) == 2


async def test_a_failing_key_of_a_stock_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error in Textual's own handling of a key does not end the program, either."""
    monkeypatch.setattr(Input, "action_home", failing)
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", "a", "home", "b")
        said = await until_shown(pilot)

        assert "This action failed (KeyError: 'x" in said
        assert app.screen.query_one(Input).value == "ab"


def test_details_that_cannot_be_written_are_no_second_error(tmp_path: Path) -> None:
    """For example on a full disk, without a folder, or with a log that is too large."""
    blocked = tmp_path / "file"
    blocked.touch()
    full = tmp_path / "ui.log"
    full.write_text("x" * (MAX_LOG_BYTES + 1))

    said = ErrorLog(blocked / "ui.log").note("This", ValueError("no"))
    assert "could not be written" in said
    assert "is full" in ErrorLog(full).note("This", ValueError("no"))
    assert ErrorLog().note("This", ValueError("no")).endswith("The rest continues.")


async def test_a_filter_that_closes_while_the_app_ends_is_no_error() -> None:
    """The line for filters loses the focus, and says so when there is no screen any more."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        await settled(pilot)

    app.set_filter("orders")

    assert app.error_log.last is None


async def test_a_page_that_opens_while_the_app_ends_is_no_error() -> None:
    """A signal may end the app before its first page is there."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        await settled(pilot)
        app.exit()
        await app.query_one("#clusters").remove()
        await app.show_page("sessions")

    assert app.error_log.last is None
