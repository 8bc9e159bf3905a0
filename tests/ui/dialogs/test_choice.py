"""Lists to choose from: even a small terminal shows the selected item and its description."""

import pytest
from ui.example_ensemble import trouble
from ui.fake_contenders import FakeContenders, scene_of
from ui.fake_feed import FakeFeed, settled

from zktop.demo_types.scene_moves import Scene, SceneProgress
from zktop.ui.app import Zktop
from zktop.ui.settings import UiSettings
from zktop.ui.widgets.text_view import TextList

SCENES = tuple(
    scene_of(f"scene-{at}", f"The {at}. scene", "It teaches. " * 20, "The end of it.", "one")
    for at in range(30)
)


def app_with(scene: Scene) -> Zktop:
    """An app with this scene loaded."""
    stage = FakeContenders(scenes=SCENES, progress=SceneProgress(scene, "/zktop-demo/x"))
    return Zktop(FakeFeed(*trouble()), stage, settings=UiSettings(page="demo"))


def is_in_sight(index: TextList) -> bool:
    """True if its cursor is visible."""
    top = int(index.scroll_offset.y)
    assert index.cursor is not None
    return top <= index.cursor < top + index.lines_in_sight()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_chosen_item_is_visible(size: tuple[int, int]) -> None:
    """Its whole description is visible, too."""
    app = app_with(SCENES[25])
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("S")
        lines = await settled(pilot)
        listed = app.screen.query_one(TextList)

        assert listed.target == "scene-25"
        assert is_in_sight(listed)
        assert any("The 25. scene" in line for line in lines)
        assert any("Notice: The end of it." in line for line in lines)


async def test_it_stays_visible_in_a_smaller_window() -> None:
    """The list shrinks, not the description."""
    app = app_with(SCENES[12])
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(pilot)
        await pilot.press("S", "down")
        await settled(pilot)
        await pilot.resize_terminal(80, 20)
        lines = await settled(pilot)
        listed = app.screen.query_one(TextList)

        assert listed.target == "scene-13"
        assert is_in_sight(listed)
        assert any("Notice: The end of it." in line for line in lines)


async def test_the_loaded_scene_is_visible_on_its_page() -> None:
    """However far down the list it is."""
    app = app_with(SCENES[28])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)

        assert is_in_sight(app.screen.query_one("#index", TextList))


async def test_formats_are_described_in_full_on_a_small_terminal() -> None:
    """Each format with its purpose."""
    app = app_with(SCENES[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        lines = await settled(pilot)

        assert any("this screen as it looks now (SVG)" in line for line in lines)
        assert not any("…" in line for line in lines[8:20] if "for" in line)
