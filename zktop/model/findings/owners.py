"""Waiters by name who may own the lock all the same: two recipes write nodes that look alike.

Both times the watches tell: whoever waits watches somebody, and these watch nobody.
"""

from zktop.model.findings.examination import Examination, Sighted


def may_own(look: Examination, seen: Sighted) -> bool:
    """Tell whether a waiter that watches nobody may have no need to."""
    return may_have_kept_reading(look, seen) or may_own_beside_readers(look, seen)


def may_have_kept_reading(look: Examination, seen: Sighted) -> bool:
    """Tell whether a waiter may be the reader beside whom the writer in front was let in.

    Curator before version 5.5 did that when a writer that also read stopped writing.
    """
    if seen.here or "possible-lost-downgrade" not in look.lock.warnings:
        return False
    is_next = seen.member.mode == "read" and look.place[seen.member.node] == 1
    return is_next and look.is_wrong(seen)


def may_own_beside_readers(look: Examination, seen: Sighted) -> bool:
    """Tell whether a waiter may be a plain Lock of kazoo, which counts no readers, and be first.

    A WriteLock would watch the last of the readers.
    """
    member = seen.member
    if member.layout != "kazoo-lock" or member.mode != "write" or seen.here:
        return False
    ahead = look.line_of[member.node].members[: look.place[member.node]]
    return bool(ahead) and all(one.mode == "read" for one in ahead) and look.is_wrong(seen)
