"""S6: the sequence number runs out, or has."""

from collections.abc import Iterator

from zktop.model.findings.examination import Examination
from zktop.model.findings.rule import Answer, Verdict, rule
from zktop.model.findings.words import short
from zktop.model.waits.names import span

LAST = (1 << 31) - 1
SOON = 30 * 24 * 3600  # seconds
STEADY = 60_000
SLOWEST = 1e-3  # requests a second; below that nobody lives to see the end
_FINE = "Stop all users of this lock, then delete its node and let them create it anew."


@rule(
    "S6",
    "sequence-overflow",
    "critical",
    "lock",
    needs=("names", "root stat"),
    means="The sequence counter of the lock is exhausted, or soon will be: the order breaks.",
)
def sequence_overflow(look: Examination) -> Iterator[Answer]:
    """Find negative numbers, a counter near its end, and one that will be there in a month."""
    following = look.lock.stat.next_sequence if look.lock.stat else None
    numbers = [m.sequence for m in look.members if m.sequence is not None]
    negative = sum(number < 0 for number in numbers)
    is_over = following is not None and (following < 0 or following >= LAST)
    if negative or is_over or LAST in numbers:
        yield _over(look, negative)
    elif following is not None:
        yield from _running_out(look, LAST - following)


def _over(look: Examination, negative: int) -> Verdict:
    newest = max(look.members, key=lambda member: member.czxid, default=None)
    example = f" (the newest node is {short(newest.node)})" if newest else ""
    return Verdict(
        about=look.about(key=("overflow",)),
        sentence=f"The sequence numbers of {look.name} have run out{example}: its order is not "
        "the order of arrival any more.",
        confidence="C4",
        evidence=(
            (True, f"{negative} of its numbers are negative")
            if negative
            else (True, "its counter is at the end"),
            (None, "clients that compare numbers as text take the newest for the first"),
        ),
        advice=_FINE,
        at_once=True,
    )


def _running_out(look: Examination, left: int) -> Iterator[Verdict]:
    rate = look.past.requests_per_s
    is_near = left < look.thresholds.sequences_left
    seconds = left / rate if rate and rate > SLOWEST else None
    if not is_near and (seconds is None or seconds > SOON):
        return
    remaining = f", about {span(int(1000 * seconds))} at the present rate" if seconds else ""
    yield Verdict(
        about=look.about(key=("overflow",)),
        sentence=f"{look.name} has {left} sequence numbers left{remaining}.",
        confidence="C4" if is_near else "C2",
        evidence=(
            (True, f"the next number is {LAST - left}"),
            (is_near or None, "the present rate goes on"),
        ),
        advice=_FINE,
        severity="warning" if is_near else "info",
        patience_ms=0 if is_near else STEADY,
    )
