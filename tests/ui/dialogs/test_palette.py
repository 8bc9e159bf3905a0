"""The command palette finds everything by name, even among ten thousand locks."""

import pytest
from model.make_facts import NOW, lock, session
from textual.pilot import Pilot
from ui.example_ensemble import ORDERS, trouble
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, app_of, frames, pressed, settled, until

from zktop.app.ui_settings import theme_list
from zktop.demo.permission import Allow
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.ui.app import Zktop
from zktop.ui.dialogs import palette, palette_items
from zktop.ui.dialogs.palette import MAX_IN_GROUP, PaletteDialog, search
from zktop.ui.dialogs.palette_items import PaletteItem, groups_of
from zktop.ui.settings import UiSettings
from zktop.ui.widgets.text_view import TextList

SCENE = "Play a scene"
WRITING = ["Demo: writes to ZooKeeper", "Scenes: write to ZooKeeper"]


async def asked(pilot: Pilot[int], text: str) -> None:
    """Type into the palette, and wait for what it finds."""
    await settled(pilot)
    await pilot.press("colon", *text)
    palette = pilot.app.screen
    assert isinstance(palette, PaletteDialog)
    target = palette.query_one(TextList).target
    assert isinstance(target, PaletteItem)
    assert text.casefold() in target.name.casefold()


async def test_a_lock_is_opened_on_screen_2() -> None:
    """A part of its path is enough."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, str(ORDERS))
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "lock", "screen 2"
        )
        await settled(pilot)

        assert app.subject.path == ORDERS


async def test_a_session_is_opened_on_screen_4() -> None:
    """The id of the session is enough."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, session_text(session("bob")))
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "sessions", "screen 4"
        )
        await settled(pilot)

        assert app.subject.session == session("bob")


async def test_it_goes_to_a_screen() -> None:
    """By its name."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "timeline")
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "timeline", "screen 5"
        )


async def test_it_runs_an_action() -> None:
    """The effect is the same as that of its key."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "pause the display")
        await pilot.press("enter")
        await until(pilot, lambda: app.view_state.is_paused, "the pause")


async def test_it_applies_a_theme() -> None:
    """The theme changes at once."""
    designs = theme_list({"XDG_CONFIG_HOME": "/nowhere"})
    app = app_of(*trouble(), themes=lambda: designs)
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "zktop-safe")
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "zktop-safe", "the theme")


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_escape_leaves_it(key: str) -> None:
    """Either key may have opened it."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        await settled(pilot)
        opened = isinstance(app.screen, PaletteDialog)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1, "the palette to close")

        assert opened


async def test_no_more_than_a_screenful_is_found_among_many() -> None:
    """Each group is cut, and a line says that there are more."""
    many = [fact for number in range(400) for fact in lock(f"/locks/l{number:04}", "ann")]
    app = app_of(*frames((NOW, many), settings=Settings(roots=(Root("/locks/**"),))))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        all_of_them = search(groups_of(app), (), "locks l0")[0]
        one = search(groups_of(app), (), "l0399")[0]

    assert (all_of_them.title, len(all_of_them.items)) == ("Locks", MAX_IN_GROUP)
    assert all_of_them.note == "type more letters to see the others"
    assert [item.name for item in one.items] == ["/locks/l0399"]


async def test_names_of_znodes_are_no_markup() -> None:
    """A lock named [red] is found by that name."""
    app = app_of(*frames((NOW, lock("/locks/[red]x[/]", "[b]ann[/b]"))))
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "[red]x")
        lines = await settled(pilot)

    assert any("/locks/[red]x[/]" in line for line in lines)


async def opened(pilot: Pilot[int], typed: str = "") -> list[str]:
    """Open the palette, type a text, and return the lines of the screen."""
    await settled(pilot)
    await pressed(pilot, "colon")
    await pilot.press(*("space" if one == " " else one for one in typed))
    return await settled(pilot)


async def test_it_begins_with_what_was_chosen_last() -> None:
    """Until something was chosen, it begins with the screens."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 50)) as pilot:
        first = await opened(pilot)
        await pilot.press(*"sessions", "enter")
        again = await opened(pilot)

    recent = next(n for n, one in enumerate(again) if "Recent" in one)
    assert not any("Recent" in one for one in first)
    assert "Sessions" in again[recent + 1]
    assert recent < next(n for n, one in enumerate(again) if "Go to" in one)


@pytest.mark.parametrize(("allow", "listed"), [("ask", False), ("always", True)])
async def test_nothing_that_writes_is_listed_without_permission(
    *, allow: Allow, listed: bool
) -> None:
    """With permission it comes last."""
    stage = FakeContenders(allow=allow)
    app = Zktop(FakeFeed(*trouble()), stage, settings=UiSettings())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        groups = groups_of(app)
        names = [item.name for group in groups for item in group.find(())]

    assert (SCENE in names) is listed
    assert ([one.title for one in groups[-2:]] == WRITING) is listed


