"""Screen 6, and the keys that start and control demo contenders."""

import pytest
from msgspec.structs import replace
from ui.example_ensemble import trouble
from ui.fake_contenders import AB_BA, FakeContenders, contender, order_of, scene_of
from ui.fake_feed import FakeFeed, frames, pressed, settled

from zktop.demo_types.contender_state import LogLine
from zktop.demo_types.scene_moves import SceneProgress
from zktop.ui.actions.contenders import chosen
from zktop.ui.app import Zktop
from zktop.ui.screens.demo.contender_table import COLUMNS
from zktop.ui.settings import UiSettings
from zktop.ui.styled_text import text_of
from zktop.ui.view_state import Selection
from zktop.ui.widgets.table import cut_cell

ORDERS = "/zktop-demo/x/orders"
ANN = contender("ann", ORDERS, "holds", 0xA, holds=(ORDERS,))
BOB = contender("bob", ORDERS, "waits", 0xB)
CID = contender("cid", "/zktop-demo/x/stock", "frozen", 0xC)
DEAD = contender("dan", ORDERS, "ended", 0xD)
OTHERS = ("queue", "herd", "no-herd", "busy-time-out", "crash", "time-out", "traffic")
PLAYING = SceneProgress(AB_BA, "/zktop-demo/ab-ba", played=1, is_moving=True)


def app_with(stage: FakeContenders, *, page: str = "demo") -> Zktop:
    """The UI with these contenders, and a lock that another client holds."""
    return Zktop(FakeFeed(*frames()), stage, settings=UiSettings(page=page))


async def asked_after(stage: FakeContenders, *keys: str) -> list[tuple[object, ...]]:
    """The calls that these keys cause."""
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
    return stage.asked


async def shown(stage: FakeContenders, size: tuple[int, int] = (120, 36)) -> str:
    """What the page shows."""
    app = app_with(stage)
    async with app.run_test(size=size) as pilot:
        return "\n".join(await settled(pilot))


async def test_lists_scenes_and_recipes() -> None:
    """The index has everything that can be played or started."""
    text = await shown(FakeContenders())

    assert all(name in text for name in ("A queue", "Two locks in two", "poll", "rw"))


async def test_shows_the_moves_of_the_scene_that_is_on() -> None:
    """Moves that were played, the one being played, and its title."""
    text = await shown(FakeContenders(progress=PLAYING))

    assert "Two locks in two orders" in text
    assert "✓  1 first" in text
    assert "▶  2 second" in text
    assert "Playing" in text


async def test_shows_contenders_and_their_words() -> None:
    """Each has its state and its last report."""
    text = await shown(
        FakeContenders(states=[ANN, DEAD], lines=[LogLine(1000, "ann", "acquired it")])
    )

    assert "ann" in text
    assert "holds" in text
    assert "ended" in text
    assert "00:00:01 ann acquired it" in text


async def test_follows_the_log() -> None:
    """The newest line is visible, however many there are."""
    lines = [LogLine(1000, "ann", f"line {number}") for number in range(200)]

    assert "line 199" in await shown(FakeContenders(lines=lines))


async def test_enter_plays_the_scene_under_the_cursor() -> None:
    """The first line is the first scene."""
    assert await asked_after(FakeContenders(), "enter") == [("play", "queue")]


async def test_down_goes_to_the_next_scene() -> None:
    """Enter plays it."""
    assert await asked_after(FakeContenders(), "j", "enter") == [("play", "ab-ba")]


@pytest.mark.parametrize(
    ("progress", "key", "asked"),
    [
        (PLAYING, "space", [("control", "pause")]),
        (SceneProgress(AB_BA), "space", [("control", "play")]),
        (SceneProgress(AB_BA), "right_square_bracket", [("control", "step")]),
        (SceneProgress(), "space", [("play", "queue")]),
        (SceneProgress(), "right_square_bracket", [("load", "queue"), ("control", "step")]),
        (PLAYING, "E", [("control", "stop")]),
    ],
)
async def test_scenes_are_steered_by_keys(
    progress: SceneProgress, key: str, asked: list[tuple[object, ...]]
) -> None:
    """Space plays and pauses, ] steps, E ends."""
    assert await asked_after(FakeContenders(progress=progress), key) == asked


