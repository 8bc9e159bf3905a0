"""Whether one server answers, over several rounds of asking it."""

from zktop.model.facts import Millis, ServerState
from zktop.zk.connect.preflight import Outcome, Probe

MISSES = 2  # rounds without an answer: one alone may be a long garbage collection

_STATES: dict[Outcome, ServerState] = {
    "ok": "up",
    "silent": "no-answer",
    "unreachable": "down",
    "unknown-host": "down",
    "not-serving": "no-quorum",
}


class Standing:
    """What became of one server since zktop began to ask it.

    A member that only `/zookeeper/config` names, and that has never answered, may be fine: its
    address may mean nothing where zktop runs, as in containers.
    """

    def __init__(self, *, is_given: bool) -> None:
        self._is_ours = is_given
        self._misses = 0
        self._failed_at: Millis | None = None
        self.state: ServerState | None = None
        self.since: Millis | None = None  # it does not serve; None while it does

    @property
    def is_unsure(self) -> bool:
        """Tell whether only another round shows if the server is gone or was slow once."""
        return 0 < self._misses < MISSES

    def after(self, probe: Probe, begun: Millis) -> None:
        """Learn from one round; `begun` is when the server was asked."""
        state = _STATES.get(probe.outcome)  # None: what answers there is no plain ZooKeeper
        if state is None or state == "up":
            self._is_ours = self._is_ours or state == "up"
            self._misses, self._failed_at = 0, None
            self.state, self.since = state, None
            return
        self._failed_at = begun if self._failed_at is None else self._failed_at
        self._misses = self._misses + 1 if state == "no-answer" else MISSES
        if self._misses >= MISSES:
            self.state = state if self._is_ours else "unreached"
            self.since = self._failed_at
