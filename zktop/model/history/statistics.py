"""How long something usually takes: the newest samples, their quantiles and their histogram.

What the root's own counters prove about children that nobody saw.

The root counts every creation and its children, so both numbers of what happened between two
readings are exact. They are read with a listing, while members may be heard of one by one before
it; whatever was seen ahead of the counters is therefore kept in the balance until they catch up.

Who gave up waiting, how often and after how long: what ZooKeeper never tells of time-outs.

The middle of a few whole numbers.

The standard library's way loads decimal fractions, which take longer to load than a small
ensemble takes to read.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from math import ceil
from typing import Final

import msgspec

from zktop.model.facts import Stat, session_text
from zktop.model.locks.lock import Member

KEPT: Final = 512
ENOUGH: Final = 20  # samples; fewer make no quantile
BUCKETS_MS: Final = (10, 40, 160, 640, 2_560, 10_240, 40_960)  # upper ends; then "more"
LONGEST_MS: Final = 0xFFFF_FFFF  # fifty days, in four bytes


class Durations(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The newest samples in milliseconds, and how many there were in all."""

    samples: Sequence[int] = ()
    count: int = 0
    at_least: int = 0  # how many more ended whose beginning nobody saw

    @property
    def newest(self) -> int | None:
        """The last sample."""
        return self.samples[(self.count - 1) % KEPT] if self.count else None

    @property
    def h50(self) -> int | None:
        """The median; None while there are too few samples."""
        return self.quantile(0.5)

    @property
    def h99(self) -> int | None:
        """The 99th percentile; None while there are too few samples."""
        return self.quantile(0.99)

    @property
    def buckets(self) -> tuple[int, ...]:
        """How many samples are below 10 ms, 40 ms, ... 41 s, and above that."""
        ends = [bisect_right(self._sorted, end - 1) for end in BUCKETS_MS]
        starts = [0, *ends]
        return tuple(b - a for a, b in zip(starts, [*ends, len(self.samples)], strict=True))

    def quantile(self, share: float) -> int | None:
        """Give the smallest sample that at least this share of them does not exceed."""
        known = len(self.samples)
        if known < ENOUGH:
            return None
        return self._sorted[max(0, ceil(share * known) - 1)]

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted(self.samples)


NO_DURATIONS: Final = Durations()


class DurationSamples:
    """A growing collection of durations; it changes, its `durations` do not."""

    __slots__ = ("_at_least", "_count", "_samples")

    def __init__(self) -> None:
        self._samples = array("I")
        self._count = self._at_least = 0

    def add(self, duration_ms: int, *, is_exact: bool) -> None:
        """Take note of one duration; of one that is only a lower bound, that it was."""
        if not is_exact:
            self._at_least += 1
            return
        sample = min(max(0, duration_ms), LONGEST_MS)
        if len(self._samples) < KEPT:
            self._samples.append(sample)
        else:
            self._samples[self._count % KEPT] = sample
        self._count += 1

    @property
    def durations(self) -> Durations:
        """What was collected up to now."""
        if not self._count and not self._at_least:
            return NO_DURATIONS
        return Durations(self._samples[:], self._count, self._at_least)


_WRAP: Final = 1 << 32
_PLAUSIBLE: Final = 1 << 31


