"""Somebody who presses keys at random for hours, at `zktop demo` in a real terminal.

Each round puts a scene on, presses keys, resizes the window, and then clears the stage: with no
scene and no contender left, what zktop has open must be the same every time. Which keys they are
follows from a seed alone; what the contenders do meanwhile does not.
"""

import contextlib
import os
import random
import re
import signal
import time
import uuid
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from soak.growth import is_running, marked, memory_mb, sockets, threads
from tmux import ZKTOP, Terminal, terminal

from zktop.demo.scenes import SCENES
from zktop.ui.keys import KEYS

PRESSED_S = 8.0  # in each round, at random
ANSWERS_S = 2.0  # mostly; contenders that start may have the processor for a while
HANGS_S = 20.0
CLEARED_S = 30.0
HERE = "[1 Locks]"
ON_STAGE = re.compile(r"\d+/\d+  (PLAYING|PAUSED|OVER|FAILED|CLEANING)")
TROUBLE = ("Traceback (most recent call last)", "the rest continues")
PLAIN, SIZES = (120, 36), ((120, 36), (80, 24), (200, 60), (60, 15), (30, 8), (250, 80))
MOST_CONTENDERS = 12
APART_S = 0.15  # what comes sooner after an escape belongs to it, as for every terminal
TMUX = {
    "escape": "Escape", "enter": "Enter", "tab": "Tab", "shift+tab": "BTab", "space": "Space",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "pageup": "PPage",
    "pagedown": "NPage", "home": "Home", "end": "End", "slash": "/", "plus": "+", "minus": "-",
    "left_square_bracket": "[", "right_square_bracket": "]", "question_mark": "?", "f1": "F1",
    "colon": ":", "shift+left": "S-Left", "shift+right": "S-Right", "ctrl+b": "C-b",
    "ctrl+f": "C-f", "ctrl+p": "C-p",
}  # fmt: skip
TYPED = ("a", "1", "state:waiting", "!ann", "/lock-/", "lock", "philosophers", "+5s", "zz[(")
DIALOGS = {  # what opens one, what may be typed in it, and how it is left
    "colon": ("Enter", "Escape"),
    "ctrl+p": ("Enter", "Escape"),
    "slash": ("Enter", "Escape"),
    "S": ("Enter", "Escape"),
    "t": ("Enter", "Escape"),
    "x": ("Enter", "Escape"),
    "T": ("Down", "Enter", "Escape"),
    "N": ("Tab", "Enter", "Escape"),
    "question_mark": ("Escape",),
}
SCREENS = ("locks", "deadlocks", "sessions", "timeline", "demo")  # to look for in the palette


class Rest(NamedTuple):
    """The figures with nothing on the stage."""

    at: float
    memory_mb: float
    threads: int
    sockets: int
    processes: int


class LostError(AssertionError):
    """Something went wrong at these keys."""


