"""Keys that are typed faster than the UI handles them: they do the same as keys typed slowly."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from textual import events
from textual.css.query import NoMatches
from textual.widgets import OptionList
from ui.example_ensemble import trouble
from ui.example_states import idle_stage
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, app_of, pressed, settled, until

from zktop.app.ui_settings import theme_list
from zktop.ui.app import Zktop
from zktop.ui.base_app import BaseApp
from zktop.ui.dialogs.new_contender import Menu
from zktop.ui.messages import PageReady
from zktop.ui.screens.timeline.screen import TimelineScreen
from zktop.ui.settings import UiSettings
from zktop.ui.textual_fixes import key_queue, work_in_steps
from zktop.ui.textual_fixes.work_in_steps import call_in_steps
from zktop.ui.widgets.filter_line import FilterLine

BUSY_S = 60.0


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold keys for as long as a busy machine needs for them."""
    monkeypatch.setattr(key_queue, "MAX_HOLD_S", BUSY_S)


async def hasty(app: Zktop, *keys: str) -> None:
    """Press keys without waiting for their effects."""
    for key in keys:
        app.post_message(events.Key(key, None))
    await asyncio.sleep(0)


DIALOGS = ["question_mark", "x", "colon", "N", "S", "T", "t"]


def equipped(page: str) -> Zktop:
    """An app that has all its dialogs."""
    look = UiSettings(page=page, themes=partial(theme_list, {"XDG_CONFIG_HOME": "/nowhere"}))
    return Zktop(FakeFeed(*trouble()), FakeContenders(), settings=look)


