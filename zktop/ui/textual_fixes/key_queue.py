"""Keys one after another: the next goes on its way when all is done that the one before asked for.

Textual sends a key to whoever has the focus when it comes, and takes it for an order only where
nobody wanted it, once it has come up to the app. Who types fast is ahead of that: what follows
the key that opens a dialog goes to the table below, and what follows the key that closes it is
typed into something that is about to go, and is lost with it.

Has something done a little later, whatever else the processor does meanwhile.

A timer of Textual's that is to go off once never does when its time has passed before it began to
wait. On a busy machine a few milliseconds are gone so fast, and what waits for it waits for ever.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from textual.app import App
from textual.events import Key
from textual.message import Message
from textual.message_pump import MessagePump

from zktop.ui.keys import FIXED


def call_after(seconds: float, pump: MessagePump, do: Callable[[], object]) -> None:
    """Have somebody do this between two messages, so many seconds from now."""
    asyncio.get_running_loop().call_later(seconds, pump.call_later, do)


ROUNDS: Final = 2  # a key asks a widget for something, and the widget asks others
MAX_HOLD_S: Final = 2.0  # whatever may have gone wrong, the keys go on after this


class KeyHandled(Message):
    """Goes the way that a key went, behind it: where it comes up, the key is done with."""

    def __init__(self, first: MessagePump, rounds: int) -> None:
        self.first, self.rounds = first, rounds
        super().__init__()


class KeyQueue:
    """Holds keys back while another one is on its way."""

    def __init__(self, app: App[int], deliver: Callable[[Key], Awaitable[None]]) -> None:
        self._app, self._deliver = app, deliver
        self._held: deque[Key] = deque()
        self._came = 0  # how many were ever held
        self._behind: KeyHandled | None = None  # what the keys wait for

    @property
    def is_busy(self) -> bool:
        """Tell whether somebody is not done yet."""
        return self._behind is not None

    def holds(self, key: Key) -> bool:
        """Hold this key back for now, if somebody else is not done yet."""
        if self._behind is None or key.key in FIXED:
            return False
        self._held.append(key)
        self._came += 1
        call_after(MAX_HOLD_S, self._app, partial(self._lose_patience, self._came))
        return True

    def follow(self, to: MessagePump, rounds: int = ROUNDS) -> None:
        """Hold keys from now on, until all is done that waits for this one or above it."""
        self._behind = KeyHandled(to, rounds)
        if not to.post_message(self._behind):  # it is closing: nothing comes from there any more
            self._app.post_message(self._behind)

    def wait(self) -> None:
        """Hold keys until somebody is to be followed."""
        self._behind = KeyHandled(self._app, 0)

    def next_after(self, message: KeyHandled) -> Key | None:
        """Give the key that has waited longest, if this was what it waited for."""
        if message is not self._behind:
            return None
        self._behind = None
        if message.rounds > 1:
            self.follow(message.first, message.rounds - 1)
            return None
        return self._held.popleft() if self._held else None

    async def _lose_patience(self, number: int) -> None:
        """Let the key of this number go, and all before it: they have waited long enough."""
        while self._held and self._came - len(self._held) < number:
            await self._deliver(self._held.popleft())
