"""Times of transactions that never go back, although the clocks of leaders may.

Each transaction has the time of the leader that prepared it. A new leader's clock may be behind
the old one's, and any clock may be set back.
"""

from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import iso, spoken
from zktop.txnlog.replay_notes import ReplayNotes
from zktop.txnlog.transactions import Transaction

STEP_MS: Final = 1_000  # a clock that is behind by less than this soon catches up


class LeaderClock:
    """Gives each transaction a time, never earlier than that of the previous transaction."""

    def __init__(self, notes: ReplayNotes) -> None:
        self._notes = notes
        self._now: Millis = 0
        self._written_at: Millis | None = None  # of the last transaction, by its leader's clock
        self._epoch = 0  # of the last transaction. Each epoch has its own leader.

    def time_of(self, transaction: Transaction) -> Millis:
        """Return the time of the next transaction.

        If the clock is behind by a second or more, time continues from where it was, at half the
        speed of that clock, until it has caught up: ages of znodes are differences from these
        clocks. Between two leaders no time is known to pass.
        """
        written, previous, epoch = transaction.at, self._written_at, transaction.zxid >> 32
        is_new_leader = epoch != self._epoch
        self._written_at, self._epoch = written, epoch
        passed = 0 if previous is None else written - previous
        if self._now - written < STEP_MS:
            self._now = max(self._now, written)
        else:
            self._now += 0 if is_new_leader else max(0, passed) // 2
            if passed <= -STEP_MS:
                self._notes.add(
                    f"At {transaction.zxid:#x} the leader's clock went back by "
                    f"{spoken(-passed / 1000)}: from {iso(self._now)} on, times continue at half "
                    "speed until it has caught up, so durations are too short.",
                    "clock step",
                )
        return self._now
