"""Messages between a contender's process and its parent: orders in, steps out, both as JSON."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from zktop.demo_types import ContenderOrder, ContenderStep, StepKind, WatchedPart
from zktop.errors import UsageError
from zktop.model.text import clean

REPEATABLE = frozenset({"listed", "decided", "watching"})
REPEATED_AFTER_S = 1.0
_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[^/\x00-\x1f\x7f-\x9f]+)+")

OnStep = Callable[[ContenderStep], None]


def read_order(text: str | bytes) -> ContenderOrder:
    """Parse an order from JSON.

    >>> read_order('{"name": "a", "claims": [{"recipe": "poll", "path": "/zktop-demo/x"}]}').work
    'hold'
    >>> read_order('{"name": "a"}')
    Traceback (most recent call last):
    zktop.errors.UsageError: not a valid order: Object missing required field `claims`
    """
    try:
        return msgspec.json.decode(text, type=ContenderOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise UsageError(f"not a valid order: {problem}") from None


def check_path(path: str, order: ContenderOrder) -> None:
    """Refuse an invalid path, and one outside the demo root unless the order allows it.

    >>> check_path("/app/lock", ContenderOrder("a", ()))
    Traceback (most recent call last):
    zktop.errors.UsageError: demo clients write only below /zktop-demo, and /app/lock is not ...
    """
    if not _PATH.fullmatch(path):
        raise UsageError(f"not a lock path: {path!r}. Example: {order.root}/name")
    if not order.anywhere and not path.startswith(order.root.rstrip("/") + "/"):
        raise UsageError(
            f"demo clients write only below {order.root}, and {path} is not below it; "
            "choose another path, or allow writing anywhere"
        )


class StepReporter:
    """Time-stamps the steps of one contender and passes them on.

    A contender that spins would flood the log, so a step that repeats within a second is dropped
    unless something else has happened in between.
    """

    def __init__(self, who: str, on_step: OnStep) -> None:
        self._who = clean(who)
        self._on_step = on_step
        self._reported_at: dict[tuple[str, str], float] = {}
        self.requests = 0

    def report(
        self,
        what: StepKind,
        says: str,
        *,
        lock: str | None = None,
        node: str | None = None,
        session: str | None = None,
        watched: WatchedPart = "node",
    ) -> None:
        """Report one step."""
        if what not in REPEATABLE:
            self._reported_at = {}
        elif self._is_repeated(what, says):
            return
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        step = ContenderStep(
            self._who, what, clean(says), at, requests=self.requests, watched=watched
        )
        places = {"lock": lock, "node": node, "session": session}
        names = {name: clean(raw) for name, raw in places.items() if raw}
        self._on_step(msgspec.structs.replace(step, **names))

    def _is_repeated(self, what: str, says: str) -> bool:
        now = time.monotonic()
        recent = {k: at for k, at in self._reported_at.items() if now - at < REPEATED_AFTER_S}
        is_repeated = (what, says) in recent
        self._reported_at = {(what, says): now} | recent
        return is_repeated
