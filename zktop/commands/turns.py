"""How often something may be done: at once after a quiet time, so many times a second for long.

Things seldom come alone. A lock is given up and the next look follows a moment after the last;
would it have to wait its turn, the second event would be seen late although little happens.

What takes long is done up to half as often: it is to leave four fifths of a core to others.
"""

SHARE = 5  # times as long as it takes, from one turn to the next


class Turns:
    """Saves up a few turns while nothing is done."""

    def __init__(self, per_second: float, saved: int = 6) -> None:
        self._every = 1 / per_second
        self._saved = (saved - 1) * self._every
        self._paid_until = 0.0

    @property
    def earliest(self) -> float:
        """Give the time from which on the next turn may be taken.

        >>> turns = Turns(per_second=10, saved=2)
        >>> for now in (5.0, 5.0, 5.0):
        ...     turns.take(now)
        >>> round(turns.earliest, 3)
        5.2
        """
        return self._paid_until - self._saved

    def take(self, now: float, seconds: float = 0.0) -> None:
        """Take a turn, which keeps a core busy for so long."""
        rest = min(max(self._every, SHARE * seconds), 2 * self._every)
        self._paid_until = max(self._paid_until, now) + rest
