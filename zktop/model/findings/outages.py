"""P13 and P14: servers that are down, or that do not answer."""

from collections.abc import Iterator, Sequence

from zktop.model.facts import Server
from zktop.model.findings.context import EnsembleContext
from zktop.model.findings.finding import (
    Confidence,
    FindingSubject,
    Reason,
    RuleMatch,
    RuleResult,
    rule,
)
from zktop.model.format import clock, short


@rule(
    "P13",
    "member-down",
    "warning",
    "server",
    needs=("names",),
    means="A server of the ensemble is down, or runs without a quorum and serves no clients.",
)
def member_down(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Find servers that refuse connections, and those that say they serve no clients."""
    servers = _servers(ctx)
    for server in servers:
        name = short(server.server)
        if server.state == "down":
            yield _verdict(
                server,
                f"{name} is down: {server.why} (noticed at {_noticed(server)}). "
                f"{_answering(servers)}",
                "C4",
                "Start it again; its log says why it ended. Until then the ensemble survives one "
                "failure less.",
            )
        elif server.state == "no-quorum":
            yield _verdict(
                server,
                f"{name} runs but serves no clients: it has no quorum (noticed at "
                f"{_noticed(server)}). {_answering(servers)}",
                "C4",
                "Check that it reaches the other members on their quorum ports; its log says "
                "what it waits for.",
            )


@rule(
    "P14",
    "no-answer",
    "warning",
    "server",
    needs=("names",),
    means="A server accepts connections and does not answer: it is paused, overloaded or cut off.",
)
def no_answer(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Find servers that did not answer in two consecutive rounds."""
    servers = _servers(ctx)
    for server in servers:
        if server.state == "no-answer":
            yield _verdict(
                server,
                f"{short(server.server)} does not answer (noticed at {_noticed(server)}). "
                f"{_answering(servers)}",
                "C3",
                "Check its process: a long garbage collection, a slow disk, or a process that "
                "was stopped. Its clients move to other servers when their timeouts end.",
                (None, "the network between zktop and this server works"),
            )


def _servers(ctx: EnsembleContext) -> Sequence[Server]:
    return [tables.server for _, tables in sorted(ctx.tables.items()) if tables.server]


def _answering(servers: Sequence[Server]) -> str:
    up = sum(one.is_up for one in servers)
    return f"{up} of {len(servers)} server{'' if len(servers) == 1 else 's'} answered."


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
