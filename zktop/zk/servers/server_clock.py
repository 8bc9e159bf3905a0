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
_QUARTER_MS = 15 * 60 * 1000  # time zones differ by whole quarters of an hour
_LATE_MS = 60 * 1000  # a bucket further in the past means another zone
_HALF_SECOND_MS = 500  # dates are truncated to seconds
_YEAR, _NUMBERS = 4, 5  # digits of a year; numbers in a date and a time
_WINDOW_MS = 5 * 60 * 1000  # a lead counts for one to two windows, while new answers come
_MONOTONIC_BEFORE = 2000  # year; 3.4 prints 1970


def monotonic_ms() -> Millis:
    """Return the time of a monotonic clock, for `ServerClock`."""
    return time.monotonic_ns() // 1_000_000


class ServerClock:
    """The lead of a server's monotonic clock over ours, learned from its answers to clients.

    An answer is always read a little later, so the largest lead is the best. While new answers
    come, leads older than two windows no longer count: the clocks drift apart, and a paused or
    moved server has another lead.
    """

    def __init__(self) -> None:
        self._newest_answer: int | None = None
        self._window_began: Millis = 0
        self._least_lead: int | None = None  # lower bound of the lead, from this window
        self._lead_before: int | None = None  # the same from the window before
        self._largest_lead: int | None = None  # upper bound

    def saw_answer(self, newest_answer: int | None, at: Millis) -> None:
        """Learn from the newest answer to any connection: the clock is not behind it."""
        if newest_answer is None or newest_answer == self._newest_answer:
            return
        self._newest_answer = newest_answer
        if (age := at - self._window_began) > _WINDOW_MS:
            self._lead_before = self._least_lead if age <= 2 * _WINDOW_MS else None
            self._window_began, self._least_lead = at, None
        ahead = newest_answer - at
        self._least_lead = ahead if self._least_lead is None else max(self._least_lead, ahead)

    def saw_expiry(self, next_expiry: int | None, at: Millis) -> None:
        """Learn from the next expiry: the clock has not passed it.

        Without connected clients, as often at a leader, nothing else shows the clock.
        """
        if next_expiry is not None:
            ahead = next_expiry - at
            self._largest_lead = (
                ahead if self._largest_lead is None else min(self._largest_lead, ahead)
            )

    def forget(self) -> None:
        """Start over: the server did not answer, and may have restarted."""
        self._newest_answer = self._least_lead = self._lead_before = self._largest_lead = None

    def now(self, at: Millis) -> int | None:
        """The server's clock when our monotonic clock reads `at`; None if it is unknown."""
        leads = [lead for lead in (self._least_lead, self._lead_before) if lead is not None]
        ahead = max(leads, default=self._largest_lead)
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
    now = monotonic if year < _MONOTONIC_BEFORE else at
    if now is None:
        return None
    ahead = moment * 1000 + _HALF_SECOND_MS - now
    if zone not in _UTC:  # so only the distance within a quarter of an hour is known
        ahead = (ahead + _LATE_MS) % _QUARTER_MS - _LATE_MS
    return max(0, ahead)


def _split_date(when: str) -> tuple[list[int], int, str] | None:
    """Split a date as Java prints it: year, day, hours, minutes, seconds; month; zone."""
    match when.split():
        case [_, month, day, clock, zone, year] if month in _MONTHS and len(year) == _YEAR:
            fields = [number(part) for part in (year, day, *clock.split(":"))]
        case _:
            return None
    numbers = [field for field in fields if field is not None and field >= 0]
    if len(numbers) != len(fields) or len(fields) != _NUMBERS or not numbers[0]:
        return None
    return numbers, _MONTHS.index(month) + 1, zone
