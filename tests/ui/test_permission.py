"""Nothing is written by accident: demo contenders only start after the user typed a word."""

import pytest
from textual.pilot import Pilot
from ui.example_ensemble import trouble
from ui.fake_contenders import AB_BA, QUEUE, FakeContenders, contender
from ui.fake_feed import FakeFeed, app_of, frames, settled

from zktop.demo_types.scene_moves import SceneProgress
from zktop.ui.app import Zktop
from zktop.ui.dialogs.palette_items import groups_of
from zktop.ui.dialogs.question import ConfirmDialog
from zktop.ui.keys import KEYS, known_on
from zktop.ui.settings import UiSettings

LOCK = "/zktop-demo/x/orders"
ANN = contender("ann", LOCK, "holds", 0xA, holds=(LOCK,))
JOINS = {("", mode): ("rw", mode) for mode in ("read", "write", "exclusive")}
WRITING = {  # the page, and the keys that lead to something that writes
    "N": ("demo", "N"),
    "S": ("demo", "S"),
    "R": ("demo", "R"),
    "W": ("demo", "W"),
    "X": ("demo", "X"),
    "scene": ("demo", "enter"),
    "recipe": ("demo", "G", "enter"),
    "step": ("demo", "right_square_bracket"),
    "S elsewhere": ("locks", "S"),
    "N elsewhere": ("sessions", "N"),
}
PALETTE = {key.help for key in KEYS if key.writes}


def stage_of(**known: object) -> FakeContenders:
    """Contenders without permission to write yet, one of them in a lock that others can join."""
    return FakeContenders(**{"allow": "ask", "states": [ANN], "joins": JOINS, **known})


def app_with(stage: FakeContenders, page: str = "demo", **look: object) -> Zktop:
    """The UI with this stage."""
    return Zktop(FakeFeed(*frames()), stage, settings=UiSettings(page=page, **look))


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Press keys, and read the screen."""
    await settled(pilot)
    await pilot.press(*keys)
    return "\n".join(await settled(pilot))


@pytest.mark.parametrize("way", WRITING)
async def test_the_first_key_that_would_write_asks(way: str) -> None:
    """The question names the ensemble, the path and the word, and nothing has started."""
    stage = stage_of()
    page, *keys = WRITING[way]
    async with app_with(stage, page).run_test(size=(120, 36)) as pilot:
        text = await press(pilot, *keys)
        is_asking = isinstance(pilot.app.screen, ConfirmDialog)

    assert is_asking
    assert "zk1:2181,zk2:2181" in text
    assert "/zktop-demo" in text
    assert "type demo" in text
    assert stage.asked == []


@pytest.mark.parametrize(
    "typed",
    [
        ("enter",),
        ("enter",) * 5,
        (*"dem", "enter"),
        (*"demos", "enter"),
        (*"DEMO", "enter"),
        ("space", *"demo", "enter"),
        ("y", "enter"),
        ("up", "down", "tab", "ctrl+p", "f1", "pageup", "enter"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("way", ["S", "W", "scene"])
async def test_anything_but_the_word_leaves_the_question_open(
    way: str, typed: tuple[str, ...]
) -> None:
    """Enter alone is not an answer, and other keys only type into the field."""
    stage = stage_of()
    page, *keys = WRITING[way]
    async with app_with(stage, page).run_test(size=(120, 36)) as pilot:
        text = await press(pilot, *keys, *typed)
        is_asking = isinstance(pilot.app.screen, ConfirmDialog)

    assert is_asking
    assert "Nothing was written." in text
    assert stage.asked == []
    assert not stage.permission.is_given


async def test_escape_cancels_and_the_next_key_asks_again() -> None:
    """Escape is not an answer."""
    stage = stage_of()
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await press(pilot, "W", *"demo", "escape")
        assert len(app.screen_stack) == 1

        await press(pilot, "W")
        assert isinstance(app.screen, ConfirmDialog)

    assert stage.asked == []


@pytest.mark.parametrize(
    ("way", "then", "asked"),
    [
        ("W", (), "start"),
        ("N", ("enter",), "start"),
        ("S", ("enter",), "play"),
        ("scene", (), "play"),
        ("recipe", ("enter",), "start"),
        ("step", (), "load"),
    ],
)
async def test_the_word_lets_the_key_go_on(way: str, then: tuple[str, ...], asked: str) -> None:
    """The action continues without another key."""
    stage = stage_of()
    page, *keys = WRITING[way]
    async with app_with(stage, page).run_test(size=(120, 36)) as pilot:
        await press(pilot, *keys, *"demo", "enter")
        await press(pilot, *then)

    assert stage.asked[0][0] == asked


async def test_it_is_asked_once_in_a_session() -> None:
    """Below the demo root, whichever key comes next."""
    stage = stage_of()
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await press(pilot, "W", *"demo", "enter")
        await press(pilot, "R")
        await press(pilot, "S", "enter")
        await press(pilot, "N", "enter")

    assert [one[0] for one in stage.asked] == ["start", "start", "play", "start"]


async def test_a_lock_outside_the_demo_root_is_asked_about_each_time() -> None:
    """The word is the last part of its path; neither the session's word nor Enter is enough."""
    stage = stage_of(allow="always", root="/elsewhere")
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        text = await press(pilot, "X", "enter")
        assert isinstance(app.screen, ConfirmDialog)
        assert LOCK in text
        assert "type orders" in text

        await press(pilot, *"demo", "enter")
        assert stage.asked == []

        await press(pilot, "escape", "X", *"orders", "enter")
        await press(pilot, "X")
        assert isinstance(app.screen, ConfirmDialog)

    assert [(one[0], one[2]) for one in stage.asked] == [("start", "orders")]


