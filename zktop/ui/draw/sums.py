"""What the waiting in sight adds up to, and who has waited longest at the cursor."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.draw.moves import brief_paths
from zktop.ui.draw.numbers import grouped
from zktop.ui.draw.strips import Window
from zktop.ui.draw.times import age
from zktop.ui.ink import Line, joined, line
from zktop.ui.row import LOOKED_AT
from zktop.ui.tracks import Tracks

SECOND_MS: Final = 1000


class Wait(NamedTuple):
    """Somebody who waits, and since when."""

    at: Millis
    path: Text
    who: str
    said: str


def sums(
    tracks: Tracks, paths: Sequence[Text], seen: Window, report: Report, *, is_ascii: bool
) -> list[Line]:
    """Add up the seconds that all have waited for these locks in the time in sight."""
    paths = [path for path in paths if not _is_election(report, path)]
    called = brief_paths(paths)
    blocked = {path: blocked_ms(tracks, path, seen) // SECOND_MS for path in paths}
    told = [
        line(f"{called[path]} ", (grouped(seconds), "waits" if seconds else "dim"))
        for path, seconds in blocked.items()
    ]
    longest = min(_waits(paths, report, is_ascii=is_ascii), default=None)
    wait = (
        [
            line(
                ("LONGEST WAIT ", "title"),
                f"{longest.said} {longest.who} in {called[longest.path]}",
            )
        ]
        if longest
        else []
    )
    return [joined([line(("BLOCKED*s in sight", "title")), *told, *wait])] if told else []


def _is_election(report: Report, path: Text) -> bool:
    """Tell whether those who wait wait for nothing that they miss."""
    part = report.parts.get(path)
    return part is not None and part.lock.kind == "election"


def blocked_ms(tracks: Tracks, path: Text, seen: Window) -> Millis:
    """Add up how long all together have waited for a lock in a span of time."""
    end = min(seen.end, seen.newest)
    before, changes = tracks.stands(path, seen.begin, end)
    stands = [*([before._replace(at=seen.begin)] if before else []), *changes]
    if not stands:
        return 0
    steps = pairwise([*stands, stands[-1]._replace(at=end)])
    return sum(one.queue * max(0, two.at - one.at) for one, two in steps)


def _waits(paths: Sequence[Text], report: Report, *, is_ascii: bool) -> Iterator[Wait]:
    for path in paths:
        part = report.parts.get(path)
        for member in part.lock.waiters[:LOOKED_AT] if part else ():
            since = part.history.since(member, holds=False) if part else None
            if since is not None and since.at is not None:
                who = report.calling(member.owner, member.label)
                said = age(since.at, since.how, report.now, is_ascii=is_ascii)
                yield Wait(since.at, path, who, said)
