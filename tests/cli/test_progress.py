"""How far a command is: one line on stderr, if that is a terminal."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from output.stories import LATER, facts, recorded, settings

from zktop.cli.common import output
from zktop.cli.common.output import ProgressLine
from zktop.model.format import iso


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        """Return what decides whether anything is shown."""
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_a_terminal_shows_the_newest_progress_and_clears_it_at_the_end(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    """A file or a pipe gets nothing at all."""
    monkeypatch.setattr(output, "PROGRESS_EVERY_S", 0.0)
    monkeypatch.setattr(sys, "stderr", stderr := stream())
    progress = ProgressLine()
    progress.show("1,000 znodes searched")
    progress.show("all looked at")
    progress.end()
    progress.end()

    first = "1,000 znodes searched"
    last = "all looked at".ljust(len(first))
    shown = ["", first, last, " " * len("all looked at"), ""]
    assert stderr.getvalue() == ("\r".join(shown) if stream is Terminal else "")


@pytest.mark.parametrize("command", ["check", "snapshot", "report", "metrics"])
def test_a_terminal_shows_how_far_a_recording_is_examined(
    zktop: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """The line is cleared before anything else is printed."""
    moments = [(LATER, facts("X x: A B")), (LATER + 1_000, [])]
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings("X x: A B"))
    monkeypatch.setattr(output, "PROGRESS_EVERY_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    _, _, err = zktop(command, "--from", str(file))

    shown = [f"examined up to {iso(at)}" for at, _ in moments]
    assert err == "\r".join(["", *shown, " " * len(shown[-1]), ""])
