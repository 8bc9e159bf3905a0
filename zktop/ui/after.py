"""Has something done a little later, whatever else the processor does meanwhile.

A timer of Textual's that is to go off once never does when its time has passed before it began to
wait. On a busy machine a few milliseconds are gone so fast, and what waits for it waits for ever.
"""

import asyncio
from collections.abc import Callable

from textual.message_pump import MessagePump


def after(seconds: float, pump: MessagePump, do: Callable[[], object]) -> None:
    """Have somebody do this between two messages, so many seconds from now."""
    asyncio.get_running_loop().call_later(seconds, pump.call_later, do)
