"""P11 to P16: servers that are down, silent, behind or crowded, clocks, and mass expiries."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from operator import attrgetter, sub
from typing import Final

from msgspec.structs import replace

from zktop.model.facts import Server, transactions_between
from zktop.model.findings.context import EnsembleContext, LockContext
from zktop.model.findings.finding import (
    FindingSubject,
    MissingInput,
    Reason,
    Rule,
    RuleMatch,
    RuleResult,
)
from zktop.model.format import clock, count, short, span
from zktop.model.history.expired_sessions import ExpiredPlace
from zktop.model.waits.confidence import Confidence


@Rule("P13", "member-down", "warning", "server")
def member_down(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A server of the ensemble is down, or runs but serves no clients."""
    servers = _servers(ctx)
    for server in servers:
        name = short(server.server)
        if server.state == "down":
            yield _verdict(
                server,
                f"{name} is down: {server.why} (noticed at {_noticed(server)}). "
                f"{_answering(servers)}",
                "C4",
                f"Start it again; its log says why it stopped. Until then {_until_then(servers)}.",
            )
        elif server.state == "no-quorum":
            yield _verdict(
                server,
                f"{name} runs but serves no clients: it has no quorum, or is still starting "
                f"(noticed at {_noticed(server)}). {_answering(servers)}",
                "C4",
                "Its log says what it waits for. If it does not load the data that the leader "
                "sends, check that it reaches the other members on their quorum ports.",
            )


