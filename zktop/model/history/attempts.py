"""The attempts of each contender at one lock: how often it gave up, and after how long."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text

MAX_IDENTITIES: Final = 64  # per lock; the least recent is dropped first
MAX_WAITS: Final = 8
MIN_WAITS_TO_LEARN: Final = 2

Identity = str


def median(samples: Collection[int]) -> int:
    """The median, rounded; `statistics.median` would import `decimal` and `fractions`.

    >>> median([30, 10, 20]), median([10_000, 10_200])
    (20, 10100)
    """
    ordered = sorted(samples)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return round((low + high) / 2)


def identity_of(member: Member) -> Identity:
    """The label of a contender, or its session if it has no label; `0x0` if it has neither."""
    return member.label or session_text(member.owner)


class Attempts(msgspec.Struct, frozen=True, gc=False):
    """The attempts of one contender at one lock."""

    given_up: int = 0  # in a row, since it last held the lock
    overtaken: int = 0  # later arrivals that got the lock since then
    first_czxid: int = 0  # of the first attempt in that row
    waits_ms: tuple[int, ...] = ()  # the newest waits that ended without the lock

    @property
    def learned_timeout_ms(self) -> int | None:
        """The wait after which it usually gives up; None until it has done so twice."""
        if len(self.waits_ms) < MIN_WAITS_TO_LEARN:
            return None
        return median(self.waits_ms)


class AttemptLog:
    """The attempts of all contenders at one lock."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Identity, Attempts] = {}

    @property
    def known(self) -> Mapping[Identity, Attempts]:
        """The contenders that gave up at least once."""
        return {
            identity: attempts for identity, attempts in self._known.items() if attempts.waits_ms
        }

    def gave_up(self, member: Member, waited_ms: int) -> None:
        """Record that a contender left the queue without the lock."""
        if not (member.label or member.owner):
            return  # it cannot be distinguished from others
        identity = identity_of(member)
        earlier = self._known.pop(identity, None) or Attempts()  # the newest goes to the end
        self._known[identity] = Attempts(
            earlier.given_up + 1,
            earlier.overtaken,
            earlier.first_czxid or member.czxid,
            (*earlier.waits_ms, waited_ms)[-MAX_WAITS:],
        )
        if len(self._known) > MAX_IDENTITIES:
            del self._known[next(iter(self._known))]

    def acquired(self, member: Member) -> None:
        """Record that a contender got the lock and overtook those that had queued before it."""
        winner = identity_of(member)
        for identity, attempts in self._known.items():
            if identity == winner:
                self._known[identity] = replace(attempts, given_up=0, overtaken=0, first_czxid=0)
            elif 0 < attempts.first_czxid < member.czxid:
                self._known[identity] = replace(attempts, overtaken=attempts.overtaken + 1)
