"""What happens if a session dies: which clients get its locks, and how many wait behind it.

It also says what a silent session believes when it wakes up late.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from zktop.model.facts import Session
from zktop.model.findings.finding import ASLEEP
from zktop.model.format import count, several
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Member
from zktop.model.locks.open_folder import part_held_by
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.screens.common.numbers_and_times import not_woken
from zktop.ui.screens.sessions.directory import NO_LOCKS, SessionDirectory
from zktop.ui.screens.sessions.others_on_host import is_silent
from zktop.ui.screens.sessions.rows import SessionRow

MAX_LOCKS: Final = 6  # more locks are only counted
MAX_LOCKS_WITHOUT_WAITERS: Final = 2  # more of them are only counted
MAX_MEMBERS_SEARCHED: Final = 200  # in each lock
MAX_BEHIND: Final = 5_000  # sessions counted behind one session
MAX_NAMES_BEHIND: Final = 4
BELIEFS: Final = {"read": "reads", "candidate": "is the leader", "lease": "has its lease"}


def if_it_dies(row: SessionRow, held: Mapping[Text, int]) -> Iterator[tuple[Text | None, str]]:
    """Describe what happens to each lock when the session dies.

    `held` are the locks that it holds, in order, with the number of clients behind each.
    """
    report, locks = row.report, row.locks
    listed = [path for path, behind in held.items() if behind or not locks.holds[path].releases]
    if len(held) - len(listed) <= MAX_LOCKS_WITHOUT_WAITERS:
        listed = [*held]
    for path in listed[:MAX_LOCKS]:
        view = report.view(path)
        if view is not None:
            yield path, _inheritance(view, row.session, report.nodes_in(path, ASLEEP))
    if len(held) > len(listed[:MAX_LOCKS]):
        more = f"and {count(len(held) - len(listed[:MAX_LOCKS]), 'more lock')}"
        is_known = len(listed) <= MAX_LOCKS and knows_waiters(report, held)
        yield None, f"{more} without waiters" if is_known else more
    if locks.waits:
        paths = several(locks.waits)
        yield None, f"its request in {paths} is removed and the queue moves up"
    if not locks.holds and not locks.waits:
        yield None, "no lock is affected"


def longest_queue_first(row: SessionRow) -> dict[Text, int]:
    """Return the number of clients behind each lock that the session holds, highest first."""
    behind = {path: queue_of(row.report, path, row.session) for path in row.locks.holds}
    return dict(sorted(behind.items(), key=itemgetter(1), reverse=True))


def queue_of(report: Report, path: Text, session: Session) -> int:
    """Return how many clients wait behind a holder, including those known only by watches."""
    record = report.records.get(path)
    if record is None:
        return 0
    watching = len(report.watchers_waiting(path))
    return watching + sum(
        len(queue.waiters) for queue in part_held_by(record.lock, session).queues
    )


def knows_waiters(report: Report, paths: Iterable[Text]) -> bool:
    """Return whether all waiters of these locks are known."""
    views = map(report.view, paths)
    return all(view.knows_waiters for view in views if view is not None)


def if_it_wakes_late(row: SessionRow, held: Iterable[Text]) -> Iterator[tuple[Text, str]]:
    """Describe what a silent or disconnected holder believes if it comes back too late.

    `held` are the locks that it holds, in order.
    """
    presence, report = row.presence, row.report
    is_quiet = presence is not None and is_silent(presence)
    if not is_quiet and not report.ensemble.is_cut_off(row.session, row.locks.newest_czxid):
        return
    holds = row.locks.holds
    freed = [(path, holds[path]) for path in held if holds[path].releases]
    for path, member in freed[:1]:
        view = report.view(path)
        others = len(freed) - 1
        more = f" The same applies to {count(others, 'more lock')}." if others else ""
        if view is not None:
            yield path, _belief(view, member) + more


def _belief(view: LockView, own: Member) -> str:
    waiters = part_held_by(view.lock, own.owner).waiters[:MAX_MEMBERS_SEARCHED]
    others = (waiter for waiter in waiters if waiter.owner != own.owner)
    heir = next((waiter for waiter in others if waiter.czxid > own.czxid), None)
    number, other = f"czxid {own.czxid:#x}", "another client"
    if heir is not None:
        other = view.client_names.of(heir)
        number += f", {other} has {heir.czxid:#x}"
    believes = BELIEFS.get(own.mode, "holds the lock")
    return (
        f"it still believes that it {believes}, but {other} may hold it. Only a fencing token "
        f"protects the resource: this client has the lower number ({number})."
    )


def _inheritance(view: LockView, session: Session, asleep: Collection[Text]) -> str:
    """Return what happens to one lock. Nothing wakes the nodes in `asleep`."""
    lock = part_held_by(view.lock, session)
    if any(holder.owner == session and not holder.releases for holder in lock.holders):
        return f"{lock.path} stays locked: the node is persistent"
    waiters = [waiter for waiter in lock.waiters[:MAX_MEMBERS_SEARCHED] if waiter.owner != session]
    heirs = [waiter for waiter in waiters if _is_freed(view, waiter, session)]
    if woken := [view.client_names.of(heir) for heir in heirs if heir.node not in asleep]:
        return f"{lock.path} goes to {several(woken)}"
    if heirs:
        sleeping = not_woken([view.client_names.of(heir) for heir in heirs])
        return f"{lock.path} is released; {sleeping}"
    others = [holder for holder in lock.holders if holder.owner != session]
    if others:
        first = waiters[0] if waiters else None
        return f"{lock.path} stays held by {_others(view, others, first)}"
    if waiters:
        return f"{lock.path} is released; the next holder depends on other clients"
    return f"{lock.path} is released{_watching(view)}"


def _others(view: LockView, holders: Sequence[Member], first: Member | None) -> str:
    """Return how many other clients hold a lock, and that the first waiter waits for them."""
    number = count(len(holders), "other client")
    if first is None:
        return number
    names = several(map(view.client_names.of, holders))
    return f"{number}; {view.client_names.of(first)} still waits for {names}"


def _watching(view: LockView) -> str:
    """Return which clients without a znode may get a lock."""
    if watching := len(view.watch_check.watchers_waiting):
        return f"; {count(watching, 'client')} watching it may get it"
    return ", no waiters" if view.knows_waiters else "; its waiters are not visible"


def _is_freed(view: LockView, member: Member, session: Session) -> bool:
    """Return whether a waiter gets the lock when a session dies. A semaphore may stay full."""
    blockers = view.lock.blocked_by(member)
    remaining = sum(blocker.owner != session for blocker in blockers)
    leases = 1
    if view.lock.kind == "semaphore":
        leases = view.lock.leases or len(blockers)
    return remaining < min(len(blockers), leases)


def blast_radius(row: SessionRow) -> str:
    """Describe which sessions wait behind this one, directly or indirectly."""
    holds = row.locks.holds
    behind, is_all = behind_it(row.report, row.sessions.directory, row.session)
    if not holds:
        return "It holds no lock."
    locks = count(len(holds), "lock")
    if not behind and not knows_waiters(row.report, holds):
        return f"It holds {locks}; who waits behind it is unknown."
    if not behind:
        return f"It holds {locks}; no client waits behind it."
    first = [row.sessions.directory.unique_name(waiter) for waiter in behind[:MAX_NAMES_BEHIND]]
    number = f"{'' if is_all else 'at least '}{count(len(behind), 'session')}"
    names = several(first, len(behind))
    return f"Blast radius: {number} behind its {locks}: {names}."


def behind_it(
    report: Report, directory: SessionDirectory, session: Session
) -> tuple[list[Session], bool]:
    """Return the sessions that wait for locks of this one, directly or through others.

    Also return whether all of them were counted.
    """
    behind: dict[Session, None] = {}
    queue: list[Session] = [session]
    while queue:
        holder = queue.pop(0)
        for path in directory.locks.get(holder, NO_LOCKS).holds:
            for owner in _waiting_behind(report, path, holder):
                if owner and owner != session and owner not in behind:
                    behind[owner] = None
                    queue.append(owner)
                    if len(behind) >= MAX_BEHIND:
                        return list(behind), False
    return list(behind), True


def _waiting_behind(report: Report, path: Text, holder: Session) -> Iterator[Session]:
    """Yield the sessions that wait for a lock. The standbys of an election do not wait."""
    record = report.records.get(path)
    if record is not None and not record.lock.has_standbys:
        yield from (member.owner for member in part_held_by(record.lock, holder).waiters)
        yield from report.watchers_waiting(path)