@Rule("P14", "no-answer", "warning", "server")
def no_answer(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A server accepts connections and does not answer: it is paused, overloaded or cut off."""
    servers = _servers(ctx)
    for server in servers:
        if server.state == "no-answer":
            yield _verdict(
                server,
                f"{short(server.server)} does not answer (noticed at {_noticed(server)}). "
                f"{_answering(servers)}",
                "C3",
                "Check its process: a long garbage collection, a slow disk, or a process that "
                "was stopped. Its clients move to other servers when they time out.",
                (None, "the network between zktop and this server works"),
            )


def _servers(ctx: EnsembleContext) -> Sequence[Server]:
    return [
        tables.server for _, tables in sorted(ctx.shared.world.tables.items()) if tables.server
    ]


def _answering(servers: Sequence[Server]) -> str:
    up = sum(server.is_up for server in servers)
    return f"{up} of {count(len(servers), 'server')} answered."


def _until_then(servers: Sequence[Server]) -> str:
    """The effect of a server that is down. If it was the last one, no client is served."""
    if any(server.is_up for server in servers):
        return "the ensemble survives one fewer failure"
    return "no client is served"


def _noticed(server: Server) -> str:
    return clock(server.at if server.since is None else server.since)


def _verdict(
    server: Server, sentence: str, confidence: Confidence, advice: str, *assumed: Reason
) -> RuleMatch:
    return RuleMatch(
        about=FindingSubject(key=("server", server.server)),
        sentence=sentence,
        confidence=confidence,
        evidence=((True, f"asked at {clock(server.at)}: {server.why}"), *assumed),
        advice=advice,
        since=server.since,
        as_of=server.at,
    )


MIN_SESSIONS: Final = 5
MIN_EXPIRED_SHARE: Final = 0.1  # of the sessions with nodes in locks


@Rule("P15", "mass-expiry", "warning", "whole")
def mass_expiry(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Many sessions expired at once: a host, a network or a server failed.

    They expired within 15 s; reported for two minutes afterwards.
    """
    gone = ctx.expired
    sessions = {node.session for node in gone}
    others = len(ctx.owners) - sum(session in ctx.owners for session in sessions)
    if len(sessions) < max(MIN_SESSIONS, MIN_EXPIRED_SHARE * (len(sessions) + others)):
        return
    yield RuleMatch(
        about=FindingSubject(sessions=tuple(sorted(sessions)), key=("mass-expiry",)),
        sentence=f"{len(sessions)} sessions with places in locks expired {_when(gone)}"
        f"{_where(gone)}. {_effect(gone)} {count(others, 'other session')} "
        f"{'has' if others == 1 else 'have'} places now.",
        confidence="C3",
        evidence=(
            (True, "their nodes vanished with their sessions; each event says how that is known"),
            (None, "they did not all close their sessions on purpose"),
        ),
        advice="Look at what they share: their host, their network, or the server they were "
        "connected to.",
        since=min(node.at for node in gone),
    )


def _when(gone: Collection[ExpiredPlace]) -> str:
    """The period of the expiries. If zktop had no connection, only its limits are known."""
    unseen = [node.unseen_from for node in gone if node.unseen_from is not None]
    first, last = min(*unseen, *(node.at for node in gone)), max(node.at for node in gone)
    if not unseen:
        return f"within {span(max(1_000, last - first))}, starting at {clock(first)}"
    part = "nothing" if len(unseen) == len(gone) else "only part"
    return f"between {clock(first)} and {clock(last)}, of which zktop saw {part}"


def _where(gone: Collection[ExpiredPlace]) -> str:
    """The server and the host that most of the sessions shared."""
    servers = Counter({node.session: node.server for node in gone}.values())
    hosts = Counter({node.session: node.host for node in gone}.values())
    shared = [
        f"{number} {preposition} {short(name)}"
        for counts, preposition in ((servers, "on"), (hosts, "from"))
        for name, number in counts.most_common(1)
        if name is not None and 2 * number > counts.total()
    ]
    return f": {', '.join(shared)}" if shared else ""


def _effect(gone: Collection[ExpiredPlace]) -> str:
    freed = count(len({node.lock for node in gone if node.held}), "lock was", "locks were")
    ended = count(sum(not node.held for node in gone), "request", "requests")
    return f"{freed} freed, {ended} left a queue."


MIN_LAG_ZXIDS = 1_000


@Rule("P12", "stale-view", "warning", "server")
def stale_view(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """The server that zktop reads from is behind the others: what you see is old."""
    link = ctx.shared.world.link
    own = link.server if link else None
    servers = _servers(ctx)
    ours = next((server for server in servers if server.server == own), None)
    if own is None:  # facts of transaction logs
        return
    if ours is None or ours.server_zxid is None:
        yield MissingInput("the server that zktop reads from does not show its zxid", "names")
        return
    for other in servers:
        # Only servers that were asked before ours can prove that it is behind.
        reached = other.server_zxid if other.at <= ours.at and other is not ours else None
        behind = 0 if reached is None else transactions_between(ours.server_zxid, reached)
        if behind > MIN_LAG_ZXIDS:
            yield _stale(ours, other, behind)
            return


def _stale(ours: Server, other: Server, behind: int) -> RuleMatch:
    return RuleMatch(
        about=FindingSubject(key=("view", ours.server)),
        sentence=f"zktop reads from {short(ours.server)}, which is at least {behind} transactions "
        f"behind {short(other.server)}: this view is out of date.",
        confidence="C4",
        evidence=((True, f"{short(other.server)} was asked first and is ahead"),),
        advice="Do not trust ages and alarms now; connect zktop to another server.",
        as_of=ours.at,
    )


CROWDED_SHARE: Final = 1.5  # times the mean
MIN_CROWD: Final = 100  # connections above the mean


@Rule("P16", "crowded-server", "info", "server")
def crowded_server(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """One server has far more than its share of the clients.

    Clients choose a server when they connect, and stay there. So a server that was restarted has
    few of them, and the others keep its share.
    """
    counts = {
        server: server.connections
        for server in _servers(ctx)
        if server.is_up and server.connections is not None
    }
    if len(counts) < 2:  # noqa: PLR2004  one server has all
        return
    total, mean = sum(counts.values()), sum(counts.values()) / len(counts)
    busiest, idlest = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    crowd = counts[busiest] - mean
    if crowd < MIN_CROWD or counts[busiest] < CROWDED_SHARE * mean:
        return
    name = short(busiest.server)
    # Of the clients that reconnect, some choose the same server again.
    percent = round(100 * crowd / (counts[busiest] * (1 - 1 / len(counts))))
    yield RuleMatch(
        about=FindingSubject(key=("crowded", busiest.server)),
        sentence=f"{name} serves {counts[busiest]} of {total} connections, "
        f"{short(idlest.server)} {counts[idlest]}: clients stay where they are, even when a "
        "server has come back.",
        confidence="C4",
        evidence=((True, f"connections as each of {len(counts)} servers counts them"),),
        advice=f"If {name} is slow, restart some of its clients, a few at a time. Servers newer "
        f"than 3.9 can make clients reconnect: shed_connections of the AdminServer, with "
        f"{min(percent, 100)} percent.",
        as_of=busiest.at,
    )


MIN_SKEW_MS = 1_000  # the ages on screen do not show a smaller skew
LEADING = ("leader", "standalone")
SLOW_CONNECT_MS = 30_000  # from a connection to its session; ten seconds by default


@Rule("P11", "clock-skew", "info")
def clock_skew(ctx: LockContext) -> Iterator[RuleResult]:
    """The leader's clock jumped or differs from zktop's own: ages on the screen are approximate.

    A node's creation time is before that of an earlier node, or after the time of reading it. Or
    the server of zktop's own connection says that it began long before zktop connected.
    """
    stats = [member.znode.stat for member in ctx.members if member.znode.stat]
    if not stats:
        return
    times = [stat.ctime for stat in sorted(stats, key=attrgetter("czxid"))]
    jump = max(map(sub, accumulate(times, max), times))
    read_at = ctx.lock.changed_at
    ahead = max(times) - read_at if read_at else 0
    if jump > MIN_SKEW_MS:
        why = f"a later node has an earlier time, in {ctx.name}"
        yield _skew(ctx, f"went back by {span(jump)}", "C4", why)
    elif ahead > MIN_SKEW_MS:
        why = f"a node has a future time, in {ctx.name}"
        yield _skew(ctx, f"is ahead of zktop's own by {span(ahead)}", "C3", why)
    else:
        yield from _behind(ctx)


def _behind(ctx: LockContext) -> Iterator[RuleMatch]:
    own, connected_at = ctx.ensemble.own_connection, ctx.ensemble.connected_at
    if own is None or own.established is None or connected_at is None:
        return
    behind = connected_at - own.established
    if behind > SLOW_CONNECT_MS:
        how = f"is behind zktop's own by {span(behind)}"
        why = f"{own.server} dates zktop's connection {span(behind)} before it began"
        modes = {server.server: server.mode for server in ctx.ensemble.servers}
        yield _skew(ctx, how, "C3" if modes[own.server] in LEADING else "C2", why)


def _skew(ctx: LockContext, how: str, confidence: Confidence, why: str) -> RuleMatch:
    # One wrong clock affects many locks, so their findings share one subject.
    return RuleMatch(
        about=replace(ctx.about(key=("clock",)), lock=None, key=("clock",)),
        sentence=f"The leader's clock {how}: ages are approximate.",
        confidence=confidence,
        evidence=((True, why),),
        advice="Synchronise the clocks of the servers (NTP); leaders stamp all nodes.",
    )
