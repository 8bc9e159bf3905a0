"""Computes when sessions expire, from times on the servers' own clocks.

`dump` prints dates in the server's time zone, to the second (3.4: its monotonic clock formatted as
a date). The AdminServer prints milliseconds of the monotonic clock. The current value of that
clock is estimated from the connections: it cannot be behind the newest answer to any of them.
"""

import time
from collections.abc import Iterable, Sequence
from datetime import date

from zktop.model.facts import Millis, Session
from zktop.zk.servers.table_formats import number

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = date(1970, 1, 1).toordinal()
_UTC = frozenset({"UTC", "GMT", "Z"})
_QUARTER_MS = 15 * 60 * 1000  # time zones differ by multiples of 15 minutes
# A listed session may be overdue by up to this time. An earlier date is in another zone.
_LATE_MS = 60 * 1000
_HALF_SECOND_MS = 500  # dates are truncated to seconds
_YEAR_DIGITS = 4
_DATE_FIELDS = 5  # year, day, hours, minutes, seconds
_WINDOW_MS = 5 * 60 * 1000  # a lead counts for one to two windows if new answers keep arriving
_MONOTONIC_BEFORE_YEAR = 2000  # 3.4 prints 1970


def monotonic_ms() -> Millis:
    """Return the time of a monotonic clock, for `ServerClock`."""
    return time.monotonic_ns() // 1_000_000


class ServerClock:
    """The lead of a server's monotonic clock over ours, learned from its answers to clients.

    An answer is always read a little later, so the largest lead is the best. As long as new
    answers keep arriving, leads older than two windows no longer count: the clocks drift apart,
    and a paused or moved server has another lead.
    """

    def __init__(self) -> None:
        self._newest_answer: int | None = None
        self._window_began: Millis = 0
        self._lower_bound: int | None = None  # of the lead, from the answers in this window
        self._previous_lower_bound: int | None = None  # from the previous window
        self._upper_bound: int | None = None

    def saw_answer(self, newest_answer: int | None, at: Millis) -> None:
        """Learn from the newest answer to any connection: the clock is not behind it."""
        if newest_answer is None or newest_answer == self._newest_answer:
            return
        self._newest_answer = newest_answer
        if (age := at - self._window_began) > _WINDOW_MS:
            self._previous_lower_bound = self._lower_bound if age <= 2 * _WINDOW_MS else None
            self._window_began, self._lower_bound = at, None
        ahead = newest_answer - at
        self._lower_bound = ahead if self._lower_bound is None else max(self._lower_bound, ahead)

    def saw_expiry(self, next_expiry: int | None, at: Millis) -> None:
        """Learn from the next expiry: the clock has not passed it.

        Without connected clients, as is often the case on a leader, nothing else shows the clock.
        """
        if next_expiry is not None:
            ahead = next_expiry - at
            self._upper_bound = (
                ahead if self._upper_bound is None else min(self._upper_bound, ahead)
            )

    def forget(self) -> None:
        """Start over: the server did not answer, and may have restarted."""
        self._newest_answer = None
        self._lower_bound = self._previous_lower_bound = self._upper_bound = None

    def now(self, at: Millis) -> int | None:
        """The server's clock when our monotonic clock reads `at`, or None if it is unknown."""
        bounds = (self._lower_bound, self._previous_lower_bound)
        ahead = max((bound for bound in bounds if bound is not None), default=self._upper_bound)
        return None if ahead is None else at + ahead


def from_dates(
    buckets: Iterable[tuple[str, Sequence[Session]]], at: Millis, monotonic: int | None
) -> dict[Session, int]:
    """Return the milliseconds until each session of a `dump` expires."""
    ms_left: dict[Session, int] = {}
    for when, sessions in buckets:
        ahead = _ms_until(when, at, monotonic)
        if ahead is not None:
            ms_left.update(dict.fromkeys(sessions, ahead))
    return ms_left


def from_monotonic(
    buckets: dict[int, tuple[Session, ...]], monotonic: int | None
) -> dict[Session, int]:
    """Return the milliseconds until each session of an AdminServer's `dump` expires."""
    if not buckets or monotonic is None:
        return {}
    now = min(monotonic, *buckets)  # expired sessions are not listed
    return {session: when - now for when, sessions in buckets.items() for session in sessions}


def _ms_until(when: str, at: Millis, monotonic: int | None) -> int | None:
    parts = _split_date(when)
    if parts is None:
        return None
    (year, day, hours, minutes, seconds), month, zone = parts
    days = date(year, month, 1).toordinal() - _EPOCH + day - 1
    moment = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    now = monotonic if year < _MONOTONIC_BEFORE_YEAR else at
    if now is None:
        return None
    ahead = moment * 1000 + _HALF_SECOND_MS - now
    if zone not in _UTC:  # the offset is unknown, so the time is known only modulo 15 minutes
        ahead = (ahead + _LATE_MS) % _QUARTER_MS - _LATE_MS
    return max(0, ahead)


def _split_date(when: str) -> tuple[list[int], int, str] | None:
    """Split a date that Java printed into its numbers (`_DATE_FIELDS`), its month and its zone."""
    match when.split():
        case [_, month, day, clock, zone, year] if month in _MONTHS and len(year) == _YEAR_DIGITS:
            fields = [number(part) for part in (year, day, *clock.split(":"))]
        case _:
            return None
    numbers = [field for field in fields if field is not None and field >= 0]
    if len(numbers) != len(fields) or len(fields) != _DATE_FIELDS or not numbers[0]:
        return None
    return numbers, _MONTHS.index(month) + 1, zone