async def test_a_recording_lists_nothing_that_writes() -> None:
    """It has no contenders."""
    app = app_of(*trouble(), is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        names = [item.name for group in groups_of(app) for item in group.find(())]

    assert SCENE not in names


@pytest.mark.parametrize("letter", "uit")
async def test_a_letter_inside_its_name_does_not_quit(letter: str) -> None:
    """The user may press Enter after a typing error."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot, letter)
        target = app.screen.query_one(TextList).target

        assert isinstance(target, PaletteItem)
        assert target.name != "Quit"


@pytest.mark.parametrize("word", ["q", "q!", "quit", "exit"])
async def test_words_for_quit(word: str) -> None:
    """As in k9s and vi."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot, word)
        await pilot.press("enter")
        await until(pilot, lambda: not app.is_running, "the end")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (f"lock {ORDERS[1:]}", str(ORDERS)),
        ("session bob", session_text(session("bob"))),
        ("theme safe", "zktop-safe"),
        ("locks", "Locks"),
        ("timeline", "Timeline"),
        ("ctx", "Switch to another cluster"),
    ],
)  # fmt: skip
async def test_a_kind_and_a_name(typed: str, name: str) -> None:
    """The first word says what the second one names; a single word is any name."""
    designs = theme_list({"XDG_CONFIG_HOME": "/nowhere"})
    app = app_of(*trouble(), themes=lambda: designs)
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot, typed)
        target = app.screen.query_one(TextList).target

        assert isinstance(target, PaletteItem)
        assert target.name.startswith(name)


async def test_a_lock_comes_before_the_sentences_with_its_letters() -> None:
    """`or` is in /locks/orders, and in what many keys do."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await opened(pilot, "or")
        target = app.screen.query_one(TextList).target

        assert isinstance(target, PaletteItem)
        assert target.name == ORDERS


async def test_a_kind_lists_no_other() -> None:
    """That is so from the blank after the kind on, even before a name is typed."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        some = search(groups_of(app), (), "lock ")

    assert [one.title for one in some] == ["Locks"]
    assert all(item.name.startswith("/") for item in some[0].items)


async def test_the_keys_are_listed_with_the_items() -> None:
    """So that the palette teaches them."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 50)) as pilot:
        lines = await opened(pilot)

    inside = [piece for line in lines for piece in line.split("│")]
    assert next(one for one in inside if "deadlocks and findings" in one).split()[-1] == "3"


async def test_sessions_are_found_once_their_names_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until then a search says that it reads them; the list of everything has none."""
    monkeypatch.setattr(palette_items, "MEMBERS_AT_ONCE", 1)
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(palette, "call_in_steps", lambda *_, **__: None)
        await pressed(pilot, "colon")
        before = "\n".join(await settled(pilot))
        await pressed(pilot, *"ann")
        while_reading = "\n".join(await settled(pilot))
        dialog = app.screen
        assert isinstance(dialog, PaletteDialog)
        for _ in dialog._reading:
            pass
        dialog._read()
        text = "\n".join(await settled(pilot))

        assert "reading the names" not in before
        assert "reading the names of all sessions" in while_reading
        assert "reading the names" not in text
        assert session_text(session("ann")) in text


async def test_the_selected_item_stays_selected_when_sessions_are_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sessions that match better are listed above it."""
    monkeypatch.setattr(palette_items, "MEMBERS_AT_ONCE", 0)
    app = app_of(*frames((NOW, [*lock("/a/0x1", "ann"), *lock("/b/0x1", "bob")])))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(palette, "call_in_steps", lambda *_, **__: None)
        await opened(pilot, "0x1")
        await pressed(pilot, "down")
        dialog = app.screen
        found = dialog.query_one(TextList)
        before, line_before = found.target, found.cursor
        for _ in dialog._reading:
            pass
        dialog._read()

        assert before.name == "/b/0x1"
        assert found.target.name == "/b/0x1"
        assert found.cursor > line_before


async def test_a_recent_lock_is_found_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for each of five would stop the screen with 100,000 locks."""
    searched: list[str] = []
    monkeypatch.setattr(palette_items, "has_all", lambda text, _: searched.append(text))
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        (locks,) = (one for one in groups_of(app) if one.kind == "lock")
        known, gone = locks.item(ORDERS), locks.item(f"{ORDERS}/gone")

        assert known is not None
        assert (known.name, gone, searched) == (ORDERS, None, [])
