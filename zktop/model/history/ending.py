"""How a place in a lock ended: by its own client, or with its session.

ZooKeeper does not say who deleted a znode. A session that was heard of less than its timeout ago
cannot have expired; one that no server had a connection of, or that had been silent for too long,
most likely has. A client that closes its session takes all its nodes along in one transaction,
just like an expiry: that is told apart by the same contact. Without any evidence a node counts as
removed by its own client, which is the rule.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.history.change import Change
from zktop.model.locks.lock import Member
from zktop.model.sight import Sight
from zktop.model.text import Text

GIVEN_UP: Final = 2 / 3  # of the timeout in silence: by then a client has left the connection
SEVERAL: Final = 2
_SECOND_MS: Final = 1000


class Ended(msgspec.Struct, frozen=True, gc=False):
    """The verdict, and what speaks for it."""

    expired: bool
    why: Text | None = None


Together = dict[Session, int]  # session -> locks that lost its nodes in one transaction


def together(changes: Iterable[Change]) -> Together:
    """Count the locks that lost nodes of one session in one and the same transaction."""
    locks: dict[tuple[Session, int], int] = {}
    for change in filter(attrgetter("deleted"), changes):
        zxid = deletion_zxid(change)
        for owner in {member.owner for member in change.deleted if zxid and member.owner}:
            locks[owner, zxid or 0] = locks.get((owner, zxid or 0), 0) + 1
    most: Together = {}
    for (owner, _), number in locks.items():
        most[owner] = max(number, most.get(owner, 0))
    return most


def deletion_zxid(change: Change) -> int | None:
    """Give the transaction of a deletion, where it was the last thing that befell the children."""
    before, after = change.before, change.after
    if after is None or after.stat is None or not change.deleted:
        return None
    is_news = before is None or before.stat is None or before.stat.pzxid < after.stat.pzxid
    is_last = all(member.czxid < after.stat.pzxid for member in change.created)
    is_direct = all("/" not in member.node for member in change.deleted)
    return after.stat.pzxid if is_news and is_last and is_direct else None


def ended(member: Member, sight: Sight, now_ms: Millis, locks: int) -> Ended:
    """Decide between an expiry and the client itself, and say why."""
    session = member.owner
    if not session:
        return Ended(expired=False)
    presence = sight.presence(session)
    if presence is None:
        return _without_connection(member, sight, locks)
    timeout, silence = sight.timeout_ms(session), presence.silence(now_ms)
    if timeout is None or silence is None:
        return Ended(expired=False, why=Text(f"{presence.server} listed its connection"))
    if silence < timeout:
        contact = f"its session was heard of {silence / _SECOND_MS:.1f} s before"
        closed = ", and was closed" if locks >= SEVERAL else ""
        return Ended(expired=False, why=Text(contact + closed))
    if (presence.quiet_ms or 0) >= timeout * GIVEN_UP:
        spans = f"{silence / _SECOND_MS:.0f} s of {timeout / _SECOND_MS:.0f} s"
        return Ended(expired=True, why=Text(f"its session had been silent for {spans}"))
    return _by_company(locks)


def _without_connection(member: Member, sight: Sight, locks: int) -> Ended:
    if sight.connected(member.owner, member.czxid) is False:
        return Ended(expired=True, why=Text("no server had a connection of its session"))
    if sight.alive(member.owner, member.czxid) is False:
        return Ended(expired=True, why=Text("its session had left the ensemble"))
    return _by_company(locks)


def _by_company(locks: int) -> Ended:
    if locks >= SEVERAL:
        return Ended(expired=True, why=Text(f"its nodes left {locks} locks in one transaction"))
    return Ended(expired=False)
