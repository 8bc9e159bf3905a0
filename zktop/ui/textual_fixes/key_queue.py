"""Deliver keys one at a time, so that keys typed fast do the same as keys typed slowly.

Textual delivers a key to the widget that has the focus at that moment, even if the previous key
has yet to open a dialog, close one or turn the page. Without the queue, the key after the one that
opens a dialog goes to the table below, and the key after the one that closes it is lost.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Final

from textual.app import App
from textual.events import Key
from textual.message import Message
from textual.message_pump import MessagePump

from zktop.ui.keys import FIXED
from zktop.ui.textual_fixes.work_in_steps import call_after

ROUNDS: Final = 2  # a key makes a widget post a message, and its handler may post another
PICTURE_S: Final = 0.03  # from the handling of a key to the frame that shows its effect
MAX_HOLD_S: Final = 2.0  # a key that has been held for so long is delivered in any case


@dataclass
class KeyHandled(Message):
    """Marker posted after a key. When it bubbles up to the app, the key has been handled."""

    first: MessagePump
    rounds: int


class KeyQueue:
    """Holds keys back while another key is being handled."""

    def __init__(self, app: App[int], deliver: Callable[[Key], Awaitable[None]]) -> None:
        self._app, self._deliver = app, deliver
        self._held: deque[Key] = deque()
        self._ever_held = 0  # number of keys held so far
        self._marker: KeyHandled | None = None  # the one that the held keys wait for
        self._handled_s = 0.0  # when the last key was handled

    @property
    def is_busy(self) -> bool:
        """True while a key is being handled."""
        return self._marker is not None

    @property
    def is_answering(self) -> bool:
        """True while a key is being handled, or its effect is drawn."""
        return self.is_busy or perf_counter() - self._handled_s < PICTURE_S

    def holds(self, key: Key) -> bool:
        """Hold the key if another is being handled. Return False if it may be delivered now."""
        if self._marker is None or key.key in FIXED:
            return False
        self._held.append(key)
        self._ever_held += 1
        call_after(MAX_HOLD_S, self._app, partial(self._release_until, self._ever_held))
        return True

    def follow(self, to: MessagePump, rounds: int = ROUNDS) -> None:
        """Hold keys until everything posted so far to this widget and its parents is handled."""
        self._marker = KeyHandled(to, rounds)
        if not to.post_message(self._marker):  # the widget is closing
            self._app.post_message(self._marker)

    def wait(self) -> None:
        """Hold keys until the next `follow` has ended."""
        self._marker = KeyHandled(self._app, 0)

    def next_after(self, message: KeyHandled) -> Key | None:
        """Return the key to deliver when this marker arrives at the app."""
        if message is not self._marker:
            return None
        self._marker = None
        if message.rounds > 1:
            self.follow(message.first, message.rounds - 1)
            return None
        self._handled_s = perf_counter()
        return self._held.popleft() if self._held else None

    async def _release_until(self, number: int) -> None:
        """Deliver the held keys up to this number, which have waited long enough."""
        while self._held and self._ever_held - len(self._held) < number:
            await self._deliver(self._held.popleft())
