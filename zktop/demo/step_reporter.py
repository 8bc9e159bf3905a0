"""Reports a contender's steps to its parent, time-stamped and without quick repetitions."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from zktop.demo_types.contender_state import ContenderStep, StepKind, WatchedPart
from zktop.model.text import clean

REPEATABLE = frozenset({"listed", "decided", "watching"})
REPEATED_AFTER_S = 1.0

OnStep = Callable[[ContenderStep], None]


def time_stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class StepReporter:
    """Time-stamps the steps of one contender and passes them on.

    A contender that spins would flood the log, so a step that is repeated within a second is
    dropped unless something else has happened in between.
    """

    def __init__(self, contender: str, on_step: OnStep) -> None:
        self._contender = clean(contender)
        self._on_step = on_step
        self._reported_at: dict[tuple[str, str], float] = {}
        self.requests = 0

    def report(  # noqa: PLR0913  what, where and when
        self,
        what: StepKind,
        says: str,
        *,
        lock: str | None = None,
        node: str | None = None,
        session: str | None = None,
        watched: WatchedPart = "node",
        at: str | None = None,
    ) -> None:
        """Report a step. `at` is when it began, if it began before this call."""
        if what not in REPEATABLE:
            self._reported_at = {}
        elif self._is_repeated(what, says):
            return
        step = ContenderStep(
            self._contender,
            what,
            clean(says),
            at or time_stamp(),
            requests=self.requests,
            watched=watched,
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
