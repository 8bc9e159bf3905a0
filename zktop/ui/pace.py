"""When rows may change places: nobody can read a list that is shuffled twenty times a second.

Values change as they come. The order follows twice a second at most, not while the user
moves the cursor, and without news only now and then, because waiting adds up.
"""

from typing import Final

BETWEEN_S: Final = 0.5
AFTER_KEY_S: Final = 1.0
AGING_S: Final = 10.0


class Pace:
    """Says how long the next ordering has to wait; told the time, it looks at no clock."""

    def __init__(self) -> None:
        """Begin with everything out of order."""
        self._is_stale = True
        self._at = -AGING_S

    def changed(self) -> None:
        """Take note that rows are others now."""
        self._is_stale = True

    def wait(self, now_s: float, moved_at_s: float = 0.0) -> float | None:
        """Give the seconds until the order may change; None when there is no need.

        >>> pace = Pace()
        >>> pace.wait(10.0), pace.ordered(10.0), pace.wait(10.1)
        (0.0, None, None)
        >>> pace.changed(), round(pace.wait(10.1), 2), round(pace.wait(10.4, moved_at_s=10.3), 2)
        (None, 0.4, 0.9)
        """
        if not self._is_stale and now_s - self._at < AGING_S:
            return None
        return max(0.0, self._at + BETWEEN_S - now_s, moved_at_s + AFTER_KEY_S - now_s)

    def ordered(self, now_s: float) -> None:
        """Take note that everything is in order."""
        self._is_stale, self._at = False, now_s
