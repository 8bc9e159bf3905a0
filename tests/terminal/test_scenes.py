"""`zktop demo` in a real terminal: the deadlock with its narration, and every scene."""

import re
from collections.abc import Iterator

import pytest
from tmux import ZKTOP, Terminal, terminal

from zktop.demo.scenes import SCENES
from zktop.demo_types import Scene

OTHERS = [one for one in SCENES if one.name != "ab-ba"]
FIRST_MOVE = re.compile(r"[▶✓]  1 ")


@pytest.fixture(scope="module")
def screen() -> Iterator[Terminal]:
    """The demo, which plays the scene of two locks in two orders."""
    with terminal(*ZKTOP, "demo") as screen:
        yield screen


def words(text: str) -> str:
    """A screen as one line."""
    return " ".join(text.split())


def test_the_deadlock_forms_on_screen_with_its_narration(screen: Terminal) -> None:
    """Moves are ticked off, contenders log their steps, and zktop's verdict is below."""
    screen.until("SCENE  Two locks in two orders")
    screen.until("[1/")
    screen.until(lambda text: "DEADLOCK:" in text and "waits for" in words(text))
    screen.until("1 DEADLOCK")  # the header is drawn after the page
    text = screen.text()

    assert "✓  1" in text


@pytest.mark.parametrize("scene", OTHERS, ids=lambda scene: scene.name)
def test_every_scene_begins_by_name(screen: Terminal, scene: Scene) -> None:
    """S, its name and Enter show its title and its first move."""
    screen.press("S")
    screen.until("Play a scene")
    screen.type(scene.name)
    screen.until(lambda text: "type to narrow" not in text)
    screen.press("Enter")

    screen.until(lambda text: f"SCENE  {scene.title}" in text and FIRST_MOVE.search(text))


def test_no_error_was_logged_and_no_process_is_left(screen: Terminal) -> None:
    """All contenders of all scenes, and the server, end with the UI."""
    assert len(screen.family()) > 1

    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)

    assert screen.logged() == ""
    assert screen.family() == []
