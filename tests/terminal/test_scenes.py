"""`zktop demo` in a real terminal: the deadlock with its narration, and every scene."""

import re
from collections.abc import Iterator

import pytest
from tmux import ZKTOP, Terminal, terminal

from zktop.demo.scenes import SCENES
from zktop.demo_types.scene_moves import Scene

OTHERS = [one for one in SCENES if one.name != "ab-ba"]
MOVE = re.compile(r"[▶✓] \d+/\d+ ")  # above the picture


@pytest.fixture(scope="module")
def screen() -> Iterator[Terminal]:
    """The demo, which plays the scene of two locks in two orders."""
    with terminal(*ZKTOP, "demo") as screen:
        yield screen


def test_the_deadlock_forms_on_screen_with_its_narration(screen: Terminal) -> None:
    """The move is above the picture, and zktop's verdict is below it."""
    screen.until("─ Two locks in two orders ")
    screen.until(lambda text: "block each other" in text and "Deadlock #1, confirmed" in text)
    screen.until("1 DEADLOCK")  # the header is drawn after the page
    screen.until("✓ 4/4 ")
    screen.until("Finished")


@pytest.mark.parametrize("scene", OTHERS, ids=lambda scene: scene.name)
def test_every_scene_begins_by_name(screen: Terminal, scene: Scene) -> None:
    """S, its name and Enter show its title and its first move."""
    screen.press("S")
    screen.until("Play a scene")
    screen.type(scene.name)
    screen.until(lambda text: "type to narrow" not in text)
    screen.press("Enter")

    screen.until(lambda text: f"─ {scene.title} " in text and MOVE.search(text))


def test_no_error_was_logged_and_no_process_is_left(screen: Terminal) -> None:
    """All contenders of all scenes, and the server, end with the UI."""
    assert len(screen.family()) > 1

    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)

    assert screen.logged() == ""
    assert screen.family() == []
