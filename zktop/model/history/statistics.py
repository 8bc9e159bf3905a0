"""Statistics of one lock: durations, events that were missed, and contenders that gave up."""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import ceil
from typing import Final

import msgspec

from zktop.model.facts import Stat, session_text
from zktop.model.locks.lock import Member

MAX_SAMPLES: Final = 512
MIN_SAMPLES: Final = 20  # for a quantile
BUCKETS_MS: Final = (10, 40, 160, 640, 2_560, 10_240, 40_960)  # upper ends; then "more"
MAX_DURATION_MS: Final = 0xFFFF_FFFF  # fifty days, in four bytes


class Durations(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The newest durations in milliseconds, and how many there were in all."""

    samples: Sequence[int] = ()
    count: int = 0
    at_least: int = 0  # number of others, whose begin was not observed

    @property
    def newest(self) -> int | None:
        """The last sample."""
        return self.samples[(self.count - 1) % MAX_SAMPLES] if self.count else None

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
        """The number of samples up to each of BUCKETS_MS, and above the last one."""
        ends = [bisect_right(self._sorted, end - 1) for end in BUCKETS_MS]
        starts = [0, *ends]
        return tuple(b - a for a, b in zip(starts, [*ends, len(self.samples)], strict=True))

    def quantile(self, share: float) -> int | None:
        """The smallest sample that at least this share of all does not exceed."""
        known = len(self.samples)
        if known < MIN_SAMPLES:
            return None
        return self._sorted[max(0, ceil(share * known) - 1)]

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted(self.samples)


NO_DURATIONS: Final = Durations()


class DurationSamples:
    """Collects durations; `durations` is a frozen copy."""

    __slots__ = ("_at_least", "_count", "_samples")

    def __init__(self) -> None:
        self._samples = array("I")
        self._count = self._at_least = 0

    def add(self, duration_ms: int, *, is_exact: bool) -> None:
        """Add a duration; of one that is only a lower bound, only count it."""
        if not is_exact:
            self._at_least += 1
            return
        sample = min(max(0, duration_ms), MAX_DURATION_MS)
        if len(self._samples) < MAX_SAMPLES:
            self._samples.append(sample)
        else:
            self._samples[self._count % MAX_SAMPLES] = sample
        self._count += 1

    @property
    def durations(self) -> Durations:
        """The durations collected so far."""
        if not self._count and not self._at_least:
            return NO_DURATIONS
        return Durations(self._samples[:], self._count, self._at_least)


_WRAP: Final = 1 << 32
_PLAUSIBLE: Final = 1 << 31


class RootCounters:
    """Counts creations and deletions that were missed, from the counters of a lock's root.

    The root counts every creation and its children, so the number of both between two readings is
    exact. The counters are read with a listing, while members may be known earlier; members that
    are ahead of the counters stay in the balance until the counters catch up.
    """

    __slots__ = ("_stat", "creates", "deletes", "missed_creates", "missed_deletes", "seen")

    def __init__(self, stat: Stat | None, ahead: int = 0) -> None:
        """Start with a reading and the number of creations seen after it."""
        self._stat = stat
        self.creates = self.deletes = 0  # by the root's counters
        self.seen = [ahead, 0]
        self.missed_creates = self.missed_deletes = 0

    def after(self, stat: Stat | None, created: int, deleted: int) -> tuple[int, int]:
        """Add a look; return how many more creations and deletions were missed."""
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
        """The share of all creations that was seen; None while the counters show none."""
        known = self.creates
        return None if known <= 0 else max(0.0, 1 - self.missed_creates / known)

    def _read(self, stat: Stat) -> None:
        before, self._stat = self._stat, stat
        following, earlier = stat.next_sequence, before.next_sequence if before else None
        if before is None or following is None or earlier is None:
            return
        creates = (following - earlier) % _WRAP
        if creates >= _PLAUSIBLE:  # the counter decreased: an older reading, or another node
            self._stat = before
            return
        self.creates += creates
        self.deletes += creates - (stat.num_children - before.num_children)


def median(samples: Collection[int]) -> int:
    """The median, rounded; `statistics.median` would import decimal fractions.

    >>> median([30, 10, 20]), median([10_000, 10_200])
    (20, 10100)
    """
    ordered = sorted(samples)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return round((low + high) / 2)


MAX_IDENTITIES: Final = 64  # of one lock; the least recent is dropped first
MAX_WAITS: Final = 8
MIN_WAITS_TO_LEARN: Final = 2

Identity = str


def identity_of(member: Member) -> Identity:
    """The label or else the session of a contender, so that its retries are recognised."""
    return member.label or session_text(member.owner)


class Attempts(msgspec.Struct, frozen=True, gc=False):
    """The attempts of one contender at one lock."""

    given_up: int = 0  # in a row, since it last held the lock
    overtaken: int = 0  # later arrivals that were served meanwhile
    first_czxid: int = 0  # the first attempt in that row
    waits_ms: tuple[int, ...] = ()  # the newest waits that ended without the lock
    tries: int = 0  # number of attempts that were observed

    @property
    def learned_timeout_ms(self) -> int | None:
        """The wait after which it usually gives up; None before it did so twice."""
        if len(self.waits_ms) < MIN_WAITS_TO_LEARN:
            return None
        return median(self.waits_ms)


NO_ATTEMPTS: Final[Mapping[Identity, Attempts]] = {}


class AttemptLog:
    """The attempts of all contenders at one lock."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Identity, Attempts] = {}

    @property
    def known(self) -> Mapping[Identity, Attempts]:
        """The contenders that gave up at least once."""
        if not self._known:
            return NO_ATTEMPTS
        return {identity: one for identity, one in self._known.items() if one.waits_ms}

    def queued(self, member: Member) -> None:
        """A contender joined the queue."""
        identity = identity_of(member)
        one = self._known.get(identity)
        if one is not None:
            self._keep(identity, msgspec.structs.replace(one, tries=one.tries + 1))

    def gave_up(self, member: Member, waited_ms: int) -> None:
        """A contender left the queue without the lock."""
        identity = identity_of(member)
        one = self._known.get(identity) or Attempts(tries=1)
        self._keep(
            identity,
            Attempts(
                one.given_up + 1,
                one.overtaken,
                one.first_czxid or member.czxid,
                (*one.waits_ms, waited_ms)[-MAX_WAITS:],
                one.tries,
            ),
        )

    def acquired(self, member: Member) -> None:
        """A contender got the lock; those that had queued before it were overtaken."""
        winner = identity_of(member)
        for identity, one in self._known.items():
            if identity == winner:
                won = msgspec.structs.replace(one, given_up=0, overtaken=0, first_czxid=0)
                self._known[identity] = won
            elif 0 < one.first_czxid < member.czxid:
                more = msgspec.structs.replace(one, overtaken=one.overtaken + 1)
                self._known[identity] = more

    def _keep(self, identity: Identity, one: Attempts) -> None:
        self._known.pop(identity, None)
        self._known[identity] = one
        if len(self._known) > MAX_IDENTITIES:
            del self._known[next(iter(self._known))]
