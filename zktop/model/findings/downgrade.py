"""S4: a writer that also reads, and the next writer that gets in beside that reader.

Before version 5.5 Curator gave such a read a number of its own, behind writers that had queued
meanwhile. When its owner stops writing, the first of them is granted.
"""

from collections.abc import Iterator

from zktop.model.findings.examination import Examination
from zktop.model.findings.owners import may_have_kept_reading
from zktop.model.findings.rule import Answer, Verdict, rule
from zktop.model.locks.lock import Member

_ADVICE = "Upgrade Curator in {} (CURATOR-621), or release the read lock first."


@rule(
    "S4",
    "downgrade-overlap",
    "critical",
    "lock",
    needs=("names", "stats"),
    means="A writer also reads; when it stops writing, the next writer owns beside that reader.",
    only_if=("several", "read-write"),
)
def downgrade_overlap(look: Examination) -> Iterator[Answer]:
    """Find a session that holds a write and a later read lock, with a writer in between."""
    for line in look.lock.lines if look.lock.kind == "read-write" else ():
        holders = [member for member in line.holders if member.owner]
        for read in (member for member in holders if member.mode == "read"):
            write = next((m for m in holders if m.mode == "write" and m.owner == read.owner), None)
            if write is None or write.sequence == read.sequence:
                continue
            start, end = look.place[write.node] + 1, look.place[read.node]
            between = [m for m in line.members[start:end] if m.mode == "write"]
            if between:
                yield _overlap(look, write, read, between[0])
    for seen in look.astray:
        if may_have_kept_reading(look, seen):
            yield _overlapping(look, seen.member)


def _overlap(look: Examination, write: Member, read: Member, following: Member) -> Verdict:
    owner, other = look.who(read), look.who(following)
    return Verdict(
        about=look.about(write, read, following),
        sentence=f"If {owner} releases its write lock of {look.name} now, {other} becomes writer "
        f"beside reader {owner}.",
        confidence="C3",
        evidence=(
            (True, f"{owner} owns a write lock and a later read lock"),
            (True, f"{other} queued for writing between the two"),
            (None, "the client is a Curator from before 5.5.0"),
        ),
        advice=_ADVICE.format(owner),
    )


def _overlapping(look: Examination, read: Member) -> Verdict:
    write = look.members[0]
    owner, other = look.who(read), look.who(write)
    return Verdict(
        about=look.about(write, read),
        sentence=f"{owner} may still read {look.name} beside writer {other}, who was let in when "
        f"{owner} stopped writing.",
        confidence="C2",
        evidence=(
            (True, f"{owner} watches nobody, as if it had the lock"),
            (None, "the client is a Curator from before 5.5.0"),
            (False, "it waits and has lost its watch: then nothing will wake it"),
        ),
        advice=_ADVICE.format(owner),
        as_of=look.sight.watched_at(read.owner),
        patience_ms=look.thresholds.settle,
    )