class Fingers:
    """Presses keys, and looks at what comes of it."""

    def __init__(self, screen: Terminal, mark: str, log: Path, seed: int) -> None:
        self.notes: list[Rest] = []
        self.pressed = 0
        self.answers_s: list[float] = []  # how long each took
        self.pid = screen.pid
        self._screen, self._mark, self._log = screen, mark, log
        self._chance = random.Random(seed)
        self._begin = time.monotonic()
        self._newest: deque[str] = deque(maxlen=200)
        self._round = 0

    def go_on(self, seconds: float) -> None:
        """Play rounds for so long."""
        while time.monotonic() - self._begin < seconds:
            self._play(self._chance.choice(SCENES).name)
            self._fumble(time.monotonic() + min(PRESSED_S, seconds / 4))
            self._clear_the_stage()
            self._look()
            self.notes.append(self._note())
            self._round += 1

    @property
    def answers_after_s(self) -> float:
        """How long it took to answer, in most cases."""
        return median(self.answers_s)

    def _play(self, scene: str) -> None:
        """Put a scene on, as users do."""
        self._come_home()
        self._press("S")
        self._see("Play a scene")
        self._press(*scene, "Enter")
        self._see("[6 Demo]")

    def _fumble(self, until: float) -> None:
        """Press whatever there is, and change the window's size now and then."""
        keys = [name for key in KEYS if key.id != "quit" for name in key.names]
        while time.monotonic() < until:
            if self._chance.random() < 0.05:
                self._screen.resize(*self._chance.choice(SIZES))
            batch = self._chance.choices(keys, k=self._chance.randint(1, 6))
            for key in batch:
                self._press(_tmux_key(key))
                if key in DIALOGS:
                    self._answer(key)
            self._insist_that_it_lives()
            time.sleep(self._chance.choice((0.0, 0.05, 0.3)))  # people do not press in one rhythm

    def _answer(self, key: str) -> None:
        """Type something into the dialog that this key may have opened, and leave it."""
        words = SCREENS if key in ("colon", "ctrl+p") else TYPED
        self._press(*self._chance.choice(words))
        for leave in DIALOGS[key]:
            self._press(leave)
            time.sleep(APART_S)

    def _come_home(self) -> None:
        """Leave everything, and be on the first screen soon."""
        self._screen.resize(*PLAIN)
        self._turn_to("1", HERE)

    def _turn_to(self, key: str, name: str) -> None:
        """Press until it is there: what was pressed before may lead elsewhere a moment later."""
        begin = time.monotonic()
        while True:
            self._leave_everything()
            asked = time.monotonic()
            self._press(key)
            with contextlib.suppress(AssertionError):
                self._screen.until(name, ANSWERS_S)
            self.answers_s.append(time.monotonic() - asked)
            if self.answers_s[-1] < ANSWERS_S:
                return
            self._insist_that_it_lives()
            spent = time.monotonic() - begin
            self._insist(spent < HANGS_S, f"{key} does not lead to {name}:\n{self._screen.text()}")

    def _leave_everything(self) -> None:
        """A list that is open, a dialog, a filter and a pause are each left by an escape."""
        for _ in range(4):
            self._press("Escape")
            time.sleep(APART_S)

    def _clear_the_stage(self) -> None:
        """End the scene, and whoever else contends, the hard way."""
        self._come_home()
        self._turn_to("6", "[6 Demo]")
        self._press("E")
        self._see(lambda text: not ON_STAGE.search(text), CLEARED_S)
        ends = time.monotonic() + CLEARED_S
        while contenders := self._contenders():
            for pid in contenders:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._insist(time.monotonic() < ends, f"contenders are left: {contenders}")
            time.sleep(0.1)  # between two looks at a condition
        self._come_home()

    def _contenders(self) -> list[int]:
        found = marked(self._mark).items()
        return [pid for pid, command in found if "zktop.demo" in command]

    def _look(self) -> None:
        """See that nothing went wrong that somebody would have had to notice."""
        text = self._screen.text()
        for trouble in TROUBLE:
            self._insist(trouble not in text, f"{trouble!r} is on the screen:\n{text}")
        if self._log.exists():
            self._insist(False, "something failed")  # noqa: FBT003  and the log says what

    def _note(self) -> Rest:
        pid, at = self.pid, time.monotonic() - self._begin
        everybody = len(marked(self._mark))
        return Rest(at, memory_mb(pid), threads(pid), sockets(pid), everybody)

    def _press(self, *keys: str) -> None:
        self._newest.extend(keys)
        self.pressed += len(keys)
        self._screen.press(*("\\;" if key == ";" else key for key in keys))

    def _see(self, what: object, within_s: float = 10.0) -> float:
        try:
            return self._screen.until(what, within_s)  # type: ignore[arg-type]  # as it takes it
        except AssertionError as failure:
            self._insist_that_it_lives()
            self._look()
            raise LostError(f"{failure}\nround {self._round}, {self._said}") from None

    def _insist_that_it_lives(self) -> None:
        if not is_running(self.pid):
            code, text = self._screen.exit_code, self._screen.text()
            self._insist(False, f"zktop has ended with {code}:\n{text}")  # noqa: FBT003  it has

    def _insist(self, is_so: bool, otherwise: str) -> None:  # noqa: FBT001  what is insisted on
        if not is_so:
            log = self._log.read_text() if self._log.exists() else "empty"
            raise LostError(
                f"{otherwise}\nround {self._round}, {self._said}\nlog of the UI: {log}"
            )

    @property
    def _said(self) -> str:
        return f"the newest keys: {' '.join(self._newest)}"


def _tmux_key(name: str) -> str:
    """Give tmux's name of a key; letters are their own."""
    return TMUX[name] if name in TMUX else _letter(name)


def _letter(name: str) -> str:
    assert len(name) == 1, f"what does tmux call {name}?"
    return name


@contextlib.contextmanager
def fingers(seed: int, folder: Path) -> Iterator[Fingers]:
    """Give somebody at `zktop demo`; in the end it is left by its key, and nothing stays."""
    config = folder / "config.yaml"
    config.write_text(f"demo: {{ max_contenders: {MOST_CONTENDERS} }}\n")
    mark = f"ZKTOP_SOAK={uuid.uuid4().hex}"
    name, _, value = mark.partition("=")
    environment = {name: value, "XDG_STATE_HOME": str(folder)}
    command = ("env", "-C", str(folder), *ZKTOP, "demo", "--config", str(config))
    columns, lines = PLAIN
    with terminal(*command, columns=columns, lines=lines, environment=environment) as screen:
        screen.until("[6 Demo]")
        one = Fingers(screen, mark, folder / "zktop" / "ui.log", seed)
        yield one
        screen.press("q")
        ends = time.monotonic() + CLEARED_S
        while left := marked(mark):
            if time.monotonic() > ends:
                raise LostError(f"after `q` there is still {left}")
            time.sleep(0.05)  # between two looks at a condition
