"""Base app: NO_COLOR, ASCII, signals, themes, the key queue, and errors while drawing.

An error in a drawing or in an action does not end the program. The header shows it for a while,
and its traceback goes to a log file, once for each line of code.
"""

import asyncio
import os
import signal
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Final

from rich.console import RenderableType
from textual import events, on
from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import Binding
from textual.constants import DEFAULT_THEME
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.notifications import Notification, Notify, SeverityLevel
from textual.reactive import Initialize, Reactive
from textual.screen import Screen
from textual.theme import Theme
from textual.timer import Timer, TimerCallback

from zktop.model.text import clean
from zktop.ui.keys import key_of
from zktop.ui.settings import UiSettings
from zktop.ui.terminal_filters import AsciiFilter, NoColorFilter
from zktop.ui.textual_fixes.drawn_text import release_drawn
from zktop.ui.textual_fixes.key_queue import KeyHandled, KeyQueue
from zktop.ui.textual_fixes.terminal_driver import TerminalDriver

MAX_ERROR_CHARS: Final = 60
MAX_LOG_BYTES: Final = 1_000_000
SIGNAL_EXIT_BASE: Final = 128  # plus the number of the signal: the exit code
MIN_TIMER_S: Final = 0.01
BORDER_COLOUR: Final = "#444444"
ERROR_SHOWN_S: Final = 10.0  # how long the header shows an error


