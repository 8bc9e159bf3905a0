"""A queue of any length in one line: its modes as runs, and where in it the old waits are."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.layouts.layout import Mode
from zktop.model.locks.lock import Member
from zktop.ui.draw.numbers import grouped
from zktop.ui.draw.times import running
from zktop.ui.ink import Line, Run, line
from zktop.ui.row import LETTERS

SHADES: Final = "░▒▓█"
MIXED: Final = "*"
MOST: Final = 200  # runs that are ever tried to be written in one line
_mode: Final = attrgetter("mode")
_size: Final = attrgetter("size")


class ModeRun(NamedTuple):
    """So many in a row want the same."""

    mode: Mode
    size: int

    def __str__(self) -> str:
        """Write it as in `R5`."""
        return f"{LETTERS[self.mode]}{self.size if self.size > 1 else ''}"


def mode_runs(members: Iterable[Member]) -> list[ModeRun]:
    """Give the runs of a queue, in its order."""
    return [ModeRun(mode, len(list(run))) for mode, run in groupby(members, key=_mode)]


def run_line(runs: Sequence[ModeRun], width: int) -> str:
    """Write runs in so many cells; what does not fit is left out of the middle, and counted.

    >>> run_line([ModeRun("write", 1), ModeRun("read", 5), ModeRun("write", 1)], 20)
    'W · R5 · W'
    >>> run_line([ModeRun("write", 1), ModeRun("read", 5)] * 40, 40)
    'W · R5 · … 223 more … · R5 · W · R5'
    """
    if len(runs) <= MOST:
        whole = " · ".join(map(str, runs))
        if len(whole) <= width or len(runs) < 4:  # noqa: PLR2004  nothing to leave out
            return whole
    kept = 1
    while 2 * kept + 2 < len(runs) and len(_without_middle(runs, kept + 1)) <= width:
        kept += 1
    return _without_middle(runs, kept)


def _without_middle(runs: Sequence[ModeRun], kept: int) -> str:
    first, last = runs[:kept], runs[len(runs) - kept - 1 :]
    hidden = sum(map(_size, runs)) - sum(map(_size, (*first, *last)))
    return " · ".join([*map(str, first), f"… {grouped(hidden)} more …", *map(str, last)])


def density(
    members: Sequence[Member], runs: Sequence[ModeRun], now: Millis, width: int
) -> tuple[Line, Line]:
    """Draw a long queue in so many columns: what each part wants, and the darker the older."""
    columns = min(width, len(members))
    ends = list(accumulate(run.size for run in runs))
    bounds = [len(members) * column // columns for column in range(columns + 1)]
    letters = _letters(runs, ends, bounds)
    ages = [_age(members[begin], now) for begin in bounds[:-1]]
    oldest = max((age for age in ages if age is not None), default=0)
    shades = "".join(" " if age is None else _shade(age, oldest) for age in ages)
    told = f"  █ waits for {running(oldest)}" if oldest else ""
    return line((letters, "plain")), (Run(shades, "waits"), Run(told, "dim"))


def _letters(runs: Sequence[ModeRun], ends: Sequence[int], bounds: Sequence[int]) -> str:
    letters, at = [], 0
    for begin, end in pairwise(bounds):
        while ends[at] <= begin:
            at += 1
        is_one = ends[at] >= end
        letters.append(LETTERS[runs[at].mode] if is_one else MIXED)
    return "".join(letters)


def _age(member: Member, now: Millis) -> Millis | None:
    return None if member.ctime is None else max(0, now - member.ctime)


def _shade(age: Millis, oldest: Millis) -> str:
    return SHADES[min(len(SHADES) - 1, age * len(SHADES) // max(1, oldest))]
