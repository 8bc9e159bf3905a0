"""Contenders by key, on the sandbox and on a real server: each is seen on screens 1 and 2."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from screen.answers import allow_writing
from servers import RunningServer
from tmux import ZKTOP, Terminal, terminal

GONE_WITHIN_S = 10.0  # two seconds, where nobody else wants the processor
_numbers = count()


@pytest.fixture
def path() -> str:
    """A lock of the test's own, below the demo root."""
    return f"/zktop-demo/{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def screen(server: RunningServer) -> Iterator[Terminal]:
    """The UI on somebody's ensemble, where it sees nothing but what contenders of ours do."""
    with terminal(*ZKTOP, "--hosts", server.address, "--root", "/nobody-is-here") as screen:
        screen.until(lambda text: "LIVE" in text and "/nobody-is-here does not exist" in text)
        yield screen


def row_of(*words: str) -> Callable[[str], bool]:
    """Whether there is a line with these words in it, in this order."""
    pattern = re.compile(r"\s.*".join(map(re.escape, words)))
    return lambda text: any(pattern.search(line) for line in text.splitlines())


def queued(path: str, holder: str, waiters: int) -> Callable[[str], bool]:
    """Whether the first screen says who holds this lock, and how many wait for it."""
    held = r"≥?[\dhms]+"
    pattern = re.compile(rf" {re.escape(path)} .* {re.escape(holder)} +{held} +{waiters} ")
    return lambda text: any(pattern.search(line) for line in text.splitlines())


def recipe_in(text: str) -> str:
    """The recipe that screen 6 tells of."""
    found = re.search(r"RECIPE  (\S+) ", text)
    return found[1] if found else ""


def start(screen: Terminal, path: str, recipe: str) -> None:
    """Start the first contender: its recipe is chosen on screen 6, the form has the rest."""
    screen.press("6")
    screen.until("RECIPES")
    screen.press("G")
    screen.until("RECIPE  ")
    while (shown := recipe_in(screen.text())) != recipe:
        screen.press("k")
        screen.until(lambda text, before=shown: recipe_in(text) not in ("", before))
    screen.press("Enter")
    allow_writing(screen)
    screen.until("/zktop-demo/lock")
    screen.press("C-u")
    screen.until(lambda text: "/zktop-demo/lock" not in text)
    screen.type(path)
    screen.until(path)
    screen.press("Enter")
    screen.until("holds")


def test_contenders_queue_and_the_next_one_follows_a_killed_one(
    screen: Terminal, path: str
) -> None:
    """Two X wait in line; K kills the holder as a crash would, and the next one holds."""
    start(screen, path, "predecessor")
    screen.press("1")
    screen.until(queued(path, "X predecessor-1", 0))
    screen.press("X")
    screen.until(queued(path, "X predecessor-1", 1))
    screen.press("X")
    screen.until(queued(path, "X predecessor-1", 2))
    screen.press("2")
    screen.until(lambda text: "HOLDS" in text and text.count("waits") >= 2)

    screen.press("K")

    screen.until(row_of("HOLDER", "predecessor-2"))
    screen.press("6")
    screen.until(row_of("predecessor-1", "killed"))
    leave(screen)


def test_readers_share_and_writers_wait(screen: Terminal, path: str) -> None:
    """R joins whoever reads, W waits for both, U lets the lock go."""
    start(screen, path, "rw")
    screen.press("1")
    screen.until(queued(path, "R rw-1", 0))
    screen.press("R")
    screen.until(queued(path, "R rw-1 +1", 0))
    screen.press("W")
    screen.until(queued(path, "R rw-1 +1", 1))
    screen.press("2")
    screen.until(row_of("rw-3", "waits"))
    leave(screen)


@pytest.mark.parametrize("how", ["killed", "quit"])
def test_no_process_outlives_the_ui(screen: Terminal, path: str, how: str) -> None:
    """Contenders end with who started them, however that ends."""
    start(screen, path, "predecessor")
    assert screen.contenders()

    if how == "killed":
        os.kill(screen.pid, signal.SIGKILL)
    else:
        screen.press("q")

    begin = time.monotonic()
    while screen.family():
        assert time.monotonic() - begin < GONE_WITHIN_S, screen.family()
        time.sleep(0.02)  # between two looks


def leave(screen: Terminal) -> None:
    """Quit; nobody of ours is left, and nothing went wrong."""
    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)

    assert screen.logged() == ""
    assert screen.family() == []
