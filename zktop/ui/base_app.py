"""How to behave in somebody's terminal, whatever is shown: colours, letters, signals, errors.

Textual knows none of this by itself: NO_COLOR comes out grey, a terminal without Unicode fills
with escapes, and a signal leaves the terminal as nobody can use it.

When a drawing fails, the rest goes on: what to say of it, and the details in a file.

A monitor that dies of one odd lock is of no use to somebody who needs it now. So the error is
named where nobody can miss it, and all that a maintainer needs is written down, once for each.
"""

import asyncio
import os
import signal
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import Binding
from textual.color import Color
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
from zktop.ui.settings import UiSettings
from zktop.ui.textual_fixes.key_queue import KeyHandled, KeyQueue
from zktop.ui.textual_fixes.terminal import AsciiFilter, TerminalDriver

MAX_ERROR_CHARS: Final = 60  # characters of an error's own words
MAX_LOG_BYTES: Final = 1_000_000  # bytes of details that are worth keeping


class ErrorLog:
    """Notes errors; says each in one sentence."""

    def __init__(self, file: Path | None = None) -> None:
        """Write details into this file, if there is one."""
        self.file = file
        self.last: Exception | None = None
        self._known: dict[str, str] = {}  # and what was said of it

    def note(self, what: str, error: Exception) -> str:
        """Give the sentence for an error; the details are written when it is met first."""
        self.last = error
        where = traceback.extract_tb(error.__traceback__)[-1:]
        name = f"{what} {type(error).__name__} {[(one.filename, one.lineno) for one in where]}"
        if name not in self._known:
            short = clean(f"{type(error).__name__}: {error}")[:MAX_ERROR_CHARS]
            said = f"{what} failed ({short}); everything else goes on."
            self._known[name] = f"{said} {self._written(what, error)}".rstrip()
        return self._known[name]

    def _written(self, what: str, error: Exception) -> str:
        if self.file is None:
            return ""
        told = "".join(traceback.format_exception(error))
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists() and self.file.stat().st_size > MAX_LOG_BYTES:
                return f"Details are not written: {self.file} is full."
            with self.file.open("a", encoding="utf-8", errors="backslashreplace") as out:
                out.write(f"{datetime.now(UTC).isoformat()} {what} failed\n{told}\n")
        except OSError as problem:
            return f"Details could not be written to {self.file}: {problem.strerror}."
        return f"Details are in {self.file}"


SIGNAL_EXIT_BASE: Final = 128  # and the signal's number: the exit code of who was ended by one
MIN_TIMER_S: Final = 0.01  # that a timer is set to
ERROR_SHOWN_S: Final = 10.0  # how long the newest error is named in the head


