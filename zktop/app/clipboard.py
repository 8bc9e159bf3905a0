"""Copy text with the program that serves the clipboard here: tmux, Wayland, X11 or macOS.

A terminal can set the clipboard itself (OSC 52), but many terminals and tmux silently ignore that.
So it is only the last resort, and is left to the UI.
"""

import shutil
import subprocess
from collections.abc import Mapping
from typing import Final, NamedTuple

TIMEOUT_S: Final = 2.0


class CopyProgram(NamedTuple):
    """A program that takes text on its standard input."""

    words: tuple[str, ...]
    variable: str  # environment variable that is set where the program works, "" for none
    place: str  # where the copied text is, as shown to the user


PROGRAMS: Final = (
    CopyProgram(("tmux", "load-buffer", "-w", "-"), "TMUX", "the tmux buffer"),
    CopyProgram(("tmux", "load-buffer", "-"), "TMUX", "the tmux buffer"),  # before tmux 3.2
    CopyProgram(("wl-copy",), "WAYLAND_DISPLAY", "the clipboard (wl-copy)"),
    CopyProgram(("xclip", "-selection", "clipboard"), "DISPLAY", "the clipboard (xclip)"),
    CopyProgram(("xsel", "--clipboard", "--input"), "DISPLAY", "the clipboard (xsel)"),
    CopyProgram(("pbcopy",), "", "the clipboard (pbcopy)"),
)


def copy_by_program(environment: Mapping[str, str], text: str) -> str | None:
    """Copy a text. Return where it is now, or None if no program took it."""
    for program in PROGRAMS:
        is_served = not program.variable or environment.get(program.variable)
        file = shutil.which(program.words[0], path=environment.get("PATH"))
        if is_served and file and _takes((file, *program.words[1:]), environment, text):
            return program.place
    return None


def _takes(words: tuple[str, ...], environment: Mapping[str, str], text: str) -> bool:
    try:
        done = subprocess.run(  # noqa: S603  without a shell, and the words are in PROGRAMS
            words,
            input=text.encode(),
            env=dict(environment),
            stdout=subprocess.DEVNULL,  # xclip keeps running, and would keep a pipe open
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
