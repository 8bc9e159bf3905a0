"""If the holder releases now: who enters, and who keeps waiting."""

from collections.abc import Sequence

from zktop.model.findings.finding import ABANDONED, ASLEEP
from zktop.model.locks.lock import Lock, Member
from zktop.ui.screens.common.numbers_and_times import not_woken
from zktop.ui.screens.lock.lock_detail import MAX_MAPPED_MEMBERS, LockDetail
from zktop.ui.styled_text import Line, hanging_lines, line


def release_sentence(detail: LockDetail, chosen: int | None, width: int) -> list[Line]:
    """Describe what happens when the selected holder releases, else the first one."""
    queue, lock = detail.queue, detail.queue.lock
    is_long = len(queue.members) > MAX_MAPPED_MEMBERS
    if not queue.holder_count or is_long:
        return []
    if lock.is_only_watched or lock.error is not None:
        return []  # any watcher may win, or a client that zktop cannot see
    place = chosen if chosen is not None and chosen < queue.holder_count else 0
    holder, waiting = queue.members[place], queue.waiters
    if holder.node in detail.report.nodes_in(detail.path, ABANDONED):
        return []
    if lock.kind == "semaphore":
        if lock.leases is None:
            return []
        enters = list(waiting[: max(0, lock.leases - queue.holder_count + 1)])
    else:
        enters = [waiter for waiter in waiting if _waits_only_for(lock, waiter, holder)]
    if not all(map(_has_final_name, (holder, *enters))):
        return []
    return hanging_lines(line("  "), _released(detail, holder, enters), width)


def _released(detail: LockDetail, holder: Member, heirs: Sequence[Member]) -> str:
    """Return which heirs of a holder enter, and which other clients keep waiting, if known."""
    asleep = detail.report.nodes_in(detail.path, ASLEEP)
    enter = [member for member in heirs if member.node not in asleep]
    stay = [member for member in heirs if member.node in asleep]
    others = (waiter for waiter in detail.queue.waiters if waiter not in heirs)
    wait = [waiter for waiter in others if _has_final_name(waiter)]
    says = []
    if enter or not stay:
        says.append(f"{detail.names_of(enter) or 'no client'} {_verb('enter', enter)}")
    if stay:
        says.append(not_woken([detail.report.client_names.of(member) for member in stay]))
    if wait:
        says.append(f"{detail.names_of(wait)} {_verb('keep', wait)} waiting")
    return f"If {detail.names_of([holder])} releases now: {'; '.join(says)}."


def _has_final_name(member: Member) -> bool:
    """True if the name of a client was read, or can never be read."""
    return member.znode.stat is not None or member.znode.hidden


def _waits_only_for(lock: Lock, waiter: Member, holder: Member) -> bool:
    if lock.count_before(waiter) != 1:
        return False
    return lock.members_before(waiter)[0].node == holder.node


def _verb(verb: str, members: Sequence[Member]) -> str:
    return verb if len(members) > 1 else f"{verb}s"
