"""Press random keys at `zktop demo` in a real terminal, for a minute or for hours.

Each round plays a scene, presses keys, resizes the window, and then ends the scene and all demo
clients. The threads, sockets and processes must be the same after every round. The keys follow
from a seed; the steps of the demo contenders do not.
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

PRESSED_S = 8.0  # in each round
ANSWERS_S = 2.0  # median; starting demo contenders may take the CPU
HANGS_S = 20.0
CLEARED_S = 30.0
HERE = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Locks "
RECORDS = "● REC"
AGAIN = "Play again?"
SCENE_RUNS = re.compile("─ (Playing|Paused|Finished|Failed|Cleaning)")
TROUBLE = ("Traceback (most recent call last)", "The rest continues")
PLAIN, SIZES = (120, 36), ((120, 36), (80, 24), (200, 60), (60, 15), (30, 8), (250, 80))
MOST_CONTENDERS = 12
APART_S = 0.15  # after Esc; a key that follows sooner is part of an escape sequence
TMUX = {
    "escape": "Escape", "enter": "Enter", "tab": "Tab", "shift+tab": "BTab", "space": "Space",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "pageup": "PPage",
    "pagedown": "NPage", "home": "Home", "end": "End", "slash": "/", "plus": "+", "minus": "-",
    "left_square_bracket": "[", "right_square_bracket": "]", "question_mark": "?", "f1": "F1",
    "colon": ":", "shift+left": "S-Left", "shift+right": "S-Right", "ctrl+b": "C-b",
    "ctrl+f": "C-f", "ctrl+p": "C-p", "alt+left": "M-Left", "alt+right": "M-Right",
    "ctrl+o": "C-o", "apostrophe": "'", "at": "@",
    "less_than_sign": "<", "greater_than_sign": ">",
}  # fmt: skip
TYPED = ("a", "1", "state:waiting", "!ann", "/lock-/", "lock", "philosophers", "+5s", "zz[(")
DIALOGS = {  # the key that opens it, and the keys that close it
    "colon": ("Enter", "Escape"),
    "ctrl+p": ("Enter", "Escape"),
    "slash": ("Enter", "Escape"),
    "S": ("Enter", "Escape"),
    "t": ("Enter", "Escape"),
    "x": ("Enter", "Escape"),
    "T": ("Down", "Enter", "Escape"),
    "N": ("Tab", "Enter", "Escape"),
    "question_mark": ("Escape",),
    "o": ("Down", "Space", "Enter", "Escape"),
    "w": ("Down", "Enter", "Escape"),
    "apostrophe": ("Escape",),
    "ctrl+o": ("Escape",),
}
SCREENS = ("locks", "deadlocks", "sessions", "timeline", "demo")  # to search for in the palette


class Sample(NamedTuple):
    """Measurements while no scene and no demo contender runs."""

    at: float
    memory_mb: float
    threads: int
    sockets: int
    processes: int


class SoakError(AssertionError):
    """Something failed after these keys."""


class RandomKeys:
    """Presses keys and checks the screen."""

    def __init__(self, screen: Terminal, mark: str, log: Path, seed: int) -> None:
        self.samples: list[Sample] = []
        self.pressed = 0
        self.answers_s: list[float] = []  # of each screen change
        self.pid = screen.pid
        self._screen, self._mark, self._log = screen, mark, log
        self._chance = random.Random(seed)
        self._begin = time.monotonic()
        self._newest: deque[str] = deque(maxlen=200)
        self._round = 0

    def run(self, seconds: float) -> None:
        """Run rounds for this many seconds."""
        self._end_the_scene()  # `zktop demo` begins with one; zktop asks before it plays again
        while time.monotonic() - self._begin < seconds:
            self._play(self._chance.choice(SCENES).name)
            self._press_at_random(time.monotonic() + min(PRESSED_S, seconds / 4))
            self._end_the_scene()
            self._check()
            self.samples.append(self._sample())
            self._round += 1

    @property
    def answers_after_s(self) -> float:
        """Median time until zktop answers."""
        return median(self.answers_s)

    def _play(self, scene: str) -> None:
        """Play a scene, as a user would."""
        self._go_to_first_screen()
        self._press("S")
        self._wait_for("Play a scene")
        self._press(*scene, "Enter")
        self._wait_for(lambda text: "╭─ Learn" in text or AGAIN in text)
        if AGAIN in self._screen.text():  # a dialog took the key that ends the scene before
            self._press("Enter")
            self._wait_for("╭─ Learn")

    def _press_at_random(self, until: float) -> None:
        """Press any keys, and resize the window now and then."""
        keys = [name for key in KEYS if key.id != "quit" for name in key.names]
        while time.monotonic() < until:
            if self._chance.random() < 0.05:
                self._screen.resize(*self._chance.choice(SIZES))
            batch = self._chance.choices(keys, k=self._chance.randint(1, 6))
            for key in batch:
                self._press(_tmux_key(key))
                if key in DIALOGS:
                    self._answer(key)
            self._require_running()
            time.sleep(self._chance.choice((0.0, 0.05, 0.3)))  # people type in bursts

    def _answer(self, key: str) -> None:
        """Type into the dialog that this key may have opened, and close it."""
        words = SCREENS if key in ("colon", "ctrl+p") else TYPED
        self._press(*self._chance.choice(words))
        for leave in DIALOGS[key]:
            self._press(leave)
            time.sleep(APART_S)

    def _go_to_first_screen(self) -> None:
        """Close everything and go to the first screen."""
        self._screen.resize(*PLAIN)
        self._turn_to("1", HERE)

    def _turn_to(self, key: str, name: str) -> None:
        """Press until the screen is shown: earlier keys may open another one a moment later."""
        begin = time.monotonic()
        while True:
            self._close_everything()
            asked = time.monotonic()
            self._press(key)
            with contextlib.suppress(AssertionError):
                self._screen.until(name, ANSWERS_S)
            self.answers_s.append(time.monotonic() - asked)
            if self.answers_s[-1] < ANSWERS_S:
                return
            self._require_running()
            spent = time.monotonic() - begin
            self._require(
                spent < HANGS_S, f"{key} does not lead to {name}:\n{self._screen.text()}"
            )

    def _close_everything(self) -> None:
        """Each Esc closes one list, dialog, filter or pause."""
        for _ in range(4):
            self._press("Escape")
            time.sleep(APART_S)

    def _end_the_scene(self) -> None:
        """End the scene, and kill the remaining demo contenders."""
        self._go_to_first_screen()
        self._turn_to("6", "╭─ Learn")
        self._press("E")
        self._wait_for(lambda text: not SCENE_RUNS.search(text), CLEARED_S)
        ends = time.monotonic() + CLEARED_S
        while contenders := self._contenders():
            for pid in contenders:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._require(time.monotonic() < ends, f"contenders are left: {contenders}")
            time.sleep(0.1)  # between two looks at a condition
        self._go_to_first_screen()
        self._end_the_recording()

    def _end_the_recording(self) -> None:
        """A recording has a thread of its own."""
        if RECORDS in self._screen.text():
            self._press("r")
            self._wait_for(lambda text: RECORDS not in text)

    def _contenders(self) -> list[int]:
        found = marked(self._mark).items()
        return [pid for pid, command in found if "zktop.demo" in command]

    def _check(self) -> None:
        """Fail if the screen or the log shows an error."""
        text = self._screen.text()
        for trouble in TROUBLE:
            self._require(trouble not in text, f"{trouble!r} is on the screen:\n{text}")
        if self._log.exists():
            self._require(False, "something failed")  # noqa: FBT003  the log has the details

    def _sample(self) -> Sample:
        pid, at = self.pid, time.monotonic() - self._begin
        processes = len(marked(self._mark))
        return Sample(at, memory_mb(pid), threads(pid), sockets(pid), processes)

    def _press(self, *keys: str) -> None:
        self._newest.extend(keys)
        self.pressed += len(keys)
        self._screen.press(*("\\;" if key == ";" else key for key in keys))

    def _wait_for(self, what: object, within_s: float = 10.0) -> float:
        try:
            return self._screen.until(what, within_s)  # type: ignore[arg-type]  # as it takes it
        except AssertionError as failure:
            self._require_running()
            self._check()
            raise SoakError(f"{failure}\nround {self._round}, {self._last_keys}") from None

    def _require_running(self) -> None:
        if not is_running(self.pid):
            code, text = self._screen.exit_code, self._screen.text()
            self._require(False, f"zktop has ended with {code}:\n{text}")  # noqa: FBT003  it has ended

    def _require(self, is_so: bool, otherwise: str) -> None:  # noqa: FBT001  the condition
        if not is_so:
            log = self._log.read_text() if self._log.exists() else "empty"
            raise SoakError(
                f"{otherwise}\nround {self._round}, {self._last_keys}\nlog of the UI: {log}"
            )

    @property
    def _last_keys(self) -> str:
        return f"the newest keys: {' '.join(self._newest)}"


def _tmux_key(name: str) -> str:
    """The name of a key in tmux."""
    return TMUX[name] if name in TMUX else _letter(name)


def _letter(name: str) -> str:
    assert len(name) == 1, f"no tmux name for {name}"
    return name


@contextlib.contextmanager
def random_keys(seed: int, folder: Path) -> Iterator[RandomKeys]:
    """Start `zktop demo`. In the end, quit and check that no process is left."""
    config = folder / "config.yaml"
    config.write_text(f"demo: {{ max_contenders: {MOST_CONTENDERS} }}\n")
    mark = f"ZKTOP_SOAK={uuid.uuid4().hex}"
    name, _, value = mark.partition("=")
    environment = {name: value, "XDG_STATE_HOME": str(folder)}
    command = ("env", "-C", str(folder), *ZKTOP, "demo", "--config", str(config))
    columns, lines = PLAIN
    with terminal(*command, columns=columns, lines=lines, environment=environment) as screen:
        screen.until("╭─ Learn")
        keys = RandomKeys(screen, mark, folder / "zktop" / "ui.log", seed)
        yield keys
        screen.press("q")
        ends = time.monotonic() + CLEARED_S
        while left := marked(mark):
            if time.monotonic() > ends:
                raise SoakError(f"after `q` there is still {left}")
            time.sleep(0.05)  # between two looks at a condition
