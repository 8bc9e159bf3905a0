"""The help and the footer list the actions of a page with their current keys."""

from typing import ClassVar

import pytest
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, settled

from zktop.model.findings.catalogue import RULES
from zktop.ui.dialogs.help import GROUPS, INKS, HelpDialog, help_lines
from zktop.ui.inks import INKS as ALL_INKS
from zktop.ui.keys import KEYS, Action, key_label, known_on, with_user_keys
from zktop.ui.screens import PAGES
from zktop.ui.screens.locks.screen import LocksScreen
from zktop.ui.screens.page import Page
from zktop.ui.screens.timeline.screen import TimelineScreen
from zktop.ui.styled_text import text_of, width_of
from zktop.ui.widgets.footer import drawn
from zktop.ui.widgets.text_view import TextView

UNTOLD = {
    "address",
    "election",
    "alarm",
    "caution",
    "allowed",
    "tab",
    "medium",
    "warm",
    "hot",
    "high",
    "plain",
    "dim",
    "strong",
    "title",
    "key",
    "selected",
}  # they say nothing of a state


SIZES = [(120, 36), (80, 24)]


class Bare(Page):
    """A page whose help has a text only."""

    HELP: ClassVar[str | None] = "**Bold**, a \\*, `*` for ten or more, `/locks/*`."


async def opened(page: str, size: tuple[int, int], *keys: str) -> str:
    """The help of a page after these keys."""
    app = app_of(*trouble(), page=page)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("question_mark", *keys)
        return "\n".join(await settled(pilot))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
async def test_the_first_screenful_has_the_most_useful_keys(
    entry: object, size: tuple[int, int]
) -> None:
    """Each with its key, and what it does on this screen."""
    page = entry.new_page()
    names = {key.id: key_label(key.names[0]) for key in known_on(entry.name)}
    text = await opened(entry.name, size)

    assert len(page.HELP_KEYS) <= 8
    for action, does in page.HELP_KEYS.items():
        assert f" {names[action]:<7} {does} " in text


def test_the_timeline_says_where_a_key_does_not_return_to_now() -> None:
    """In a recording, the key only goes back."""
    assert TimelineScreen.HELP_KEYS["back"] == "to now if live, or back"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
async def test_the_first_screenful_explains_the_columns(
    entry: object, size: tuple[int, int]
) -> None:
    """An example row, with a label below each of its columns."""
    shown = await opened(entry.name, size)

    for cell in entry.new_page().HELP_ROW:
        assert cell.text in shown
        assert f"└ {cell.says}" in shown


@pytest.mark.parametrize("key", [key for key in KEYS if key.short], ids=lambda key: key.id)
def test_typing_a_word_of_the_footer_finds_its_key(key: Action) -> None:
    """`export` finds the key whose line says `write a file`."""
    page = key.pages[0] if key.pages else "locks"
    found = map(text_of, help_lines(Bare(), tuple(known_on(page)), 90, key.short))
    shown = " ".join(" ".join(found).split())

    assert key.help in shown


def test_all_typed_words_must_be_there() -> None:
    """They may be in any order, but in the same entry."""
    keys = tuple(known_on("locks"))

    assert any("next alert" in text_of(one) for one in help_lines(Bare(), keys, 90, "alert next"))
    assert text_of(help_lines(Bare(), keys, 90, "alert quit")[0]) == "No match."


def test_the_rules_come_last() -> None:
    """All rules are listed, with their ids in JSON and for --fail-on."""
    found = [text_of(one).strip() for one in help_lines(Bare(), tuple(known_on("locks")), 200)]
    first = next(at for at, one in enumerate(found) if one.startswith("Rules"))

    assert [one.split()[0] for one in found[first + 1 :]] == [rule.id for rule in RULES]


@pytest.mark.parametrize("key", ["question_mark", "f1"])
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
async def test_it_describes_the_visible_screen(entry: object, key: str) -> None:
    """Either key opens it, and escape closes it."""
    app = app_of(*trouble(), page=entry.name)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        lines = await settled(pilot)
        opened = isinstance(app.screen, HelpDialog)
        await pilot.press("escape")
        await settled(pilot)

        assert opened
        assert any(f"Help: {app.page.entry.title}" in line for line in lines)
        assert len(app.screen_stack) == 1
        assert app.page.HELP


async def test_it_narrows_to_what_is_typed() -> None:
    """Without a match, it says so."""
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark", *"clipboardx")
        nothing = await settled(pilot)
        await pilot.press(*["backspace"] * 10, *"next alert")
        lines = await settled(pilot)

        assert any("No match." in line for line in nothing)
        assert any("next alert" in line for line in lines)
        assert not any("previous pane" in line for line in lines)


async def test_it_scrolls() -> None:
    """It is longer than a small terminal."""
    app = app_of()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        first = await settled(pilot)
        await pilot.press("pagedown", "pagedown")
        later = await settled(pilot)

        assert first != later
        assert app.screen.query_one(TextView).scroll_offset.y > 20


@pytest.mark.parametrize("width", [40, 76, 96])
def test_every_key_of_a_page_is_in_it(width: int) -> None:
    """In a group, with its description; no line is too wide."""
    keys = tuple(known_on("timeline"))
    lines = help_lines(Bare(), keys, width)
    shown = " ".join(" ".join(map(text_of, lines)).split())

    assert {key.group for key in KEYS} <= set(GROUPS)
    assert [key.help for key in keys if key.help not in shown] == []
    if width > 90:
        assert max(map(width_of, lines)) <= width


def test_the_text_about_a_screen_names_the_keys_of_the_user() -> None:
    """By default, `f` lists every lock."""
    keys = tuple(known_on("locks", with_user_keys({"fold": "f5"})))
    text = " ".join(text_of(one).strip() for one in help_lines(LocksScreen(), keys, 90))

    assert "f5 lists every lock" in text


def test_code_is_shown_unchanged() -> None:
    """A star means emphasis, but in code it is only a star."""
    shown = text_of(help_lines(Bare(), (), 90)[0])

    assert shown.strip() == "Bold, a *, * for ten or more, /locks/*."


def test_inks_are_explained() -> None:
    """Every ink that means a state has an explanation."""
    assert {ink for _, ink, _ in INKS} == set(ALL_INKS) - UNTOLD


def test_it_lists_the_keys_that_the_user_has_set() -> None:
    """They replace the keys of the table."""
    keys = tuple(known_on("locks", with_user_keys({"export": "f9"})))
    row = next(one for one in map(text_of, help_lines(Bare(), keys, 90)) if "write a file" in one)

    assert row.split()[0] == "f9"


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_the_foot_has_room_for_help_and_quit(entry: object, width: int) -> None:
    """Other keys are left out first."""
    foot = text_of(drawn(known_on(entry.name), width))

    assert len(foot) <= width
    assert "? Help" in foot
    assert "q Quit" in foot
    assert "^" not in foot


async def test_a_click_on_the_foot_does_what_the_key_does() -> None:
    """The mouse works there, too."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)
        await pilot.click("#foot", offset=(lines[-1].index("Help"), 0))
        await settled(pilot)

        assert isinstance(app.screen, HelpDialog)


async def test_a_key_press_in_a_dialog_does_not_reach_the_page() -> None:
    """The cursor moves in the dialog, but not on the page below."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        before = app.page.subject
        await pilot.press("question_mark", "down", "down")
        await settled(pilot)

        assert app.page.subject == before
