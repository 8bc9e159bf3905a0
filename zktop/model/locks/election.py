"""Is this queue an election? Some libraries write elections exactly as they write locks."""

import ipaddress
from collections.abc import Sequence
from itertools import islice
from typing import Final

from zktop.model.layouts.layout import Layout
from zktop.model.locks.lock import Line, Member

_AMBIGUOUS: Final = frozenset(("curator-mutex", "kazoo-lock", "bare-sequence", "named-sequence"))
_ELECTION_SAMPLE = 4


def is_election(path: str, layout: Layout, lines: Sequence[Line]) -> bool:
    """Tell an election by its path; Curator's candidates also give an id instead of an address."""
    if layout.name not in _AMBIGUOUS or not _elects(path.lower()):
        return False
    members = (member for line in lines for member in islice(line.members, _ELECTION_SAMPLE))
    return layout.name != "curator-mutex" or not any(map(_is_address, members))


def _elects(path: str) -> bool:
    return "leader" in path or "elect" in path


def _is_address(member: Member) -> bool:
    try:
        ipaddress.ip_address(member.label or "")
    except ValueError:
        return False
    return True
