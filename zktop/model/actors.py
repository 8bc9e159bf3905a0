"""Actors: what can be blocked. By default, each session is an actor.

ZooKeeper shows sessions, not threads. A session whose threads wait for each other seems to wait
for itself, and a process with several sessions may be in a deadlock that no single session shows.
So the config may define actors with a regular expression on owner labels: `host:pid:tid` splits a
session into threads, and a common `host` merges several sessions.
"""

import re

from zktop.model.facts import Session
from zktop.model.locks.lock import FOREIGN, Lock, Member
from zktop.model.locks.shapes import layout_named
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings

# Prefixes of actors that are not sessions.
UNOWNED = "nobody:"  # a node that no session will ever remove
STRANDED = "stranded:"  # a node that a failed client left; only the end of its session removes it
UNKNOWN = "unknown:"  # a node that zktop has not read, or may not read
BY_NAME = "owner:"  # known by label alone: the nodes of this layout are persistent on purpose


class Actors:
    """Finds the actor of a member, by the configured rule."""

    def __init__(self, settings: Settings) -> None:
        pattern = settings.identity_pattern
        self._layouts = settings.layouts
        self._pattern = re.compile(pattern) if pattern and settings.identity == "owner" else None

    @property
    def are_sessions(self) -> bool:
        """Whether each session is an actor, because no pattern is configured."""
        return self._pattern is None

    def of(self, lock: Lock, member: Member) -> str:
        """The actor of one member."""
        if member.node in lock.stranded:
            return f"{STRANDED}{lock.path}/{member.node}"
        # Without a pattern, the label is not parsed, which takes time.
        configured = self.named(member.label) if self._pattern else None
        if configured is not None:
            return configured
        stat = member.znode.stat
        if stat is None:
            return f"{UNKNOWN}{lock.path}/{member.node}"
        return session_text(stat.owner) if stat.owner else self._without_session(lock, member)

    def _without_session(self, lock: Lock, member: Member) -> str:
        """The actor of a node without a session: persistent on purpose, or an orphan."""
        if member.label and member.layout != FOREIGN:
            layout = layout_named(member.layout, self._layouts)
            if lock.kind == "lease" or (layout is not None and layout.persistent):
                return f"{BY_NAME}{member.label}"
        return f"{UNOWNED}{lock.path}/{member.node}"

    def named(self, label: str | None) -> str | None:
        """Return the actor that the configured pattern finds in an owner label, or None."""
        if self._pattern is None or label is None:
            return None
        match = self._pattern.search(label)
        if match is None:
            return None
        first_group = match[1] if self._pattern.groups else None
        return first_group or match[0] or None


def session_of(actor: str) -> Session | None:
    """The session id in an actor's id; None if the actor is not a session.

    >>> session_of("0x1000008ed7b0000"), session_of("worker-a")
    (72057632381927424, None)
    """
    return int(actor, 16) if re.fullmatch(r"0x[0-9a-f]{1,16}", actor) else None
