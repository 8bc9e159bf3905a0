"""Every key on every screen, and windows of every size."""

import contextlib
import time
from collections.abc import Iterator

import pytest
from tmux import ZKTOP, Terminal, shows_page, terminal

from zktop.ui.keys import KEYS

NAMES = {  # ours -> tmux's
    "slash": "/", "space": "Space", "plus": "+", "minus": "-", "colon": ":", "enter": "Enter",
    "escape": "Escape", "question_mark": "?", "left_square_bracket": "[", "tab": "Tab",
    "right_square_bracket": "]", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "shift+left": "S-Left", "shift+right": "S-Right", "shift+tab": "BTab", "home": "Home",
    "end": "End", "pageup": "PPage", "pagedown": "NPage", "f1": "F1",
    "apostrophe": "'", "at": "@", "less_than_sign": "<", "greater_than_sign": ">",
}  # fmt: skip
ANSWERS_S = 3.0  # a screen without a dialog, on a busy machine
TRIES = 15  # more than the dialogs that can be open at once
PRESSED = [name for key in KEYS if key.id != "quit" for name in key.names]


def named(key: str) -> str:
    """The name of a key in tmux."""
    for prefix, short in (("ctrl+", "C-"), ("alt+", "M-")):
        if key.startswith(prefix):
            return short + named(key.removeprefix(prefix))
    return NAMES.get(key, key)


@pytest.fixture(scope="module")
def screen() -> Iterator[Terminal]:
    """The demo, with its deadlock."""
    with terminal(*ZKTOP, "demo") as screen:
        screen.until("1 DEADLOCK")
        yield screen


def see(screen: Terminal, number: str) -> None:
    """Go to a screen once every key before this is handled, and close all dialogs."""
    other = "2" if number == "1" else "1"
    for _ in range(TRIES):
        screen.press("Escape")
        time.sleep(0.15)  # a key that follows sooner is part of an escape sequence
        with contextlib.suppress(AssertionError):  # a dialog takes the numbers as text
            for page in (other, number):  # the first may already be shown, behind a dialog
                screen.press(page)
                screen.until(shows_page(page), ANSWERS_S)
            return
    screen.until(shows_page(number))


def test_every_key_twice(screen: Terminal) -> None:
    """No key ends the UI or logs an error."""
    for key in dict.fromkeys(PRESSED):
        see(screen, "1")
        screen.press(named(key), named(key))

    see(screen, "1")
    assert screen.exit_code is None
    assert screen.logged() == ""


@pytest.mark.parametrize("number", list("123456"))
def test_windows_of_every_size(screen: Terminal, number: str) -> None:
    """From very small to very large and back, header and footer are in place."""
    see(screen, number)
    for columns, lines in ((40, 10), (250, 80), (120, 36)):
        screen.resize(columns, lines)
        screen.until(lambda text, lines=lines: is_whole(text, lines))

    assert screen.logged() == ""


def is_whole(text: str, lines: int) -> bool:
    """True if the header is at the top and the footer at the bottom."""
    rows = text.rstrip("\n").split("\n")
    return len(rows) == lines and "zktop" in rows[0] and "elp" in rows[-1]


def test_quits_after_all_keys(screen: Terminal) -> None:
    """After all these keys q still ends it, and no process is left."""
    see(screen, "1")
    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)

    assert screen.family() == []
