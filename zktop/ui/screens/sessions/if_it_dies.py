"""What becomes of a session's locks when it dies, and what it believes when it wakes too late.

Whether a silent session is silent alone: who else is connected from the same host.
"""

from collections.abc import Iterator
from typing import Final

from zktop.model.facts import Connection, Session
from zktop.model.format import count, several
from zktop.model.locks.lock import Member
from zktop.model.report import LockView, Report
from zktop.model.text import Text
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.server_tables import Presence
from zktop.ui.screens.common.session_index import HALF, SessionDirectory, SessionLocks
from zktop.ui.screens.sessions.rows import SessionRow

APART: Final = ":"  # between a host and a port


def of_host(ensemble: Ensemble, session: Session) -> str:
    """Say how many sessions there are on the host of this one, and what their silence means."""
    presence = ensemble.presence(session)
    if presence is None:
        return ""
    host = presence.client.rpartition(APART)[0]
    same = {row.session: row for row in _rows(ensemble, host) if row.session != ensemble.own}
    own = same.pop(session, None)
    if not host or own is None or not same:
        return ""
    silent = sum(map(is_silent, same.values()))
    told = f"{host} has {count(len(same), 'more session')}"
    if not is_silent(own):
        return f"{told}, {silent} silent" if silent else told
    if silent == len(same):
        return f"{told}, silent as well: the host or its network, not this process alone"
    if silent:
        return f"{told}, {silent} of them silent too"
    return f"{told}, heard of: it is this process rather than the host or its network"


def _rows(ensemble: Ensemble, host: str) -> Iterator[Connection]:
    begin = f"{host}{APART}"
    for tables in ensemble.tables:
        for row in (tables.connections or {}).values():
            if row.client.startswith(begin):
                yield row


def is_silent(row: Connection | Presence) -> bool:
    """Tell whether it was silent for half its timeout when its table was read."""
    quiet, timeout = row.quiet_ms, row.timeout_ms
    return quiet is not None and bool(timeout) and quiet >= HALF * (timeout or 0)


SHOWN: Final = 6  # locks that are listed
FEW: Final = 2  # locks that nobody waits for are listed too, where they are so few
LOOKED_AT: Final = 200  # waiters that may be next
SEARCHED: Final = 5_000  # actors of a blast radius; more are "at least so many"
BELIEFS: Final = {"read": "reads", "candidate": "leads", "lease": "has its lease"}


def if_it_dies(row: SessionRow) -> Iterator[tuple[Text | None, str]]:
    """Say for each lock who is next when the session is gone."""
    report, places = row.report, row.locks
    held = foremost(row)
    told = [path for path in held if queue_of(report, path) or not places.holds[path].releases]
    told = held if len(held) - len(told) <= FEW else told
    for path in told[:SHOWN]:
        view = report.view(path)
        if view is not None:
            yield path, _inheritance(view, row.session)
    if len(held) > len(told[:SHOWN]):
        more = f"and {count(len(held) - len(told[:SHOWN]), 'more lock')}"
        yield None, more if len(told) > SHOWN else f"{more} for which nobody waits"
    if places.waits:
        paths = several(places.waits)
        yield None, f"its places in {paths} go; those behind it move up"
    if not places.holds and not places.waits:
        yield None, "no lock changes"


def foremost(row: SessionRow) -> list[Text]:
    """Name the locks that it holds, those first for which most others wait."""
    report = row.report
    return sorted(row.locks.holds, key=lambda path: -queue_of(report, path))


def queue_of(report: Report, path: Text) -> int:
    """Count who waits for a lock."""
    part = report.parts.get(path)
    return sum(len(line.waiters) for line in part.lock.queues) if part is not None else 0


def if_it_wakes_late(row: SessionRow) -> Iterator[tuple[Text, str]]:
    """Say of a holder that is silent or gone what it believes when it comes back too late."""
    presence, report = row.presence, row.report
    is_quiet = presence is not None and is_silent(presence)
    if not is_quiet and not report.ensemble.gone(row.session, row.locks.newest):
        return
    holds = row.locks.holds
    freed = [(path, holds[path]) for path in foremost(row) if holds[path].releases]
    for path, member in freed[:1]:
        view = report.view(path)
        more = f" So of {count(len(freed) - 1, 'more lock')}." if len(freed) > 1 else ""
        if view is not None:
            yield path, _belief(view, member) + more


def _belief(view: LockView, own: Member) -> str:
    heir = next((one for one in view.lock.waiters[:LOOKED_AT] if one.czxid > own.czxid), None)
    beside = f"although {_who(view, heir)} may" if heir else "whoever does by then"
    number = f"czxid {own.czxid:#x}" + (
        f", {_who(view, heir)} has {heir.czxid:#x}" if heir else ""
    )
    believes = BELIEFS.get(own.mode, "holds the lock")
    return (
        f"it still believes that it {believes}, {beside}. Only a resource that checks a fencing "
        f"number refuses it: its own is the lower one ({number})."
    )


def _inheritance(view: LockView, session: Session) -> str:
    lock = view.lock
    kept = [one for one in lock.holders if one.owner != session]
    lasting = [one for one in lock.holders if one.owner == session and not one.releases]
    if lasting:
        return f"{lock.path} stays held: its node is persistent, so nobody frees it"
    heirs = [one for one in lock.waiters[:LOOKED_AT] if _is_freed(view, one, session)]
    if heirs:
        who = several(_who(view, one) for one in heirs)
        return f"{lock.path} goes to {who}"
    if kept:
        still = f" still waits for {several(_who(view, one) for one in kept)}"
        first = lock.waiters[0] if lock.waiters else None
        tail = f"; {_who(view, first)}{still}" if first else ""
        return f"{lock.path} keeps {count(len(kept), 'other holder')}{tail}"
    if lock.waiters:
        return f"{lock.path} is freed; who is next depends on more than this session"
    return f"{lock.path} is free"


def _is_freed(view: LockView, member: Member, session: Session) -> bool:
    before = view.lock.blocked_by(member)
    return bool(before) and all(one.owner == session for one in before)


def _who(view: LockView, member: Member) -> str:
    return view.client_names(member.owner, member.label)


def blast(row: SessionRow) -> str:
    """Say who waits behind a session, also through others."""
    holds = row.locks.holds
    behind, is_all = behind_it(row.report, row.sessions.directory, row.session)
    if not holds:
        return "It holds nothing, so nobody waits for it to let go."
    many = count(len(holds), "lock")
    if not behind:
        return f"It holds {many}; nobody waits behind it."
    names = several(row.sessions.directory.unique_name(one) for one in behind[:4])
    number = f"{'' if is_all else 'at least '}{count(len(behind), 'session')}"
    at_once = ", all freed at once" if len(holds) > 1 else ""
    more = f" and {len(behind) - 4} more" if len(behind) > 4 else ""  # noqa: PLR2004  as above
    return f"Blast radius: {number} behind its {many}{at_once}: {names}{more}."


def behind_it(
    report: Report, roster: SessionDirectory, session: Session
) -> tuple[list[Session], bool]:
    """Give who waits for what it holds, and for what those hold; and whether that is everybody."""
    found: dict[Session, None] = {}
    queue: list[Session] = [session]
    while queue:
        places: SessionLocks | None = roster.locks.get(queue.pop(0))
        for path in places.holds if places else ():
            part = report.parts.get(path)
            for member in part.lock.waiters if part else ():
                owner = member.owner
                if owner and owner != session and owner not in found:
                    found[owner] = None
                    queue.append(owner)
                    if len(found) >= SEARCHED:
                        return list(found), False
    return list(found), True
