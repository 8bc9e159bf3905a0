"""What happened, as far back as is remembered: what is long ago is packed.

The newest events are drawn again and again. Of the rest there are thousands that hardly anybody
asks for, and each as an object takes ten times the room that it takes packed with its like.
"""

import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile
from typing import Final

import msgspec

from zktop.model.facts import Millis
from zktop.model.history.events import Event

FRESH: Final = 500  # events that are not packed
TOGETHER: Final = 100  # are packed at one go

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(list[Event]).decode


class EventLog:
    """Events, newest last."""

    def __init__(self, most: int) -> None:
        """Begin with nothing, and never keep more than so many."""
        self._fresh: deque[Event] = deque(maxlen=most)
        self._old: deque[tuple[Millis, bytes]] = deque(
            maxlen=max(0, most - FRESH - TOGETHER) // TOGETHER
        )

    def __len__(self) -> int:
        """Count the events."""
        return len(self._fresh) + TOGETHER * len(self._old)

    def extend(self, events: Iterable[Event]) -> None:
        """Take what happened next; pack, and forget, what is too long ago."""
        for one in events:
            self._fresh.append(one)
            if self._old.maxlen and len(self._fresh) >= FRESH + TOGETHER:
                past = [self._fresh.popleft() for _ in range(TOGETHER)]
                self._old.append((past[0].at, zlib.compress(_pack(past))))

    def until(self, moment: Millis) -> Iterator[Event]:
        """Give what happened up to a moment, newest first."""
        return dropwhile(lambda one: one.at > moment, self._from_about(moment))

    def _from_about(self, moment: Millis) -> Iterator[Event]:
        """Leave out what is packed with newer ones alone."""
        is_before = not self._fresh or self._fresh[0].at > moment
        fresh = () if is_before else reversed(self._fresh)
        packed = dropwhile(lambda one: is_before and one[0] > moment, reversed(self._old))
        old = (reversed(_unpack(zlib.decompress(one))) for _, one in packed)
        return chain(fresh, chain.from_iterable(old))
