"""What a contender tells while it contends: frozen steps, each with a sentence in plain words."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from zktop.model.text import Text, clean

What = Literal[
    "connected",
    "suspended",  # the connection is gone, the session may live
    "lost",  # the session is gone, and with it every node and every lock
    "waiting",  # for the word to go on
    "created",
    "listed",
    "decided",
    "watching",
    "notified",
    "acquired",
    "working",
    "clash",  # somebody else is in the critical section too
    "releasing",  # from here on it does not count on the lock any more
    "released",
    "gave-up",
    "failed",
    "ended",
]

REPEATABLE = frozenset({"listed", "decided", "watching"})
REPEATED_AFTER_S = 1.0


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that one contender did or saw."""

    who: Text
    what: What
    says: Text
    at: str
    lock: Text | None = None
    node: Text | None = None  # what was created, watched, notified or released
    requests: int = 0  # that this contender has sent so far, for locks
    session: Text | None = None  # told when it is connected, as in a report: 0x and hex

    def line(self) -> str:
        """Give the step as one line for people."""
        return f"{self.at[11:23]} {self.who}: {self.says}"

    def json(self) -> str:
        """Give the step as one line for programs."""
        return msgspec.json.encode(self).decode()


Say = Callable[[Step], None]


class Narrator:
    """Stamps the steps of one contender and hands them on.

    A contender that spins would drown everybody in its steps: what was said less than a second
    ago is not said again, unless something has happened since.
    """

    def __init__(self, who: str, say: Say) -> None:
        """Speak for one contender."""
        self._who = clean(who)
        self._say = say
        self._said: dict[tuple[str, str], float] = {}
        self.requests = 0

    def tell(
        self,
        what: What,
        says: str,
        *,
        lock: str | None = None,
        node: str | None = None,
        session: str | None = None,
    ) -> None:
        """Tell one step."""
        if what not in REPEATABLE:
            self._said = {}
        elif self._just_said(what, says):
            return
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        step = Step(self._who, what, clean(says), at, requests=self.requests)
        given = {"lock": lock, "node": node, "session": session}
        names = {name: clean(raw) for name, raw in given.items() if raw}
        self._say(msgspec.structs.replace(step, **names))

    def _just_said(self, what: str, says: str) -> bool:
        now = time.monotonic()
        recent = now - self._said.get((what, says), -REPEATED_AFTER_S) < REPEATED_AFTER_S
        if not recent:
            self._said = {key: at for key, at in self._said.items() if now - at < REPEATED_AFTER_S}
            self._said[what, says] = now
        return recent