@pytest.mark.parametrize(
    ("progress", "keys", "says"),
    [
        (SceneProgress(), [], " space Play  ] Step  E End  a Answer  enter Play "),
        (SceneProgress(), ["G"], " space Play  ] Step  E End  a Answer  enter Start "),
        (PLAYING, [], " space Pause  ] Step  E End  a Answer  enter Play "),
        (SceneProgress(), ["tab", "tab"], " U Release  C Cancel  K Kill  Z Freeze  enter Open "),
    ],
)
async def test_the_footer_says_what_the_keys_do_here(
    progress: SceneProgress, keys: list[str], says: str
) -> None:
    """Enter plays a lesson or starts clients with a recipe, and opens the lock of a client."""
    app = app_with(FakeContenders(progress=progress, states=[ANN]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)

        assert (await settled(pilot))[-1].startswith(says)


@pytest.mark.parametrize(
    ("progress", "says"),
    [
        (PLAYING, "space pause  ] step  E end"),
        (SceneProgress(AB_BA, "/zktop-demo/ab-ba"), "space play  ] step  E end"),
    ],
)
async def test_the_frame_of_the_picture_says_what_space_does(
    progress: SceneProgress, says: str
) -> None:
    """It pauses a scene that plays."""
    assert says in await shown(FakeContenders(progress=progress))


@pytest.mark.parametrize(("keys", "says"), [([], "enter play"), (["G"], "enter start")])
async def test_the_frame_of_the_index_says_what_enter_does(keys: list[str], says: str) -> None:
    """A recipe is not played; clients start with it."""
    app = app_with(FakeContenders(progress=SceneProgress()))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)

        ends = [row for row in await settled(pilot) if row.startswith("╰")]
        assert f" {says} ─╯" in ends[-1][:40]


@pytest.mark.parametrize("keys", [["G", "space"], ["G", "right_square_bracket"], ["E"]])
async def test_keys_of_a_scene_say_that_none_is_loaded(keys: list[str]) -> None:
    """The last line of the list is a recipe; there is nothing to play, nor to end."""
    stage = FakeContenders()
    app = app_with(stage)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        said = [one.message for one in app._notifications]

    assert said == ["No scene is loaded. Select a lesson or a scene in the list first."]
    assert stage.asked == []


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("U", ("release", "ann")),
        ("C", ("cancel", "ann")),
        ("K", ("kill", "ann")),
        ("Z", ("freeze", "ann")),
    ],
)
async def test_keys_act_on_the_contender_under_the_cursor(
    key: str, asked: tuple[object, ...]
) -> None:
    """The first contender is under the cursor until another one is."""
    assert await asked_after(FakeContenders(states=[ANN, BOB]), key) == [asked]


async def test_a_frozen_contender_is_thawed_by_the_same_key() -> None:
    """Z undoes what Z did."""
    assert await asked_after(FakeContenders(states=[CID]), "Z") == [("thaw", "cid")]


@pytest.mark.parametrize(
    ("subject", "act", "name"),
    [
        (Selection(contender="bob"), "kill", "bob"),
        (Selection(session=0xB), "kill", "bob"),
        (Selection(session=0xEE), "kill", None),
        (Selection(contender="dan"), "kill", None),
        (Selection(path="/zktop-demo/x/orders"), "release", "ann"),
        (Selection(path="/zktop-demo/x/orders"), "cancel", "bob"),
        (Selection(path="/zktop-demo/x/stock"), "freeze", "cid"),
        (Selection(path="/locks/of/others"), "kill", None),
    ],
)
def test_finds_the_contender_of_an_action(subject: Selection, act: str, name: str | None) -> None:
    """It is found by name, by session, or as the one in the lock that fits the action best."""
    found = chosen([ANN, BOB, CID, DEAD], subject, act)  # type: ignore[arg-type]  # a table of words

    assert (found.name if found else None) == name


async def test_capital_s_plays_the_chosen_scene() -> None:
    """The list narrows while the user types."""
    assert await asked_after(FakeContenders(), "S", *"ab-", "enter") == [("play", "ab-ba")]


async def test_capital_s_and_escape_play_nothing() -> None:
    """Leaving a dialog does nothing."""
    assert await asked_after(FakeContenders(), "S", "escape") == []


async def test_capital_n_starts_what_the_form_says() -> None:
    """The form begins with the first recipe below the demo root."""
    ((_, order, typed),) = await asked_after(FakeContenders(), "N", "enter")

    assert order == order_of("poll", "/zktop-demo/lock", "exclusive")
    assert typed is None


async def test_enter_on_a_recipe_starts_contenders_of_that_one() -> None:
    """The form begins with the recipe under the cursor, whatever lock was selected before."""
    ((_, order, _),) = await asked_after(FakeContenders(states=[ANN]), "G", "enter", "enter")

    assert order == order_of("rw", "/zktop-demo/lock", "read")


async def test_a_recipe_is_forgotten_on_other_screens() -> None:
    """There, N starts a contender for the lock under the cursor."""
    ((_, order, _),) = await asked_after(FakeContenders(), "G", "1", "N", "enter")

    assert order.claims[0].recipe == "poll"