@pytest.mark.parametrize("key", ["enter", "escape"])
@pytest.mark.parametrize("opens", DIALOGS)
async def test_a_dialog_is_closed_once(
    opens: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second enter or escape that is already queued closes nothing else."""
    monkeypatch.chdir(tmp_path)  # the first enter may write a file
    app = equipped("timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(opens)
        await settled(pilot)
        screen = app.screen
        await hasty(app, *[key] * 4)
        await settled(pilot)

        assert app.is_running
        assert app.screen is screen or len(app.screen_stack) <= 2


async def test_a_page_key_may_come_before_the_menu_is_drawn() -> None:
    """A menu that has the keys and no lines yet stays where it is; Textual's would end the app."""
    app = Zktop(FakeFeed(*trouble()), idle_stage(), settings=UiSettings(page="demo"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("N")
        await settled(pilot)
        menu = app.screen.query_one("#recipe", Menu).query_one(OptionList)
        menu.highlighted = 1

        menu.action_page_up()
        menu.action_page_down()

        assert menu.highlighted == 1


async def test_enter_means_what_was_typed() -> None:
    """Enter runs the result of all letters, even if it is pressed right after them."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, "colon", *"deadlocks", "enter")
        await until(pilot, lambda: app.page.entry.name == "findings", "screen 3")


@pytest.mark.parametrize("turns", [(), ("2",), ("5",)])
async def test_text_typed_after_the_filter_key_is_the_filter(
    turns: tuple[str, ...],
) -> None:
    """No letter runs an action, even while another page is loading."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, *turns, "slash", *"order")
        await settled(pilot)

        assert isinstance(app.focused, FilterLine)
        assert app.focused.value == "order"


@pytest.mark.parametrize("turn", ["1", "2", "5"])
async def test_the_filter_can_be_left_by_fast_keys(turn: str) -> None:
    """Escape closes it, and the next key turns the page."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, turn, "slash", "escape", "escape", "escape", "1", "1")
        await settled(pilot)

        assert not app.screen.query_one(FilterLine).has_class("-open")
        assert app.page is not None
        assert app.page.entry.name == "locks"


async def test_a_click_elsewhere_keeps_the_filter() -> None:
    """The line closes, the filter stays, and the clicked pane has the focus."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"order")
        await pilot.click("#locks", offset=(5, 1))
        await settled(pilot)

        assert app.visit.filter_text == "order"
        assert not app.screen.query_one(FilterLine).has_class("-open")
        assert app.focused is app.screen.query_one("#locks")


async def test_the_filter_stays_open_while_the_terminal_has_no_focus() -> None:
    """The user copies a name from another window; the letters after it belong to the filter."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"or")
        app.post_message(events.AppBlur())
        await settled(pilot)
        app.page.post_message(PageReady())  # its panes were mounted late
        await settled(pilot)
        app.post_message(events.AppFocus())
        await settled(pilot)
        await pressed(pilot, "d")
        await settled(pilot)

        assert isinstance(app.focused, FilterLine)
        assert app.visit.filter_text == "ord"


async def test_a_filter_that_is_closed_keeps_no_key_for_itself() -> None:
    """Textual sends letters to a text field for as long as it has the focus."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.query_one(FilterLine).post_message(events.Blur())  # on its way from what was before
        app.action_filter()
        await settled(pilot)
        await pressed(pilot, "3")
        await settled(pilot)

        assert named(app) == "findings"


@pytest.mark.parametrize("opens", DIALOGS)
async def test_a_key_pressed_while_a_dialog_closes_is_not_lost(opens: str) -> None:
    """It goes to the page below, not to the closing dialog."""
    app = equipped("timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(opens)
        await settled(pilot)
        is_open = len(app.screen_stack) > 1
        await hasty(app, "escape", "3")
        await settled(pilot)

        assert is_open
        assert named(app) == "findings"


WAYS = [
    ("T", "enter", "4"),
    ("colon", *"two", "escape", "4"),
    ("S", "down", "enter", "4"),
    ("t", *"+1s", "enter", "4"),
    ("slash", "a", "enter", "4"),
]


@pytest.mark.parametrize("keys", WAYS, ids="".join)
async def test_all_keys_of_a_dialog_may_be_typed_ahead(keys: tuple[str, ...]) -> None:
    """From the page into the dialog and back to the page, before the first of it is drawn."""
    app = equipped("timeline" if keys[0] == "t" else "locks")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, *keys)
        await settled(pilot)

        assert len(app.screen_stack) == 1
        assert named(app) == "sessions"


async def test_an_answer_may_be_typed_before_the_question_is_drawn() -> None:
    """These are the two questions before a first contender outside the demo root."""
    joins = {("kazoo-lock", "exclusive"): ("predecessor", "exclusive")}
    stage = FakeContenders(allow="ask", joins=joins)
    app = Zktop(FakeFeed(*trouble()), stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, "X", *"demo", "enter", *"orders", "enter", "4")
        await settled(pilot)

        assert [(one[0], one[2]) for one in stage.asked] == [("start", "orders")]
        assert named(app) == "sessions"


async def test_keys_after_a_page_turn_are_for_the_new_page() -> None:
    """Even while that page is still being mounted."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, "5", "m")
        await settled(pilot)

        assert isinstance(app.page, TimelineScreen)
        assert app.page._mark is not None


async def test_keys_that_wait_keep_their_order() -> None:
    """Whatever each of them waits for."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await hasty(app, "2", "slash", *"abcdefgh", "left", "X", "enter", "3")
        await settled(pilot)

        assert named(app) == "findings"
        await pilot.press("2")
        assert app.visit.filter_text == "abcdefgXh"


async def test_keys_are_delivered_after_a_while_in_any_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A key delivered too early is better than a dead keyboard."""
    monkeypatch.setattr(key_queue, "MAX_HOLD_S", 0.01)
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.key_queue.wait()  # for nobody
        await hasty(app, "3", "tab")
        await until(pilot, lambda: named(app) == "findings", "screen 3")


async def test_no_key_waits_for_long_however_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """If keys were handled seconds apart, zktop would seem to act by itself."""

    async def deaf(_app: BaseApp, _message: key_queue.KeyHandled) -> None:
        """Never report that a key was handled."""

    monkeypatch.setattr(key_queue, "MAX_HOLD_S", 1.0)
    monkeypatch.setattr(BaseApp, "on_key_handled", deaf)
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await hasty(app, *("down", "up") * 20, "3")
        await until(pilot, lambda: named(app) == "findings", "screen 3")


async def test_ctrl_c_does_not_wait() -> None:
    """Not even for a message that never comes."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        await settled(pilot)
        app.key_queue.wait()
        await hasty(app, "ctrl+c")
        await settled(pilot)

        assert not app.is_running


async def test_work_in_steps_waits_for_a_key() -> None:
    """The key passes through several widgets, and no step comes in between."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        seen, over = list[bool](), list[str]()

        def steps() -> Iterator[None]:
            for _ in range(100):
                seen.append(app.key_queue.is_busy)
                yield

        assert app.page is not None
        call_in_steps(app.page, steps(), then=lambda: over.append("end"))
        while not over:
            await pressed(pilot, "down")

        assert not any(seen)


async def test_work_in_steps_goes_on_if_a_key_is_never_handled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a pause."""
    app, over = app_of(*trouble()), list[str]()
    async with app.run_test() as pilot:
        await settled(pilot)
        monkeypatch.setattr(work_in_steps, "MAX_PAUSE_S", 0.01)
        app.key_queue.wait()  # for nothing
        call_in_steps(app, iter((None, None)), then=lambda: over.append("end"))
        await until(pilot, lambda: over, "the last step")


def named(app: Zktop) -> str:
    """The visible page; none while it is being mounted."""
    with suppress(NoMatches):
        return app.page.entry.name if app.page is not None else ""
    return ""


async def test_keys_held_at_the_end_are_dropped() -> None:
    """There is no screen left to receive them."""
    app = app_of(*trouble())
    async with app.run_test() as pilot:
        await settled(pilot)
        await hasty(app, "2", "5", "q", *"123456")
        await pilot.pause()

    assert app.error_log.last is None
