"""P15: many sessions expired at once."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from zktop.model.findings.context import EnsembleContext
from zktop.model.findings.finding import FindingSubject, RuleMatch, RuleResult, rule
from zktop.model.format import clock, count, short
from zktop.model.history.expiries import ExpiredPlace
from zktop.model.waits.sentences import span

MIN_SESSIONS: Final = 5
MIN_SHARE: Final = 0.1  # of the sessions with nodes in locks


@rule(
    "P15",
    "mass-expiry",
    "warning",
    "whole",
    needs=("history",),
    means="Many sessions expired at once: a host, a network or a server failed.",
)
def mass_expiry(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Find sessions that expired within 15 s, for two minutes afterwards."""
    gone = ctx.expired
    sessions = {one.session for one in gone}
    known = len(ctx.owners) + sum(session not in ctx.owners for session in sessions)
    if len(sessions) < max(MIN_SESSIONS, MIN_SHARE * known):
        return
    first, last = min(one.at for one in gone), max(one.at for one in gone)
    yield RuleMatch(
        about=FindingSubject(sessions=tuple(sorted(sessions)), key=("mass-expiry",)),
        sentence=f"{len(sessions)} of {count(known, 'session')} with places in locks expired "
        f"within {span(max(1_000, last - first))}, from {clock(first)} on"
        f"{_where(gone)}. {_effect(gone)}",
        confidence="C3",
        evidence=(
            (True, "their nodes vanished, and no server had a connection of them any more"),
            (None, "they did not all close their sessions on purpose"),
        ),
        advice="Look at what they share: their host, their network, or the server they were "
        "connected to.",
        since=first,
    )


def _where(gone: Collection[ExpiredPlace]) -> str:
    """The server and the host that most of them shared."""
    servers = Counter({one.session: one.server for one in gone}.values())
    hosts = Counter({one.session: one.host for one in gone}.values())
    shared = [
        f"{number} {preposition} {short(name)}"
        for counts, preposition in ((servers, "on"), (hosts, "from"))
        for name, number in counts.most_common(1)
        if name is not None
    ]
    return f": {', '.join(shared)}" if shared else ""


def _effect(gone: Collection[ExpiredPlace]) -> str:
    freed = count(len({one.lock for one in gone if one.held}), "lock was", "locks were")
    ended = count(sum(not one.held for one in gone), "request", "requests")
    return f"{freed} freed, {ended} left a queue."
