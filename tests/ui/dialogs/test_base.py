"""The behaviour of all dialogs."""

import pytest
from rich.console import RenderableType
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Button
from ui.example_states import busy
from ui.fake_contenders import POLL, order_of
from ui.fake_feed import app_of, pressed, settled, until

from zktop.ui.app import Zktop
from zktop.ui.dialogs.base import Dialog
from zktop.ui.dialogs.export import ExportDialog
from zktop.ui.dialogs.help import HelpDialog
from zktop.ui.dialogs.jump import JumpDialog
from zktop.ui.dialogs.new_contender import NewContender
from zktop.ui.dialogs.question import YesNoDialog
from zktop.ui.screens import PAGES


@pytest.mark.parametrize("keys", [("leave",), ("up", "accept", "leave")])
async def test_a_dialog_may_be_closed_before_its_fields_are_there(keys: tuple[str, ...]) -> None:
    """On a busy machine, keys can arrive before the dialog is mounted."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        app.push_screen(dialog := ExportDialog(["text"], "zktop"))
        for key in keys:
            await app.run_action(key, dialog)
        await until(pilot, lambda: len(app.screen_stack) == 1, "the dialog is closed")
        assert app.error_log.last is None


async def test_two_keys_at_once_close_it_once() -> None:
    """The second key arrives while the dialog closes; it must not close the app's last screen."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        app.push_screen(letters := JumpDialog([]))
        await until(pilot, lambda: letters.is_mounted, "the letters are there")
        letters.dismiss(None)
        letters.dismiss(None)
        await until(pilot, lambda: len(app.screen_stack) == 1, "the letters are gone")
        await settled(pilot)
        assert app.error_log.last is None


async def test_a_dialog_below_another_stays_and_can_be_closed_later() -> None:
    """On a busy machine, a key for it may be handled after the next dialog has opened."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        below, above = JumpDialog([]), JumpDialog([])
        for one in (below, above):
            app.push_screen(one)
            await until(pilot, lambda one=one: one.is_mounted, "the letters are there")
        below.dismiss(None)
        assert app.screen is above

        for one in (above, below):
            one.dismiss(None)
        await until(pilot, lambda: len(app.screen_stack) == 1, "both are gone")
        assert app.error_log.last is None


@pytest.mark.usefixtures("paints")
async def test_a_dialog_is_drawn_once_as_it_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its text; Textual alone draws it empty, then laid out again, then complete."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        drawn: list[str] = []
        plain = app._display

        def counted(screen: Screen[object], renderable: RenderableType | None) -> None:
            if renderable is not None and isinstance(screen, HelpDialog):
                drawn.append(type(renderable).__name__)
            plain(screen, renderable)

        monkeypatch.setattr(app, "_display", counted)
        await pilot.press("question_mark")
        await settled(pilot)

        assert drawn[0] == "LayoutUpdate"  # all of it
        assert drawn.count("LayoutUpdate") == 1


class Failing(NewContender):
    """Fails when the user is done."""

    def action_accept(self) -> None:
        """Fail as a bug would."""
        raise KeyError("x")


@pytest.mark.parametrize("how", ["enter", "button"])
async def test_an_error_in_a_dialog_does_not_end_the_app(how: str) -> None:
    """Neither after Enter in a text field, nor after a button."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        app.push_screen(form := Failing([POLL], order_of("poll", "/zktop-demo/x")))
        await until(pilot, lambda: form.is_mounted, "the form is open")
        if how == "enter":
            await pilot.press("enter")
        else:
            form.query_one("#start", Button).press()
        await until(pilot, lambda: app.trouble, "the error in the header")

        assert app.trouble.startswith("This action failed (KeyError: 'x'). The rest continues.")


async def test_a_title_is_plain_text() -> None:
    """Titles come from the config, too: brackets are no markup."""
    app = app_of(*busy().news)
    async with app.run_test() as pilot:
        await settled(pilot)
        app.push_screen(question := YesNoDialog("Kill [/] [host]", "Really?", "kill it"))
        await until(pilot, lambda: question.is_mounted, "the question")
        lines = await settled(pilot)

        assert any("─ Kill [/] [host] ─" in one for one in lines)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
async def test_the_page_below_a_dialog_keeps_its_layout(name: str) -> None:
    """It is drawn again while the dialog is open, and has the classes of its own screen."""
    app = app_of(*busy().news, page=name)
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        before = regions(app)
        await pressed(pilot, "x")
        app.draw()
        await settled(pilot)

        assert isinstance(app.screen, Dialog)
        assert regions(app) == before


def regions(app: Zktop) -> dict[str | None, Region]:
    """Where each pane of the page is."""
    assert app.page is not None
    return {pane.id: pane.region for pane in app.page.query("*") if pane.focusable}
