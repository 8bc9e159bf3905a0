"""How the ensemble stands, and what is in it, in pieces of which the head shows what it can."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.facts import Millis, Server, ServerState
from zktop.model.findings.words import count
from zktop.model.report import Report
from zktop.model.sight import Sight
from zktop.ui.draw.marks import SURE
from zktop.ui.draw.times import running
from zktop.ui.ink import Ink, Line, line

OUTAGES: Final[dict[ServerState | None, tuple[str, Ink]]] = {
    "down": ("DOWN", "critical"),
    "no-quorum": ("NO QUORUM", "critical"),
    "no-answer": ("NO ANSWER", "critical"),
}
EPOCH: Final = 32  # bits of a zxid that count within the term of one leader


class Piece(NamedTuple):
    """Something to say; the smaller the rank, the more it matters."""

    rank: int
    drawn: Line


def pieces(report: Report) -> Iterator[Piece]:
    """Say all of it."""
    sight = report.sight
    yield Piece(1, line(count(len(report.paths), "lock")))
    yield from _servers(sight)
    yield from _roles(sight)
    yield from _wrong(report)
    if any(one.need not in ("history", "leases") for one in report.blind):
        yield Piece(0, line(("BLIND SPOTS", "unknown")))


def lag(zxid: int | None, newest: int) -> int | None:
    """Count the transactions that a server is behind; None where it is of another term.

    >>> lag(0x5A00000003, 0x5A00000010), lag(0x5900000003, 0x5A00000010), lag(None, 0)
    (13, None, None)
    """
    is_same_term = zxid is not None and zxid >> EPOCH == newest >> EPOCH
    return newest - zxid if is_same_term and zxid is not None else None


def newest_of(servers: Iterable[Server]) -> int:
    """Give the newest transaction that any server tells of."""
    return max((one.server_zxid or 0 for one in servers), default=0)


def _servers(sight: Sight) -> Iterator[Piece]:
    """Count the servers that answer; those that do not are never left out."""
    servers, sees = sight.servers, sight.sees
    if not servers:
        yield Piece(2, line("servers not asked"))
        return
    told = f"{sum(one.is_up for one in servers)}/{len(servers)} servers"
    if any(one.state in OUTAGES for one in servers):
        yield Piece(0, line((told, "warning")))
    elif sees.sessions == sees.watches == sees.expiry == "none":
        yield Piece(2, line(f"{told}, ", ("0 tables", "unknown")))
    else:
        yield Piece(2, line(told))


def _roles(sight: Sight) -> Iterator[Piece]:
    """Say who leads, who is connected, and whether the others keep up with the leader."""
    servers = sight.servers
    leader = next((one for one in servers if one.mode == "leader"), None)
    if leader is not None:
        yield Piece(4, line(f"leader {_host(leader.server, servers)}"))
    if sight.sees.sessions != "none":
        there = sum(len(one.connections or ()) for one in sight.witnesses)
        at_least = "≥" if sight.sees.sessions == "some" else ""
        ours = any(sight.own in (one.connections or ()) for one in sight.witnesses)
        yield Piece(3, line(f"{at_least}{count(there - ours, 'session')}"))
    newest = newest_of(servers)
    if newest:
        yield Piece(
            6, line(("zxid ", "dim"), f"{newest >> EPOCH:x}:{newest & (1 << EPOCH) - 1:x}")
        )
    if len(servers) > 1 and newest:
        yield Piece(5, line(("lag ", "dim"), _behind(servers, newest)))


def _behind(servers: Sequence[Server], newest: int) -> tuple[str, Ink]:
    """Say how far the slowest server is behind, as far as all of them tell."""
    lags = [lag(one.server_zxid, newest) for one in servers]
    told = [one for one in lags if one is not None]
    at_least = "" if len(told) == len(lags) else "≥"
    return f"{at_least}{max(told)}", "plain" if not at_least else "unknown"


def _wrong(report: Report) -> Iterator[Piece]:
    """Count what is wrong; red is for what is proven."""
    if report.deadlocks:
        is_sure = any(one.confidence in SURE for one in report.deadlocks)
        yield Piece(0, _alarm(count(len(report.deadlocks), "deadlock").upper(), is_sure=is_sure))
        return
    bad = [one for one in report.findings if one.severity == "critical" and not one.cause]
    if bad:
        is_sure = any(one.confidence in SURE for one in bad)
        yield Piece(0, _alarm(f"{len(bad)} CRITICAL", is_sure=is_sure))


def _alarm(said: str, *, is_sure: bool) -> Line:
    return line((said, "critical") if is_sure else (f"{said}?", "warning"))


def _host(address: str, servers: Sequence[Server]) -> str:
    """Leave the port out where no other server is on that host."""
    hosts = [one.server.rpartition(":")[0] for one in servers]
    host = address.rpartition(":")[0]
    return host if hosts.count(host) == 1 else address


def out_for(server: Server, now: Millis) -> int | None:
    """Count for how long a server has not served, up to the newest round at least."""
    return None if server.since is None else max(0, max(now, server.at) - server.since)


def outage(state: ServerState | None, out_ms: int | None) -> tuple[str, Ink]:
    """Write what is wrong with a server, and for how long.

    >>> outage("down", 12_000)
    ('DOWN 12s', 'critical')
    """
    word, ink = OUTAGES[state]
    return (word if out_ms is None else f"{word} {running(out_ms)}"), ink
