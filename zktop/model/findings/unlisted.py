"""What may wake a waiter though no table lists it: a watch on the children, or a slow poll.

A library that names its nodes as nobody else does is known by heart. Names that anybody gives are
used by recipes of all kinds, so a waiter among them that watches nothing is only proven to sleep
when it has slept through a change, or when its server has no child watch at all.
"""

from typing import Final

from zktop.model.findings.examination import Examination
from zktop.model.layouts.tutorials import ANYBODYS
from zktop.model.locks.lock import Member

ASLEEP_FOR: Final = 10_000  # without a request but pings; a poller would have asked


def may_wake(look: Examination, member: Member) -> bool:
    """Tell whether a waiter that watches nothing here may go on all the same."""
    if member.layout not in ANYBODYS:
        return False
    presence = look.sight.presence(member.owner)
    sessions, changed = look.around.sessions, look.past.changed_at
    if presence is None or sessions.idle_since(member.owner) is None or is_awake(look, member):
        return True
    is_seen = changed is not None and changed < presence.at - look.thresholds.settle
    slept_through = is_seen and sessions.idle_before(member.owner, changed or 0)
    return not slept_through and look.sight.hidden_watches(presence.server) != 0


def is_awake(look: Examination, member: Member) -> bool:
    """Tell whether it has asked for something a moment ago; time alone changes that."""
    presence = look.sight.presence(member.owner)
    idle = look.around.sessions.idle_since(member.owner)
    return presence is not None and idle is not None and presence.at - idle < ASLEEP_FOR