@pytest.mark.parametrize("name", ["time-out", "busy-time-out"])
async def test_the_first_that_fits_is_chosen_while_one_types(name: str) -> None:
    """A complete name selects that scene, even if the name of another scene ends with it."""
    scenes = [scene_of(one, one, "", "", "only") for one in OTHERS]
    asked = await asked_after(FakeContenders(scenes=scenes), "S", *name, "enter")

    assert asked == [("play", name)]


async def test_capital_n_says_what_is_wrong_with_the_form() -> None:
    """An invalid path is refused with a sentence, and the form stays open."""
    stage = FakeContenders()
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("N", "end", "/", "enter")
        text = "\n".join(await settled(pilot))

    assert "Not a lock path. Example: /zktop-demo/name" in text
    assert stage.asked == []


@pytest.mark.parametrize(("key", "mode"), [("R", "read"), ("W", "write"), ("X", "exclusive")])
async def test_one_more_contender_joins_the_lock(key: str, mode: str) -> None:
    """With a recipe that fits the layout of the lock."""
    stage = FakeContenders(states=[ANN], joins={("", mode): ("rw", mode)})

    assert await asked_after(stage, key) == [("start", order_of("rw", ANN.path, mode), None)]


async def test_says_so_when_no_recipe_fits() -> None:
    """A mutex has no readers; and a lock that is gone has none either."""
    gone = Zktop(FakeFeed(), FakeContenders(states=[ANN]), settings=UiSettings(page="demo"))
    there = Zktop(FakeFeed(*trouble()), FakeContenders(), settings=UiSettings(page="locks"))
    found = []
    for app in (gone, there):
        async with app.run_test(size=(120, 36), notifications=True) as pilot:
            await settled(pilot)
            await pilot.press("R")
            await settled(pilot)
            found.append([one.message for one in app._notifications][-1])

    assert found[0] == f"There is no lock at {ANN.path} now. Press N to start a demo client."
    assert found[1] == "No recipe can read a lock of layout kazoo-lock. N lists all recipes."


async def test_says_so_when_a_contender_is_gone() -> None:
    """It stays in the list for a while, but no action can reach it."""
    app = app_with(FakeContenders(states=[replace(ANN, exit_code=0)]))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("tab", "tab", "U")
        await settled(pilot)
        found = [one.message for one in app._notifications]

    assert found == ["ann has ended. Press N to start another one."]


async def test_tells_what_went_wrong() -> None:
    """An error message is shown, whichever thread it comes from."""
    stage = FakeContenders()
    app = app_with(stage)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        stage.complain("The crew is full.")
        assert "The crew is full." in "\n".join(await settled(pilot))


@pytest.mark.parametrize("word", ["waits", "waiting"])
async def test_a_filter_sifts_the_contenders_and_what_they_say(word: str) -> None:
    """It matches all their words, and the fields state and owner."""
    lines = (LogLine(0, "ann", "I hold it."), LogLine(0, "bob", "I wait for it."))
    stage = FakeContenders(states=(ANN, BOB, CID), lines=lines)
    app = app_with(stage)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *f"state:{word}", "enter")
        waiting = "\n".join(await settled(pilot))
        await pilot.press("slash", *["backspace"] * len(word), *"nobody", "enter")
        nobody = "\n".join(await settled(pilot))

    assert "bob            waits" in waiting
    assert "ann            holds" not in waiting
    assert "No demo client matches the filter" in nobody


async def test_a_filter_of_an_owner_shows_its_log() -> None:
    """The part of the log that is about one contender."""
    lines = (LogLine(0, "ann", "I hold it."), LogLine(0, "bob", "I wait for it."))
    app = app_with(FakeContenders(states=(ANN, BOB), lines=lines))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"owner:bob", "enter")
        text = "\n".join(await settled(pilot))

    assert "I wait for it." in text
    assert "I hold it." not in text


@pytest.mark.parametrize(("size", "is_there"), [((200, 60), True), ((120, 36), False)])
async def test_a_large_window_shows_the_last_minute_of_the_demo_clients(
    size: tuple[int, int], *, is_there: bool
) -> None:
    """Below the lesson, where a smaller one has no room."""
    stage = FakeContenders(states=[ANN, BOB])
    app = Zktop(FakeFeed(*trouble()), stage, settings=UiSettings(page="demo"))
    async with app.run_test(size=size) as pilot:
        text = "\n".join(await settled(pilot))

        assert ("Last 60 s" in text) is is_there
        if is_there:
            app.screen.query_one("#scene-minute").focus()
            await pilot.press("enter")
            await settled(pilot)
            assert app.page is not None
            assert app.page.entry.name != "demo"


def test_the_ends_of_long_names_tell_demo_clients_apart() -> None:
    """Clients that one dialog starts differ in their number only."""
    client, one = COLUMNS[0], contender("kazoo-semaphore-12", "/zktop-demo/pool", "holds", 0xA)

    assert text_of(cut_cell(client, one, client.draw(one), 14)) == "kazoo-s…ore-12"
