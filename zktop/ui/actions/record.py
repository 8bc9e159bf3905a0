"""Recording from the UI: from now on, or with the past that zktop remembers."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import spoken
from zktop.ui.dialogs.record import RecordDialog
from zktop.ui.interfaces import Past
from zktop.ui.shell import Shell

MIN_PAST_MS: Final[Millis] = 5_000  # a shorter past is not worth asking about


class RecordActions(Shell):
    """The key that starts and stops a recording."""

    def action_record(self) -> None:
        """Start or stop a recording. If there is a past, first ask whether to include it."""
        if not self.feed.is_live:
            self.show_message("This is already a recording.")
        elif self.visit.recording:
            self._stop_recording()
        elif self._past_ms < MIN_PAST_MS or not self._is_connected:
            self._start_recording(has_past=False)
        else:
            length = spoken(self._past_ms / 1000)
            self.ask(RecordDialog(length), self._answered)

    @property
    def _is_connected(self) -> bool:
        return self.visit.status.word not in ("connecting", "failed")

    @property
    def _past_ms(self) -> Millis:
        begin, end = self.tape.begin, self.tape.end
        return 0 if begin is None or end is None else end - begin

    def _answered(self, has_past: bool) -> None:  # noqa: FBT001  the result of a dialog
        if not self.visit.recording:
            self._start_recording(has_past=has_past)

    def _start_recording(self, *, has_past: bool) -> None:
        if not self._is_connected:
            self.show_message("Not connected: there is nothing to record.")
            return
        path = Path.cwd() / f"zktop-{datetime.now(UTC):%Y%m%d-%H%M%S}.zktop"
        self.visit.recording = str(path)
        self.feed.record(path, self._whole_past() if has_past else ())
        what = f", with the last {spoken(self._past_ms / 1000)}" if has_past else ""
        key = self.key_of("record")
        self.show_message(f"Recording to {path}{what}. Press {key} to stop.")
        self.draw()

    def _whole_past(self) -> Past:
        begin, end = self.tape.begin or 0, self.tape.end or 0
        return self.tape.worlds(begin, end)

    def _stop_recording(self) -> None:
        self.feed.record(None)
        self.show_message(f"Recording saved: {self.visit.recording}. Open it with `zktop replay`.")
        self.visit.recording = ""
        self.draw()
