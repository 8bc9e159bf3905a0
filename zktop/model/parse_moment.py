"""Parse a moment that a user typed: a full time, a time of day, or an offset.

To accept "yesterday", or any other way to write a time, add a case to `moment_of`.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from zktop.model.facts import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Millis

_UNITS: Final = {"": SECOND_MS, "ms": 1, "s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS}
_MAX_OFFSET_MS: Final = 366 * DAY_MS


def full_time(text: str) -> Millis | None:
    """Parse a time with its date, as zktop prints it. A time without a zone is in UTC.

    >>> full_time("1970-01-01T00:01:30Z"), full_time("00:01:30")
    (90000, None)
    """
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def moment_of(text: str, begin: Millis, current: Millis) -> Millis:
    """Parse a full time, a time of day, or an offset.

    An offset counts from the beginning (+), or back from the current moment (-).

    >>> moment_of("+90s", 5_000, 60_000), moment_of("-2", 5_000, 60_000)
    (95000, 58000)
    >>> moment_of("00:01:30.5", 5_000, 60_000)
    90500
    >>> moment_of("half past two", 5_000, 60_000)
    Traceback (most recent call last):
    ValueError: Not a time: half past two
    """
    text = text.strip()
    match = re.fullmatch(r"([+-])\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|s|m|h|)", text)
    if match:
        length = round(float(match[2]) * _UNITS[match[3]])
        if length <= _MAX_OFFSET_MS:
            return begin + length if match[1] == "+" else current - length
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z?", text):
        with suppress(ValueError):
            return _nearest_day(_of_day(text.removesuffix("Z")), current)
    if (at := full_time(text)) is not None:
        return at
    raise ValueError(f"Not a time: {text}")


def _of_day(text: str) -> Millis:
    hours, minutes, seconds = (*text.split(":"), "0")[:3]
    whole, _, part = seconds.partition(".")
    if int(hours) > 23 or int(minutes) > 59 or int(whole) > 59:  # noqa: PLR2004  as on every clock
        raise ValueError(text)
    return (
        int(hours) * HOUR_MS
        + int(minutes) * MINUTE_MS
        + int(whole) * SECOND_MS
        + int(part.ljust(3, "0") or 0)
    )


def _nearest_day(of_day: Millis, current: Millis) -> Millis:
    """The moment with this time of day that is nearest to the current moment."""
    today = current - current % DAY_MS + of_day
    return min((today - DAY_MS, today, today + DAY_MS), key=lambda at: abs(at - current))