async def test_a_lock_outside_needs_both_words_in_a_session_without_permission() -> None:
    """First the session's, then the lock's."""
    stage = stage_of(root="/elsewhere")
    async with app_with(stage).run_test(size=(120, 36)) as pilot:
        await press(pilot, "X", *"demo", "enter")
        assert stage.asked == []

        await press(pilot, *"orders", "enter")

    assert [(one[0], one[2]) for one in stage.asked] == [("start", "orders")]


async def test_a_path_that_was_typed_in_the_form_is_asked_about_as_well() -> None:
    """N may lead anywhere."""
    stage = stage_of(allow="always", states=[])
    async with app_with(stage).run_test(size=(120, 36)) as pilot:
        text = await press(pilot, "N", "ctrl+u", *"/app/leader", "enter")
        assert "/app/leader on zk1:2181,zk2:2181 is not below /zktop-demo" in text

        await press(pilot, *"leader", "enter")

    assert [(one[0], one[2]) for one in stage.asked] == [("start", "leader")]


@pytest.mark.parametrize(
    "keys", ["U", "C", "K", "Z", "space", "E", "d", "y", "enter", "o", "p", "slash"]
)
async def test_other_keys_ask_nothing(keys: str) -> None:
    """Actions on existing contenders, and actions that do not write, need no permission."""
    stage = stage_of(progress=SceneProgress(AB_BA))
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "tab", keys)
        await settled(pilot)

        assert not isinstance(app.screen, ConfirmDialog)


async def test_the_palette_offers_no_scene_before_the_question_was_answered() -> None:
    """So a name typed in a hurry cannot start a scene."""
    stage = stage_of()
    app = app_with(stage, "locks")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("colon", *"locks in two orders")
        before = await press(pilot, "enter", "escape")
        await press(pilot, "S", *"demo", "enter", "escape", "colon", *"locks in two orders")
        await press(pilot, "enter")

    assert AB_BA.title not in before
    assert stage.asked == [("play", AB_BA.name)]


async def test_a_scene_that_is_to_be_played_at_once_asks_first() -> None:
    """`zktop demo --hosts` begins with the question."""
    stage = stage_of()
    app = app_with(stage, scene="queue")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, ConfirmDialog)
        assert stage.asked == []

        await press(pilot, *"demo", "enter")

    assert stage.asked == [("play", QUEUE.name)]


async def test_with_permission_from_the_config_a_scene_plays_at_once() -> None:
    """So does `zktop demo` on its own server."""
    stage = stage_of(allow="always")
    async with app_with(stage, scene="queue").run_test(size=(120, 36)) as pilot:
        await settled(pilot)

    assert stage.asked == [("play", QUEUE.name)]


def reading(*, is_live: bool = True) -> Zktop:
    """The UI without contenders: started read-only, or on a recording."""
    return Zktop(FakeFeed(*trouble(), is_live=is_live), settings=UiSettings())


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("page", ["1", "2", "3", "4", "5"])
async def test_without_contenders_no_screen_offers_to_write(page: str, *, is_live: bool) -> None:
    """Footer and help have no such key, and screen 6 does not exist."""
    app = reading(is_live=is_live)
    async with app.run_test(size=(200, 60)) as pilot:
        text = await press(pilot, page)
        assert app.page is not None
        keys = known_on(app.page.entry.name, app.table)

    assert not [key.id for key in keys if key.writes]
    assert "S Scene" not in text
    assert "N New" not in text
    assert "6 Learn" not in text


@pytest.mark.parametrize("is_live", [True, False])
async def test_without_contenders_the_keys_do_nothing(*, is_live: bool) -> None:
    """No dialog opens, and 6 leads nowhere."""
    app = reading(is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        for key in ("N", "S", "R", "W", "X", "U", "C", "K", "Z", "6"):
            await press(pilot, key)
            assert len(app.screen_stack) == 1
            assert app.page is not None
            assert app.page.entry.name == "locks"


@pytest.mark.parametrize("is_live", [True, False])
async def test_without_contenders_the_palette_has_no_entry_that_writes(*, is_live: bool) -> None:
    """Not in the list at first, and not by name."""
    app = reading(is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        named = [one.name.casefold() for group in groups_of(app) for one in group.find(())]

    assert "next alert" in named
    assert not [name for name in named if name in PALETTE or "scene" in name or "screen 6" in name]


async def test_the_header_says_that_it_is_read_only() -> None:
    """That is shown only in a live session without permission to write."""
    said = []
    for app in (reading(), app_of(*trouble()), reading(is_live=False)):
        async with app.run_test(size=(80, 24)) as pilot:
            said.append((await settled(pilot))[0].split())

    assert ["RO" in words for words in said] == [True, False, False]
