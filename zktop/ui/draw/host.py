"""Whether a silent session is silent alone: who else is connected from the same host."""

from collections.abc import Iterator
from typing import Final

from zktop.model.facts import Connection, Session
from zktop.model.findings.words import count
from zktop.model.sight import Sight
from zktop.model.witness import Presence
from zktop.ui.roster import HALF

APART: Final = ":"  # between a host and a port


def of_host(sight: Sight, session: Session) -> str:
    """Say how many sessions there are on the host of this one, and what their silence means."""
    presence = sight.presence(session)
    if presence is None:
        return ""
    host = presence.client.rpartition(APART)[0]
    same = {row.session: row for row in _rows(sight, host) if row.session != sight.own}
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


def _rows(sight: Sight, host: str) -> Iterator[Connection]:
    begin = f"{host}{APART}"
    for witness in sight.witnesses:
        for row in (witness.connections or {}).values():
            if row.client.startswith(begin):
                yield row


def is_silent(row: Connection | Presence) -> bool:
    """Tell whether it was silent for half its timeout when its table was read."""
    quiet, timeout = row.quiet_ms, row.timeout_ms
    return quiet is not None and bool(timeout) and quiet >= HALF * (timeout or 0)
