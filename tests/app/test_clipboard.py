"""The clipboard: which program gets the text, and what is said when none takes it."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from zktop.app.clipboard import copy_by_program


def programs(folder: Path, *names: str, fails: bool = False) -> Mapping[str, str]:
    """An environment in which these programs store what they get."""
    for name in names:
        file = folder / name
        code = "exit 1" if fails else f'cat > "{folder}/{name}.got"'
        file.write_text(f"#!/bin/sh\n{code}\n")
        file.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.defpath}"}


@pytest.mark.parametrize(
    ("name", "variable", "place"),
    [
        ("wl-copy", "WAYLAND_DISPLAY", "the clipboard (wl-copy)"),
        ("xclip", "DISPLAY", "the clipboard (xclip)"),
        ("xsel", "DISPLAY", "the clipboard (xsel)"),
        ("pbcopy", "HOME", "the clipboard (pbcopy)"),
    ],
)
def test_the_program_of_the_desktop_gets_the_text(
    name: str, variable: str, place: str, tmp_path: Path
) -> None:
    """Whole, and as UTF-8."""
    environment = {**programs(tmp_path, name), variable: ":0"}

    assert copy_by_program(environment, "öne\ntwo") == place
    assert (tmp_path / f"{name}.got").read_text("utf-8") == "öne\ntwo"


def test_a_program_is_not_asked_where_it_cannot_work(tmp_path: Path) -> None:
    """The program xclip without a display would fail, or wait."""
    assert copy_by_program(programs(tmp_path, "xclip"), "text") is None
    assert not (tmp_path / "xclip.got").exists()


def test_after_a_failure_the_next_one_is_asked(tmp_path: Path) -> None:
    """A display that is gone must not lose the text."""
    failing = programs(tmp_path, "wl-copy", fails=True)
    environment = {
        **failing,
        **programs(tmp_path, "xclip"),
        "WAYLAND_DISPLAY": "w",
        "DISPLAY": "x",
    }

    assert copy_by_program(environment, "text") == "the clipboard (xclip)"


def test_nothing_takes_the_text_on_a_bare_terminal() -> None:
    """The terminal's own clipboard is left then."""
    assert copy_by_program({"PATH": "/nowhere"}, "text") is None


def test_inside_tmux_its_buffer_has_the_text(tmp_path: Path) -> None:
    """A real tmux; prefix ] would paste it."""
    socket = str(tmp_path / "tmux")

    def tmux(*words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", socket, *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    tmux("new-session", "-d", "sleep 60")
    try:
        session = tmux("display-message", "-p", "#{pid},#{session_id}").strip().replace("$", "")
        environment = {"PATH": os.environ["PATH"], "TMUX": f"{socket},{session}"}

        assert copy_by_program(environment, "ssh 10.0.4.31") == "the tmux buffer"
        assert tmux("show-buffer") == "ssh 10.0.4.31"
    finally:
        tmux("kill-server")
