"""Parse the time that a user wants to go to: a time of day, or an offset.

To accept "yesterday", or any other way to write a time, add a case to `moment_of`.
"""

import re
from datetime import UTC, datetime
from typing import Final

from zktop.model.facts import Millis

DAY_MS: Final = 86_400_000
_UNITS: Final = {"": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def moment_of(text: str, begin: Millis, here: Millis) -> Millis | None:
    """Parse a time of day, an offset from the beginning (+), or back from here (-).

    >>> moment_of("+90s", 5_000, 60_000), moment_of("-2", 5_000, 60_000)
    (95000, 58000)
    >>> moment_of("00:01:30.5", 5_000, 60_000), moment_of("half past two", 5_000, 60_000)
    (90500, None)
    """
    text = text.strip().removesuffix("Z")
    found = re.fullmatch(r"([+-])\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|)", text)
    if found:
        length = round(float(found[2]) * _UNITS[found[3]])
        return begin + length if found[1] == "+" else here - length
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,3})?)?", text):
            return _nearest_day(_of_day(text), here)
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def _of_day(text: str) -> Millis:
    hours, minutes, seconds = (*text.split(":"), "0")[:3]
    whole, _, part = seconds.partition(".")
    if int(hours) > 23 or int(minutes) > 59 or int(whole) > 59:  # noqa: PLR2004  as on every clock
        raise ValueError(text)
    return (
        int(hours) * 3_600_000
        + int(minutes) * 60_000
        + int(whole) * 1000
        + int(part.ljust(3, "0") or 0)
    )


def _nearest_day(of_day: Millis, here: Millis) -> Millis:
    """The moment with this time of day that is nearest to here."""
    today = here - here % DAY_MS + of_day
    return min((today - DAY_MS, today, today + DAY_MS), key=lambda at: abs(at - here))
