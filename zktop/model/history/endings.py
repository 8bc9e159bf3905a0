"""How a node left a lock: removed by its client, or with its expired session.

Transaction logs record which session deleted a znode; a live server does not report it. In that
case, the activity of the session is the evidence. If it was active less than its timeout ago, it
cannot have expired. If it had no connection to any server, or was silent for too long, it has most
likely expired. A client that closes its session removes all its nodes in one transaction, just
like an expiry: only its recent activity distinguishes the two. Without any evidence, a node counts
as removed by its own client, which is the usual case.

How a node left is unknown if zktop had no connection then, or if transactions are missing.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from zktop.model.facts import SECOND_MS, Gone, Millis, Session
from zktop.model.format import span
from zktop.model.history.events import DELETED_IT, ENDED
from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble

# Shares of a timeout that have passed without a packet:
SILENT_SHARE: Final = 1 / 2
GIVEN_UP_SHARE: Final = 2 / 3  # the client library has given up the connection
ALMOST_EXPIRED_SHARE: Final = 0.9
SEVERAL: Final = 2
WITH_LOCK: Final = Text("it was deleted together with the lock")


class ExpiryVerdict(msgspec.Struct, frozen=True, gc=False):
    """Whether a session expired, and the evidence."""

    expired: bool
    why: Text | None = None


def judge_expiry(
    member: Member, ensemble: Ensemble, now_ms: Millis, locks: int, earlier: Ensemble = NO_ENSEMBLE
) -> ExpiryVerdict:
    """Decide by server tables whether a node left with its expired session or by its client.

    `locks` is how many locks lost nodes of its session in one transaction. `earlier` has the
    tables of the previous look. A newer table may have been read after the node was removed, and
    then does not list a session that had just been active.
    """
    session = member.owner
    if not session:
        return ExpiryVerdict(expired=False)
    if ensemble.presence(session) is None and _may_be_active(earlier, session, now_ms):
        ensemble = earlier
    presence = ensemble.presence(session)
    if presence is None:
        return _without_connection(member, ensemble, now_ms, locks)
    timeout, silence = ensemble.timeout_ms(session), presence.silence(now_ms)
    if timeout is None or silence is None:
        return ExpiryVerdict(expired=False, why=Text(f"{presence.server} listed its connection"))
    if silence < timeout:
        contact = f"its session was heard from {silence / SECOND_MS:.1f} s before"
        closed = ", and was closed" if locks >= SEVERAL else ""
        return ExpiryVerdict(expired=False, why=Text(contact + closed))
    if (presence.quiet_ms or 0) >= timeout * GIVEN_UP_SHARE:
        spans = f"{silence / SECOND_MS:.0f} s of {timeout / SECOND_MS:.0f} s"
        return ExpiryVerdict(expired=True, why=Text(f"its session had been silent for {spans}"))
    return _by_joint_deletion(locks)


def recorded_ending(member: Member, removal: Gone, ensembles: Iterable[Ensemble]) -> ExpiryVerdict:
    """Return how a node left a lock, from the transaction that removed it.

    `ensembles` are the newest tables and the previous ones: the newest may already lack the
    session.
    """
    match removal.how:
        case "expired":
            timeouts = (ensemble.timeout_ms(member.owner) for ensemble in ensembles)
            timeout = next(filter(None, timeouts), None)
            silent = f": it was silent for at least {span(timeout)}" if timeout else ""
            return ExpiryVerdict(expired=True, why=Text(f"the server expired its session{silent}"))
        case "ended":
            return ExpiryVerdict(expired=True, why=ENDED)
        case "closed":
            return ExpiryVerdict(expired=False, why=Text("its client closed the session"))
        case "deleted" if another := deleted_by_another(member, removal):
            why = f"session {session_text(another)}{DELETED_IT}"
            return ExpiryVerdict(expired=False, why=Text(why))
        case "reaped":
            return ExpiryVerdict(expired=False, why=Text("the server removed it"))
    return ExpiryVerdict(expired=False)


def deleted_by_another(member: Member, removal: Gone) -> Session | None:
    """Return the session that deleted a node of another session."""
    return removal.by if removal.how == "deleted" and removal.by != member.owner else None


def _may_be_active(ensemble: Ensemble, session: Session, now_ms: Millis) -> bool:
    """Whether a session was heard from less than its timeout ago, as far as these tables show."""
    presence = ensemble.presence(session)
    if presence is None:
        return False
    timeout, silence = ensemble.timeout_ms(session), presence.silence(now_ms)
    return timeout is None or silence is None or silence < timeout


def _without_connection(
    member: Member, ensemble: Ensemble, now_ms: Millis, locks: int
) -> ExpiryVerdict:
    if ensemble.connected(member.owner, member.czxid) is False:
        return ExpiryVerdict(expired=True, why=Text("no server had a connection of its session"))
    if ensemble.alive(member.owner, member.czxid) is False:
        return ExpiryVerdict(expired=True, why=Text("its session had left the ensemble"))
    if _was_due(member.owner, ensemble, now_ms):
        why = "its session was due to expire: the leader had not heard from it for a long time"
        return ExpiryVerdict(expired=True, why=Text(why))
    return _by_joint_deletion(locks)


def _was_due(session: Session, ensemble: Ensemble, now_ms: Millis) -> bool:
    """Whether the leader, after a long silence, expected it to expire by now.

    This matters if a server is down or does not answer: whether it has the client is unknown.
    """
    timeout, silence = ensemble.timeout_ms(session), ensemble.silence_by_leader(session)
    if timeout is None or silence is None or silence < timeout * GIVEN_UP_SHARE:
        return False
    due = ensemble.expires_in(session, now_ms)
    return due is not None and due.low == 0


def _by_joint_deletion(locks: int) -> ExpiryVerdict:
    if locks >= SEVERAL:
        return ExpiryVerdict(
            expired=True, why=Text(f"its nodes left {locks} locks in one transaction")
        )
    return ExpiryVerdict(expired=False)
