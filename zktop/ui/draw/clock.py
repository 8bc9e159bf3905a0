"""Times of day, and rates, as they are written everywhere."""

from datetime import UTC, datetime

from zktop.model.facts import Millis

FEW = 10


def exact(at: Millis) -> str:
    """Write a time of day to the millisecond, in UTC.

    >>> exact(1769860800123)
    '12:00:00.123'
    """
    return f"{datetime.fromtimestamp(at // 1000, UTC):%H:%M:%S}.{at % 1000:03d}"


def second(at: Millis) -> str:
    """Write a time of day to the second, in UTC.

    >>> second(1769860800999)
    '12:00:00'
    """
    return exact(at)[:8]


def per_second(rate: float | None) -> str:
    """Write how often something happens.

    >>> per_second(None), per_second(0.0), per_second(1.26), per_second(310.4)
    ('?', '0', '1.3', '310')
    """
    if rate is None:
        return "?"
    return f"{rate:.1f}" if 0 < rate < FEW else f"{rate:.0f}"
