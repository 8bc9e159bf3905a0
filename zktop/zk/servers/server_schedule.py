"""When to ask one server for its tables again, and what its last sample was."""

from collections.abc import Sequence

from zktop.model.facts import ServerFact
from zktop.zk.servers.answer_state import AnswerState
from zktop.zk.servers.flavours import ServerKind
from zktop.zk.servers.known_tables import KnownTables
from zktop.zk.servers.server_clock import ServerClock
from zktop.zk.servers.table_formats import PathsBySession
from zktop.zk.servers.table_size_limits import TableSizeEstimate

SLOW_S = 1.0  # a server whose sample takes longer is asked less often
LONGEST_REST_S = 60.0  # while the server is slow
REST_FACTOR = 50  # pause after a sample, as a multiple of its CPU time
CHEAP_S = 0.01  # CPU time of a sample that never needs the longer pause
QUIET_RESTS = 20  # factor of the longer pause, while no znode of a lock changes
LONGEST_QUIET_S = 120.0


class ServerSchedule:
    """When to ask one server again, and the results of its last sample."""

    def __init__(self, *, is_given: bool = True) -> None:
        self.clock = ServerClock()
        self.answer_state = AnswerState(is_given=is_given)
        self.sizes = TableSizeEstimate()
        self.known_tables = KnownTables()
        self.kind: ServerKind | None = None  # as last reported
        self.server_id: int | None = None  # as last reported
        self.admin_due = 0.0
        self.known_at = 0.0  # when a name or the list of members last included it
        self.why_no_admin = ""
        self.watches: PathsBySession = {}  # of the last sample
        self.facts: Sequence[ServerFact] = ()  # of the last sample
        self._sampled_at: float | None = None
        self._changes: int | None = 0  # of znodes, when the last sample began
        self._cpu_s = 0.0  # CPU time of the last sample
        self._pause = 0.0

    def is_due(self, now: float, changes: int, *, may_rest: bool) -> bool:
        """True if a sample is due, later while the server is slow or sampling is expensive.

        `may_rest` allows a longer pause until a znode changes, but only after expensive samples.
        In a small ensemble, it would hide the end of a session with a timeout of one second.
        """
        if self._sampled_at is None:
            return True
        rest = REST_FACTOR * self._cpu_s
        if may_rest and self._cpu_s > CHEAP_S and changes == self._changes:
            rest = max(rest, min(QUIET_RESTS * rest, LONGEST_QUIET_S))
        return now >= self._sampled_at + max(self._pause, rest)

    def ask_now(self) -> None:
        """Make the next sample due at once."""
        self._sampled_at = None

    def sampled(
        self, at: float, changes: int | None, *, took: float, spent: float, every: float
    ) -> None:
        """Note a sample. If `changes` is None, the pause after it is not extended."""
        if took > SLOW_S:
            self._pause = min(LONGEST_REST_S, max(2 * self._pause, every))
        else:
            self._pause = 0.0
        self._sampled_at, self._cpu_s, self._changes = at, spent, changes
