"""Demo contenders that keys start, on the sandbox and on a real server."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from servers import RunningServer
from terminal.answers import allow_writing
from tmux import ZKTOP, Terminal, terminal

GONE_WITHIN_S = 10.0  # two seconds on an idle machine
_numbers = count()


@pytest.fixture
def path() -> str:
    """A lock for this test, below the demo root."""
    return f"/zktop-demo/{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def screen(server: RunningServer) -> Iterator[Terminal]:
    """The UI on an ensemble without other clients."""
    with terminal(*ZKTOP, "--hosts", server.address, "--root", "/nobody-is-here") as screen:
        screen.until(lambda text: "LIVE" in text and "/nobody-is-here does not exist" in text)
        yield screen


def row_of(*words: str) -> Callable[[str], bool]:
    """True if a line has these words, in this order."""
    pattern = re.compile(r"\s.*".join(map(re.escape, words)))
    return lambda text: any(pattern.search(line) for line in text.splitlines())


def queued(path: str, holder: str, waiters: int) -> Callable[[str], bool]:
    """True if the first screen shows this holder, and this number of waiters."""
    held = r"≥?[\dhms]+"
    pattern = re.compile(
        rf" {re.escape(path)} .* {re.escape(holder)}(?: +{held})? +[█▉▊▋▌▍▎▏]* +{waiters} "
    )
    return lambda text: any(pattern.search(line) for line in text.splitlines())


def recipe_in(text: str) -> str:
    """The recipe that screen 6 shows."""
    found = re.search(r"RECIPE  (\S+) ", text)
    return found[1] if found else ""


def start(screen: Terminal, path: str, recipe: str) -> None:
    """Start the first contender: choose its recipe on screen 6, and fill in the form."""
    screen.press("6")
    screen.until("SCENES")
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
    """Two X queue; K kills the holder like a crash, and the next one holds."""
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
    """R joins the readers, W waits for them, U releases the lock."""
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
    """Contenders end with the UI, however it ends."""
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
    """Quit; no process is left, and no error was logged."""
    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)

    assert screen.logged() == ""
    assert screen.family() == []
