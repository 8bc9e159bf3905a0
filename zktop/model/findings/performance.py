"""P: sessions and performance, and how fresh our own view is."""

from collections.abc import Iterator

from zktop.model.facts import Server
from zktop.model.findings.loads import (
    clock_skew,
    convoy,
    long_hold,
    retry_starvation,
    too_many_members,
    writer_starvation,
)
from zktop.model.findings.presence import (
    blast_radius,
    flapping,
    session_gone,
    suspicious_timeout,
    timeout_too_short,
)
from zktop.model.findings.rule import Answer, Lacking, Subject, Verdict, rule
from zktop.model.findings.surroundings import Survey
from zktop.model.findings.words import short

LAG = 1_000  # transactions


@rule(
    "P12",
    "stale-view",
    "warning",
    "server",
    needs=("names",),
    means="The server that zktop reads from is behind the others: what you see is old.",
)
def stale_view(survey: Survey) -> Iterator[Answer]:
    """Find our own server behind what another one had already reached before."""
    own = survey.link.server if survey.link else None
    figures = [one.server for _, one in sorted(survey.tables.items()) if one.server]
    ours = next((one for one in figures if one.server == own), None)
    if own is None or ours is None or ours.server_zxid is None:
        yield Lacking("the server that zktop reads from does not tell its zxid", "names")
        return
    for other in figures:
        # Only what another had reached before ours was asked is comparable.
        told = other.server_zxid if other.at <= ours.at and other is not ours else None
        if told is not None and told - ours.server_zxid > LAG:
            yield _stale(ours, other, told - ours.server_zxid)
            return


def _stale(ours: Server, other: Server, behind: int) -> Verdict:
    return Verdict(
        about=Subject(key=("view", ours.server)),
        sentence=f"zktop reads from {short(ours.server)}, which is at least {behind} transactions "
        f"behind {short(other.server)}: this picture is old.",
        confidence="C4",
        evidence=((True, f"{short(other.server)} was asked first and is further"),),
        advice="Believe no age and no alarm now; connect zktop to another server.",
        as_of=ours.at,
    )


RULES = (
    session_gone,
    flapping,
    suspicious_timeout,
    timeout_too_short,
    blast_radius,
    long_hold,
    convoy,
    writer_starvation,
    retry_starvation,
    too_many_members,
    clock_skew,
    stale_view,
)
