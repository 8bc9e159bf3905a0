"""Copy to the clipboard, and export files: reports, recordings and pictures of the screen."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from zktop.model.format import count
from zktop.ui.actions.on_a_thread import on_a_thread
from zktop.ui.actions.svg_picture import portable_svg
from zktop.ui.dialogs.export import FORMATS, ExportDialog, ExportRequest
from zktop.ui.shell import Shell
from zktop.ui.view_state import TimeRange

MAX_QUOTED_CHARS: Final = 60  # how much of the copied text a message quotes
LEAD_MS: Final = 60_000  # recorded before the period, as evidence for the verdicts at its start
REPLAY_HINT: Final = ". Open it with `zktop replay`. It begins up to a minute earlier."


class ExportActions(Shell):
    """The keys for copy and export."""

    def action_copy(self) -> None:
        """Copy the text selected with the mouse, else the selected item."""
        selected = self.screen.get_selected_text()
        self._copy_or_say(selected or (self.page.copied() if self.page else ""))

    def action_copy_text(self) -> None:
        """Copy everything about the selected item."""
        self._copy_or_say(self.page.copied_text() if self.page else "")

    def _copy_or_say(self, text: str) -> None:
        if not text:
            self.show_message("Nothing to copy here.")
            return
        self.run_worker(self._copy(text))

    def on_text_selected(self) -> None:
        """Copy a text as soon as it is selected with the mouse."""
        if self.screen.get_selected_text():
            self.action_copy()

    async def _copy(self, text: str) -> None:
        copy, place = self.settings.copy, None
        try:
            if copy is not None:
                place = await on_a_thread(partial(copy, text))
            if place is None:
                place = "the terminal (OSC 52)"
                self.copy_to_clipboard(text)
        except Exception as error:  # noqa: BLE001  the screen is still useful
            self.failed("Copying", error)
            return
        first, *rest = text.splitlines()
        quoted = first
        if len(first) > MAX_QUOTED_CHARS:
            quoted = f"{first[: MAX_QUOTED_CHARS - 3]}..."
        more = f" (and {count(len(rest), 'more line')})" if rest else ""
        self.show_message(f"Copied to {place}: {quoted}{more}")

    def action_export(self) -> None:
        frame, exports, page = self.view_state.frame, self.visit.exports, self.page
        time_range = page.marked_range if page is not None and exports is not None else None
        has_report = exports is not None and frame is not None
        forms = [form for form in FORMATS if form == "svg" or (has_report and form != "clip")]
        stem = f"zktop-{datetime.now(UTC):%Y%m%d-%H%M%S}"

        def chosen(request: ExportRequest) -> None:
            self.call_after_refresh(partial(self._start_export, request, time_range))

        self.ask(ExportDialog(forms, stem, time_range), chosen)

    def _start_export(self, request: ExportRequest, time_range: TimeRange | None) -> None:
        """Take the content from the screen now, and write it while the UI continues."""
        frame, exports = self.view_state.frame, self.visit.exports
        if request.form == "svg":
            picture = portable_svg(self.export_screenshot(title="zktop")).encode()
            self.run_worker(self._write(request.file, lambda: picture))
        elif frame is None or exports is None:
            return
        elif request.form == "clip" and time_range is not None:
            begin, end = time_range
            past = self.tape.worlds(begin - LEAD_MS, end)
            clip = partial(exports.clip, past, frame.report.settings, begin)
            self.run_worker(self._write(request.file, clip, REPLAY_HINT))
        else:
            text = partial(exports.export, frame.report, request.form)
            self.run_worker(self._write(request.file, lambda: text().encode()))

    async def _write(self, file: Path, content: Callable[[], bytes], more: str = "") -> None:
        try:
            await on_a_thread(lambda: write_new(file, content()))
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self.show_message(f"Could not write {file}: {why}.", is_wrong=True)
        except Exception as error:  # noqa: BLE001  the screen is still useful
            self.failed("Writing", error)
        else:
            self.show_message(f"Written: {file}{more}")


def write_new(file: Path, content: bytes) -> None:
    """Write a complete file or none. Never replace an existing file."""
    with file.open("xb") as out:
        try:
            out.write(content)
            out.flush()
        except OSError:
            file.unlink()
            raise
