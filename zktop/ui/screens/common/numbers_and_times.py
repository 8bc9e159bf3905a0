"""Numbers, rates, times of day and ages as the screens write them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from zktop.model.facts import DAY_MS, MINUTE_MS, SECOND_MS, Millis
from zktop.model.format import clock, fold_name, iso, several, span, spoken
from zktop.model.history.events import SinceBound
from zktop.model.layouts.layout import LockMode

MODE_WORDS: Final[Mapping[LockMode, str]] = {  # added to the name of a lock
    "exclusive": "", "read": " (read)", "write": " (write)", "lease": " (lease)",
    "candidate": " (to lead)",
}  # fmt: skip
TENTHS_BELOW_PER_S = 10.0  # larger rates are written without a fraction


def time_ms(at: Millis) -> str:
    """Format a time of day to the millisecond, in UTC.

    >>> time_ms(1769860800123)
    '12:00:00.123'
    >>> time_ms(10**17)  # a client may write any time
    '09:46:40.000'
    """
    return f"{clock(at).rstrip('Z')}.{at % 1000:03d}"


def time_s(at: Millis) -> str:
    """Format a time of day to the second, in UTC.

    >>> time_s(1769860800999)
    '12:00:00'
    """
    return time_ms(at)[:8]


def time_or_date(at: Millis, now: Millis) -> str:
    """Format a time of day, with its date if it is a day or more ago.

    >>> time_or_date(1769860800999, 1769860900000), time_or_date(1769860800999, 1769960900000)
    ('12:00:00', '2026-01-31 12:00')
    """
    return time_s(at) if now - at < DAY_MS else iso(at)[:16].replace("T", " ")


def with_date_if_needed(time: str, at: Millis, *others: Millis) -> str:
    """Put the date before the time of a moment, unless all others are on the same day.

    >>> with_date_if_needed("12:00:00", 1769860800999, 1769860900000)
    '12:00:00'
    >>> with_date_if_needed("12:00:00", 1769860800999, 1769960900000)
    '2026-01-31 12:00:00'
    """
    is_same_day = all(other // DAY_MS == at // DAY_MS for other in others)
    return time if is_same_day else f"{iso(at)[:10]} {time}"


def frequent_names(names: Sequence[str], most: int) -> str:
    """Return the most frequent client names. Names that differ only in ids count together.

    >>> names = ["web-1", "cart-1", "cart-2"]
    >>> frequent_names(names, 2), frequent_names(names, 1)
    ('cart-* 2, web-1', 'cart-* 2, …')
    """
    example = {fold_name(name): name for name in names}
    counts = Counter(map(fold_name, names)).most_common(most)
    text = ", ".join(example[name] if n == 1 else f"{name} {n}" for name, n in counts)
    return f"{text}, …" if len(example) > most else text


def sort_value(value: float | None) -> float:
    """Return a number to sort by. Unknown values sort before all others."""
    return -1 if value is None else value


def per_second(rate: float | None) -> str:
    """Format a rate.

    >>> per_second(None), per_second(0.0), per_second(1.26), per_second(310.4)
    ('?', '0', '1.3', '310')
    """
    if rate is None:
        return "?"
    return f"{rate:.1f}" if 0 < rate < TENTHS_BELOW_PER_S else f"{rate:.0f}"


TOTAL_WAIT_CELLS: Final = 10  # the width of a column of total waiting times
DAYS_FROM_MS: Final = 1000 * DAY_MS  # longer times are written without hours


def with_spaces(number: int) -> str:
    """Format a number with a space between thousands.

    >>> with_spaces(9998), with_spaces(28)
    ('9 998', '28')
    """
    return f"{number:,}".replace(",", " ")


def large_count(number: int, noun: str) -> str:
    """Format a large number and its noun.

    >>> large_count(1, "session"), large_count(12000, "session")
    ('1 session', '12 000 sessions')
    """
    return f"{with_spaces(number)} {noun}{'' if number == 1 else 's'}"


def total_wait(ms: Millis, bound: str = "") -> str:
    """Format the total waiting time of several clients. A very long one is in days alone.

    >>> total_wait(900), total_wait(9_998_700), total_wait(86_465_000, "≥")
    ('0s', '2h46m', '≥1d00h')
    >>> total_wait(123_456_789_000_000)
    '1428898d'
    """
    if ms < SECOND_MS:
        return f"{bound}0s"
    return f"{bound}{span(ms) if ms < DAYS_FROM_MS else f'{ms // DAY_MS}d'}"


TENTHS_BELOW_MS = 10 * SECOND_MS  # `spoken` writes tenths of a second
COARSE_MS = 10 * SECOND_MS


def elapsed(ms: Millis) -> str:
    """Format a growing duration: in whole seconds, and after a minute in steps of ten.

    Tenths would flicker, and seconds would redraw a screen of quiet locks every second.

    >>> elapsed(300), elapsed(3_900), elapsed(59_900), elapsed(384_000)
    ('<1s', '3s', '59s', '6m20s')
    """
    if ms < SECOND_MS:
        return "<1s"
    if ms < TENTHS_BELOW_MS:
        return f"{ms // SECOND_MS}s"
    step_ms = SECOND_MS if ms < MINUTE_MS else COARSE_MS
    return spoken(ms // step_ms * step_ms / SECOND_MS)


def age(at: Millis | None, bound: SinceBound, now: Millis, *, is_ascii: bool = False) -> str:
    """Format the time since `at`, with a sign if it is only a lower bound.

    >>> age(0, "seen", 12_000), age(0, "at-least", 12_000), age(None, "unknown", 12_000)
    ('12s', '≥12s', '?')
    >>> age(0, "at-least", 12_000, is_ascii=True)
    '>=12s'
    >>> age(0, "at-least", 300), age(0, "seen", 300)
    ('≥0s', '<1s')
    """
    if at is None or bound == "unknown":
        return "?"
    if bound == "seen":
        return elapsed(now - at)
    text = "0s" if now - at < SECOND_MS else elapsed(now - at)
    return at_least_sign(is_ascii=is_ascii) + text


def at_least_sign(*, is_ascii: bool) -> str:
    return ">=" if is_ascii else "≥"


def not_woken(names: Sequence[str]) -> str:
    """Return the clause for clients that are next but that nothing will wake.

    >>> not_woken(["bob"])
    'bob is next, but nothing will wake it'
    """
    verb, pronoun = ("are", "them") if len(names) > 1 else ("is", "it")
    return f"{several(names)} {verb} next, but nothing will wake {pronoun}"
