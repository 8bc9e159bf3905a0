"""Whether one server answers, over several rounds."""

from zktop.model.facts import Millis, ServerState
from zktop.zk.connect.preflight import Outcome, Probe

MAX_MISSED_ROUNDS = 2  # without an answer. A single one may be a long garbage collection.

_STATES: dict[Outcome, ServerState] = {
    "ok": "up",
    "silent": "no-answer",
    "unreachable": "down",
    "unknown-host": "down",
    "not-serving": "no-quorum",
}


class AnswerState:
    """The answers of one server since zktop first asked it.

    A member that is known only from `/zookeeper/config` and has never answered may be fine: its
    address may be invalid where zktop runs, as with containers.
    """

    def __init__(self, *, is_given: bool) -> None:
        self._is_reachable = is_given  # its address is known to be valid here
        self._misses = 0
        self._failed_at: Millis | None = None
        self.state: ServerState | None = None
        self.since: Millis | None = None  # when it stopped serving, or None while it serves

    @property
    def is_unsure(self) -> bool:
        """True until another round shows whether the server is down or was slow only once."""
        return 0 < self._misses < MAX_MISSED_ROUNDS

    def update(self, probe: Probe, begun: Millis) -> None:
        """Take the result of one round, in which the server was asked at `begun`."""
        state = _STATES.get(probe.outcome)  # None: not a plain ZooKeeper
        self._is_reachable = self._is_reachable or state in ("up", "no-quorum")
        if state is None or state == "up":
            self._misses, self._failed_at = 0, None
            self.state, self.since = state, None
            return
        self._failed_at = begun if self._failed_at is None else self._failed_at
        self._misses = self._misses + 1 if state == "no-answer" else MAX_MISSED_ROUNDS
        if self._misses >= MAX_MISSED_ROUNDS:
            self.state = state if self._is_reachable else "unreached"
            self.since = self._failed_at