class NoColorFilter(LineFilter):
    """Takes all colours off: even the codes for "as usual" are codes for colours."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Leave bold, reverse and the like."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _without_colours(segment.style))
            for segment in segments
        ]


class CornerMessage(Notification):
    """A sentence in the corner whose time to go is never below nothing.

    Textual sets a timer to what is left when it draws one, and a timer set to less than nothing
    never ends: the screen would stand still for good, just because it was drawn a moment late.
    """

    @property
    def time_left(self) -> float:
        """Give the seconds that it is still to be seen."""
        return max(MIN_TIMER_S, super().time_left)

    @property
    def has_expired(self) -> bool:
        """Tell whether it has been there long enough."""
        return super().time_left <= 0


@lru_cache(1024)
def _without_colours(style: Style) -> Style:
    return style.without_color


def _first_theme(app: "BaseApp") -> str:
    return app.look.theme.name if app.look.theme is not None else DEFAULT_THEME


class BaseApp(App[int]):
    """An app that a terminal survives, and that survives its own drawings."""

    # Textual's own would be replaced before the first frame: all styles would be made twice.
    theme: Reactive[str] = Reactive(Initialize(_first_theme))

    BINDINGS: ClassVar = [
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),  # also where text is typed
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
    ]

    def __init__(self, look: UiSettings) -> None:
        self.has_colours = "NO_COLOR" not in os.environ
        self.look = look
        super().__init__(ansi_color=None if self.has_colours else True)
        self.error_log = ErrorLog(look.log)
        self._ascii = AsciiFilter(enabled=look.is_ascii)
        self._colourless = NoColorFilter(enabled=not self.has_colours)
        self._trouble, self._trouble_until = "", 0.0
        self.key_queue = KeyQueue(self, self._deliver)

    @property
    def available_themes(self) -> dict[str, Theme]:
        """All themes; the first one must be there before any can be registered."""
        first = self.look.theme
        known = super().available_themes
        return known if first is None else {first.name: first, **known}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Take off the screen what the terminal cannot show."""
        own = (self._ascii, self._colourless)
        return [*super().get_line_filters(), *(one for one in own if one.enabled)]

    def get_driver_class(self) -> type[Driver]:
        """Write to the terminal in a way that survives its end."""
        textuals = super().get_driver_class()
        if textuals is not LinuxDriver:
            return textuals
        return TerminalDriver

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Set one that goes off also when its time has passed before it began to wait.

        Textual's own does nothing then, for good: the window keeps its size whatever becomes of
        the terminal's, because Textual takes a new size when such a timer goes off.
        """
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False  # noqa: SLF001  no argument leads to it
        return timer

    def obey_signals(self) -> None:
        """Leave the terminal as it was when somebody ends us, or takes our terminal away."""
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGHUP):
            try:
                loop.add_signal_handler(one, self.exit, None, SIGNAL_EXIT_BASE + one)
            except (NotImplementedError, RuntimeError, ValueError):
                return  # not the main thread: a test

    @on(Driver.SignalResume)
    def paint_all(self) -> None:
        """Draw everything: while we were suspended the terminal showed something else."""
        for one in self.screen_stack:
            one.refresh(layout=True)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a sentence in the corner for a while."""
        lasts = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(CornerMessage(message, title, severity, lasts, markup=markup)))

    # Keys

    def on_mount(self) -> None:
        """Be told when a dialog comes or goes: who has the keys then is seen a moment later."""
        self.screen_change_signal.subscribe(self, self._follow, immediate=True)

    def _follow(self, screen: Screen[object]) -> None:
        self.key_queue.follow(screen, 1)

    async def on_event(self, event: events.Event) -> None:
        """Take a key when nobody is busy with the one before."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif not self.key_queue.holds(event):
            await self._deliver(event)

    async def on_key_handled(self, message: KeyHandled) -> None:
        """Take the next key."""
        key = self.key_queue.next_after(message)
        if key is not None:
            await self._deliver(key)

    async def _deliver(self, key: events.Key) -> None:
        if self.screen_stack:  # without a screen it is the end
            to = self.focused or self.screen
            await super().on_event(key)
            self.key_queue.follow(to)

    # Errors

    @property
    def trouble(self) -> str:
        """What went wrong lately, in one sentence."""
        return self._trouble if perf_counter() < self._trouble_until else ""

    def guarded(self, what: str, deed: Callable[[], object]) -> None:
        """Do something; when it fails say so, and go on."""
        try:
            deed()
        except Exception as error:  # noqa: BLE001  whatever it is, the rest is still of use
            self.failed(what, error)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key means to one of Textual's own widgets; that may fail as well."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:  # noqa: BLE001  whatever it is, the next key is still of use
            self.failed("That", error)
            return True

    def failed(self, what: str, error: Exception) -> None:
        """Have the head name an error for a while."""
        self._trouble = self.error_log.note(what, error)
        self._trouble_until = perf_counter() + ERROR_SHOWN_S

    def _handle_exception(self, error: Exception) -> None:
        """End with one sentence where nothing can go on; a test gets the error itself."""
        super()._handle_exception(error)
        if not self.is_headless:
            said = self.error_log.note("zktop", error).replace("; everything else goes on", "")
            self._exit_renderables[:] = [said]