class RootCounters:
    """A running balance: told by the root, seen by us, missed."""

    __slots__ = ("_stat", "creates", "deletes", "missed_creates", "missed_deletes", "seen")

    def __init__(self, stat: Stat | None, ahead: int = 0) -> None:
        """Begin with a reading, and how many creations after it were seen already."""
        self._stat = stat
        self.creates = self.deletes = 0  # told by the root
        self.seen = [ahead, 0]
        self.missed_creates = self.missed_deletes = 0

    def after(self, stat: Stat | None, created: int, deleted: int) -> tuple[int, int]:
        """Take note of a look; give how many more creations and deletions were missed."""
        self.seen[0] += created
        self.seen[1] += deleted
        if stat is not None and stat != self._stat:
            self._read(stat)
        creates = max(0, self.creates - self.seen[0] - self.missed_creates)
        deletes = max(0, self.deletes - self.seen[1] - self.missed_deletes)
        self.missed_creates += creates
        self.missed_deletes += deletes
        return creates, deletes

    @property
    def coverage(self) -> float | None:
        """Which part of all creations was seen; None while the root told of none."""
        known = self.creates
        return None if known <= 0 else max(0.0, 1 - self.missed_creates / known)

    def _read(self, stat: Stat) -> None:
        before, self._stat = self._stat, stat
        following, earlier = stat.next_sequence, before.next_sequence if before else None
        if before is None or following is None or earlier is None:
            return
        creates = (following - earlier) % _WRAP
        if creates >= _PLAUSIBLE:  # the counter went down: an older reading, or another node
            self._stat = before
            return
        self.creates += creates
        self.deletes += creates - (stat.num_children - before.num_children)


def median(samples: Collection[int]) -> int:
    """Give the middle one, or the rounded mean of the two in the middle.

    >>> median([30, 10, 20]), median([10_000, 10_200])
    (20, 10100)
    """
    ordered = sorted(samples)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return round((low + high) / 2)


IDENTITIES: Final = 64  # of one lock; who tried longest ago is forgotten first
WAITS: Final = 8
ENOUGH_TO_LEARN: Final = 2

Identity = str


def identity_of(member: Member) -> Identity:
    """Name who contends: by label, else by session, so that a retry is known as one."""
    return member.label or session_text(member.owner)


class Attempts(msgspec.Struct, frozen=True, gc=False):
    """The tries of one identity at one lock."""

    given_up: int = 0  # in a row, since it last got the lock
    overtaken: int = 0  # later arrivals that were served meanwhile
    first_czxid: int = 0  # when that row of tries began
    waits_ms: tuple[int, ...] = ()  # the newest waits that ended without the lock
    tries: int = 0  # how often it queued, as far as was seen

    @property
    def learned_timeout_ms(self) -> int | None:
        """After how long it usually gives up; None before it did so twice."""
        if len(self.waits_ms) < ENOUGH_TO_LEARN:
            return None
        return median(self.waits_ms)


class AttemptLog:
    """The attempts of everybody at one lock; it changes, the `Attempts` in it do not."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Identity, Attempts] = {}

    @property
    def known(self) -> dict[Identity, Attempts]:
        """A copy of who gave up at least once and is remembered."""
        return {who: one for who, one in self._known.items() if one.waits_ms}

    def queued(self, member: Member) -> None:
        """Somebody came."""
        who = identity_of(member)
        one = self._known.get(who)
        if one is not None:
            self._keep(who, msgspec.structs.replace(one, tries=one.tries + 1))

    def gave_up(self, member: Member, waited_ms: int) -> None:
        """Somebody left the queue without the lock."""
        who = identity_of(member)
        one = self._known.get(who) or Attempts(tries=1)
        self._keep(
            who,
            Attempts(
                one.given_up + 1,
                one.overtaken,
                one.first_czxid or member.czxid,
                (*one.waits_ms, waited_ms)[-WAITS:],
                one.tries,
            ),
        )

    def acquired(self, member: Member) -> None:
        """Somebody got the lock; whoever tried before that arrival was overtaken."""
        winner = identity_of(member)
        for who, one in self._known.items():
            if who == winner:
                won = msgspec.structs.replace(one, given_up=0, overtaken=0, first_czxid=0)
                self._known[who] = won
            elif 0 < one.first_czxid < member.czxid:
                more = msgspec.structs.replace(one, overtaken=one.overtaken + 1)
                self._known[who] = more

    def _keep(self, who: Identity, one: Attempts) -> None:
        self._known.pop(who, None)
        self._known[who] = one
        if len(self._known) > IDENTITIES:
            del self._known[next(iter(self._known))]
