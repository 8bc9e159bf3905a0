"""Who can be blocked: a session, unless the user knows better.

ZooKeeper shows sessions, not threads. A session with many threads makes waits that are none, and a
process with many sessions hides real ones. The config may therefore name the actor by a pattern
over owner labels: `host:pid:tid` splits, a common `host` merges.
"""

import re

from zktop.model.facts import Session, session_text
from zktop.model.layouts.catalogue import LAYOUTS
from zktop.model.locks.lock import Lock, Member
from zktop.model.settings import Settings

UNOWNED = "nobody:"  # owns a node that no session will ever remove
STRANDED = "stranded:"  # a failed client left the node behind; only its session's end removes it
UNKNOWN = "unknown:"  # owns a node that we may not read
BY_NAME = "owner:"  # is known by name alone, because its locks are persistent on purpose

OUTLIVING = frozenset(layout.name for layout in LAYOUTS if layout.persistent)


class Actors:
    """Names the actor behind a place, by the user's rule."""

    def __init__(self, settings: Settings) -> None:
        """Take the rule from the settings."""
        pattern = settings.identity_pattern
        self._pattern = re.compile(pattern) if pattern and settings.identity == "owner" else None

    @property
    def are_sessions(self) -> bool:
        """Tell whether whatever a session owns is that session's own doing."""
        return self._pattern is None

    def of(self, lock: Lock, member: Member) -> str:
        """Name the actor behind one place."""
        if member.node in lock.stranded:
            return f"{STRANDED}{lock.path}/{member.node}"
        named = self.named(member) if self._pattern else None
        if named is not None:
            return named
        stat = member.znode.stat
        if stat is None:
            return f"{UNKNOWN}{lock.path}/{member.node}"
        return session_text(stat.owner) if stat.owner else self._without_session(lock, member)

    def _without_session(self, lock: Lock, member: Member) -> str:
        """Name whoever made a node that outlives its maker: on purpose, or an orphan."""
        if member.label and (lock.kind == "lease" or lock.layout in OUTLIVING):
            return f"{BY_NAME}{member.label}"
        return f"{UNOWNED}{lock.path}/{member.node}"

    def named(self, member: Member) -> str | None:
        """Give the name that the user's pattern finds in the owner label, if any."""
        if self._pattern is None or member.label is None:
            return None
        found = self._pattern.search(member.label)
        if found is None:
            return None
        return found[1] if self._pattern.groups and found[1] else found[0]


def session_of(actor: str) -> Session | None:
    """Give the session that an actor is, where it is one.

    >>> session_of("0x1000008ed7b0000"), session_of("worker-a")
    (72057632381927424, None)
    """
    return int(actor, 16) if re.fullmatch(r"0x[0-9a-f]{1,16}", actor) else None
