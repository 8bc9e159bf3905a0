"""Times and durations as people say them."""

from datetime import UTC, datetime

from zktop.model.facts import Millis

MINUTE, HOUR, DAY = 60, 3600, 86400


def iso(at: Millis) -> str:
    """Write a moment as ISO-8601 in UTC.

    >>> iso(1769860800123)
    '2026-01-31T12:00:00.123Z'
    """
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"


def millis(text: str) -> Millis:
    """Read what `iso` writes.

    >>> millis("2026-01-31T12:00:00.123Z")
    1769860800123
    """
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def spoken(seconds: float) -> str:
    """Write a duration in at most two units.

    >>> [spoken(s) for s in (0.04, 0.9, 12.34, 384, 7200, 266400)]
    ['40ms', '0.9s', '12s', '6m24s', '2h00m', '3d02h']
    """
    if seconds < 0.1:  # noqa: PLR2004  from here on tenths of a second say more
        return f"{seconds * 1000:.0f}ms"
    if seconds < 10:  # noqa: PLR2004  and from here on whole seconds
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02d}s"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d{whole % DAY // HOUR:02d}h"
