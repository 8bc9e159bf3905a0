"""A recording as a feed of the UI: one thread that reads ahead as fast as the UI takes it."""

import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from zktop.commands.replayed import Replay
from zktop.errors import ZktopError
from zktop.model.facts import Millis
from zktop.ui.draw.clock import second
from zktop.ui.ports import Frame, Status, Tell

SAID_EVERY_S = 0.5
STOPPED_WITHIN_S = 3.0  # the session is closed by then, or expires by itself


class ReplayFeed:
    """Tells of everything in one file, with the verdicts of the live run."""

    is_live = False

    def __init__(self, replay: Replay) -> None:
        """Take a recording that was opened already, so that a wrong file was refused by now."""
        self.name = replay.path.name
        self.notes: Sequence[str] = ()
        self._replay = replay
        replay.narrates = False
        self._over = threading.Event()
        self._tell: Tell = lambda _news: None
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)

    def start(self, tell: Tell) -> None:
        """Begin to read."""
        self._tell = tell
        self._thread.start()

    def stop(self) -> None:
        """End the reading."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(STOPPED_WITHIN_S)

    def record(self, path: Path | None) -> None:
        """Do nothing: there is nothing to record that is not recorded."""

    def _run(self) -> None:
        self._tell(Status("replay", "Reading the recording ..."))
        try:
            self._tell(Status("replay", self._read(), is_end=True))
        except (ZktopError, OSError) as error:
            self._tell(Status("replay", str(error), is_end=True))

    def _read(self) -> str:
        """Read to the end; give what there is to say of it."""
        said_at, last = monotonic(), None
        for report in self._replay.reports():
            if self._over.is_set():
                return ""
            self._tell(Frame(report, report.events))
            last = report
            if monotonic() - said_at >= SAID_EVERY_S:
                said_at = monotonic()
                self._tell(Status("replay", _so_far(report.now)))
        if last is None:
            return f"{self._replay.path} holds nothing to look at."
        if self._replay.is_cut_off:
            return "This file was cut off: it is read up to its last whole line."
        return ""


def _so_far(at: Millis) -> str:
    return f"Reading ahead: up to {second(at)} so far."
