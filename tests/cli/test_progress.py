"""How far a command is: one line on stderr, if that is a terminal."""

import io
import sys

import pytest

from zktop.cli.common import output
from zktop.cli.common.output import ProgressLine


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
