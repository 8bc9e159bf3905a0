"""Short ids of sessions: the last digits, if no other session shown has the same ones."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from zktop.model.facts import Session
from zktop.model.session_ids import session_text

DIGITS: Final = 4
_BITS_PER_DIGIT: Final = 4


class ShortIds:
    """The short ids of sessions that are shown together.

    The sessions of a server have the same first digits. Each server counts from 0 at each start,
    so the first sessions of two servers have the same last digits: these keep their whole ids,
    and a narrow column cuts them at the start.

    >>> shown = ShortIds([0x100000d0d270000, 0x200000d0d280000, 0x100000d0d270001, 0x1f])
    >>> shown.of(0x100000d0d270001), shown.of(0x1f), shown.of(0x200000d0d280000)
    ('0x…0001', '0x1f', '0x200000d0d280000')
    """

    def __init__(self, sessions: Iterable[Session] = (), digits: int = DIGITS) -> None:
        self._digits, self._mask = digits, (1 << _BITS_PER_DIGIT * digits) - 1
        self._sessions_by_end = Counter(session & self._mask for session in {*sessions})

    def add(self, session: Session) -> None:
        self._sessions_by_end[session & self._mask] += 1

    def remove(self, session: Session) -> None:
        end = session & self._mask
        self._sessions_by_end[end] -= 1
        if not self._sessions_by_end[end]:
            del self._sessions_by_end[end]

    def of(self, session: Session) -> str:
        text = session_text(session)
        is_short = len(text) <= self._digits + len("0x…")
        if is_short or self._sessions_by_end[session & self._mask] > 1:
            return text
        return f"0x…{text[-self._digits :]}"