class ErrorLog:
    """Writes tracebacks to a file and returns a sentence for the user."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.last: Exception | None = None
        self._known: dict[str, str] = {}  # sentences, by kind of error and line of code

    def note(self, what: str, error: Exception) -> str:
        """Return a sentence about an error. Log its traceback the first time."""
        self.last = error
        where = [
            (frame.filename, frame.lineno)
            for frame in traceback.extract_tb(error.__traceback__)[-1:]
        ]
        key = f"{what} {type(error).__name__} {where}"
        if key not in self._known:
            short = clean(f"{type(error).__name__}: {error}")[:MAX_ERROR_CHARS]
            sentence = f"{what} failed ({short}). The rest continues."
            self._known[key] = f"{sentence} {self._write_details(what, error)}".rstrip()
        return self._known[key]

    def _write_details(self, what: str, error: Exception) -> str:
        if self.file is None:
            return ""
        trace = "".join(traceback.format_exception(error))
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists() and self.file.stat().st_size > MAX_LOG_BYTES:
                return f"Details were not written: {self.file} is full."
            with self.file.open("a", encoding="utf-8", errors="backslashreplace") as out:
                out.write(f"{datetime.now(UTC).isoformat()} {what} failed\n{trace}\n")
        except OSError as problem:
            return f"Details could not be written to {self.file}: {problem.strerror}."
        return f"Details are in {self.file}"


class CornerMessage(Notification):
    """A message in the corner whose remaining time is never negative.

    Textual sets a timer to the remaining time when it draws a message. A timer with a negative
    time never fires, and the message would stay.
    """

    @property
    def time_left(self) -> float:
        return max(MIN_TIMER_S, super().time_left)

    @property
    def has_expired(self) -> bool:
        return super().time_left <= 0


def _first_theme(app: "BaseApp") -> str:
    return app.settings.theme.name if app.settings.theme is not None else DEFAULT_THEME


class BaseApp(App[int]):
    """Restores the terminal on every exit, and survives errors while drawing."""

    # With Textual's default, all styles would be computed twice before the first frame.
    theme: Reactive[str] = Reactive(Initialize(_first_theme))

    is_leaving = False  # from then on its widgets may be removed at any time

    BINDINGS: ClassVar = [
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),  # also in text fields
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
    ]

    def __init__(self, settings: UiSettings) -> None:
        self.has_colours = "NO_COLOR" not in os.environ
        self.settings = settings
        release_drawn()
        super().__init__(ansi_color=None if self.has_colours else True)
        self.error_log = ErrorLog(settings.log)
        self._ascii = AsciiFilter(enabled=settings.is_ascii)
        self._colourless = NoColorFilter(enabled=not self.has_colours)
        self._trouble, self._trouble_until = "", 0.0
        self.key_queue = KeyQueue(self, self._deliver)

    @property
    def available_themes(self) -> dict[str, Theme]:
        """All themes. The first one is needed before any can be registered."""
        first = self.settings.theme
        known = super().available_themes
        return known if first is None else {first.name: first, **known}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Add zktop's own colours to Textual's themes."""
        return {**super().get_theme_variable_defaults(), "line": BORDER_COLOUR}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters, then those for ASCII and NO_COLOR."""
        own = (self._ascii, self._colourless)
        return [
            *super().get_line_filters(),
            *(line_filter for line_filter in own if line_filter.enabled),
        ]

    def get_driver_class(self) -> type[Driver]:
        """Return a driver that survives a closed terminal."""
        usual = super().get_driver_class()
        return TerminalDriver if usual is LinuxDriver else usual

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Start a timer that fires even if its time has passed before it begins to wait.

        Textual never runs such a timer. It applies a new window size from a timer, so the new size
        would never take effect.
        """
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False  # noqa: SLF001  Textual has no argument for it
        return timer

    def exit(
        self,
        result: int | None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        self.is_leaving = True
        super().exit(result, return_code, message)

    def obey_signals(self) -> None:
        """Restore the terminal on SIGINT, SIGTERM and SIGHUP."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            try:
                loop.add_signal_handler(number, self.exit, None, SIGNAL_EXIT_BASE + number)
            except (NotImplementedError, RuntimeError, ValueError):
                return  # not the main thread: a test

    @on(Driver.SignalResume)
    def paint_all(self) -> None:
        """Redraw everything after zktop was suspended."""
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        timeout_s = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(
            Notify(CornerMessage(message, title, severity, timeout_s, markup=markup))
        )

    def on_notify(self) -> None:
        """Remove empty containers of earlier messages.

        Textual removes a message without its container if the message's timer is late. A busy
        machine leaves two empty containers a minute, and every layout includes all of them.
        """
        holders = self.screen.query("ToastHolder") if self.screen_stack else ()
        for holder in holders:
            if holder.is_mounted and not holder.children:
                holder.remove()

    # Keys

    def key_of(self, action: str) -> str:
        """Return the user's key of an action, for sentences that name it."""
        return key_of(action, self.settings.table)

    def on_mount(self) -> None:
        """Hold keys while a dialog opens or closes."""
        self.screen_change_signal.subscribe(self, self._follow, immediate=True)

    def _follow(self, screen: Screen[object]) -> None:
        self.key_queue.follow(screen, 1)

    async def on_event(self, event: events.Event) -> None:
        """Deliver a key, or queue it while another is being handled."""
        if isinstance(event, events.Key) and not self.screen_stack:
            return  # the app is closing
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif not self.key_queue.holds(event):
            await self._deliver(event)

    async def on_key_handled(self, message: KeyHandled) -> None:
        key = self.key_queue.next_after(message)
        if key is not None:
            await self._deliver(key)

    async def _deliver(self, key: events.Key) -> None:
        if self.screen_stack:
            receiver = self.focused or self.screen
            await super().on_event(key)
            self.key_queue.follow(receiver)

    # Errors

    @property
    def trouble(self) -> str:
        """The newest error in one sentence, for ten seconds."""
        return self._trouble if perf_counter() < self._trouble_until else ""

    def guarded(self, what: str, do: Callable[[], object]) -> None:
        """Call a function. If it fails, report the error and continue."""
        try:
            do()
        except Exception as error:  # noqa: BLE001  the rest of the screen is still useful
            self.failed(what, error)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action. If it fails, report the error and continue."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:  # noqa: BLE001  the next key is still useful
            self.failed("This action", error)
            return True

    def failed(self, what: str, error: Exception) -> None:
        """Report an error in the header for a while."""
        self._trouble = self.error_log.note(what, error)
        self._trouble_until = perf_counter() + ERROR_SHOWN_S

    def _handle_exception(self, error: Exception) -> None:
        """Exit with one sentence after a fatal error. Tests get the error itself."""
        super()._handle_exception(error)
        if not self.is_headless:
            sentence = self.error_log.note("zktop", error).replace(" The rest continues.", "")
            self._exit_renderables[:] = [sentence]

    def _fatal_error(self) -> None:
        """Exit without Textual's traceback, whose variables take gigabytes with 100,000 locks."""
        self._close_messages_no_wait()
