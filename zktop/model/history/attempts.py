"""Who gave up waiting, how often and after how long: what ZooKeeper never tells of time-outs."""

from typing import Final

import msgspec

from zktop.model.facts import session_text
from zktop.model.locks.lock import Member
from zktop.model.median import median

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


class Register:
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
