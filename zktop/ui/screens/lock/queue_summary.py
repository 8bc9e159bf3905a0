"""A queue of any length in one or two lines: runs of modes, ranges of positions, shaded ages."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.layouts.layout import MODE_LETTERS, LockMode
from zktop.model.locks.lock import Member
from zktop.ui.screens.common.numbers_and_times import elapsed, with_spaces
from zktop.ui.styled_text import Line, Run, line

SHADES: Final = "░▒▓█"
MIXED: Final = "*"
MAX_RUNS: Final = 200  # a longer list is always shortened
_mode: Final = attrgetter("mode")
_size: Final = attrgetter("size")


class ModeRun(NamedTuple):
    """Neighbours in a queue that want the same mode."""

    mode: LockMode
    size: int

    def __str__(self) -> str:
        return f"{MODE_LETTERS[self.mode]}{self.size if self.size > 1 else ''}"


def mode_runs(members: Iterable[Member]) -> list[ModeRun]:
    """Split a queue into runs of the same mode."""
    return [ModeRun(mode, len(list(run))) for mode, run in groupby(members, key=_mode)]


def run_line(runs: Sequence[ModeRun], width: int) -> str:
    """Format runs within a width. If they do not fit, the middle is left out and counted.

    >>> run_line([ModeRun("write", 1), ModeRun("read", 5), ModeRun("write", 1)], 20)
    'W · R5 · W'
    >>> run_line([ModeRun("write", 1), ModeRun("read", 5)] * 40, 40)
    'W · R5 · … 223 more … · R5 · W · R5'
    """
    if len(runs) <= MAX_RUNS:
        whole = " · ".join(map(str, runs))
        if len(whole) <= width or len(runs) < 4:  # noqa: PLR2004  nothing to leave out
            return whole
    first_runs = 1
    while 2 * first_runs + 2 < len(runs) and len(_without_middle(runs, first_runs + 1)) <= width:
        first_runs += 1
    return _without_middle(runs, first_runs)


def _without_middle(runs: Sequence[ModeRun], first_runs: int) -> str:
    """Leave out the middle; the end keeps one run more than the beginning."""
    first, last = runs[:first_runs], runs[len(runs) - first_runs - 1 :]
    hidden = sum(map(_size, runs)) - sum(map(_size, (*first, *last)))
    return " · ".join([*map(str, first), f"… {with_spaces(hidden)} more …", *map(str, last)])


def density(
    members: Sequence[Member], runs: Sequence[ModeRun], now: Millis, width: int
) -> tuple[Line, Line]:
    """Draw a long queue as two strips: the mode of each part, and its age, darker for older."""
    columns = min(width, len(members))
    ends = list(accumulate(run.size for run in runs))
    bounds = [len(members) * column // columns for column in range(columns + 1)]
    letters = _letters(runs, ends, bounds)
    ages = [_age(members[begin], now) for begin in bounds[:-1]]
    oldest = max((age for age in ages if age is not None), default=0)
    shades = "".join(" " if age is None else _shade(age, oldest) for age in ages)
    text = f"  █ waiting for {elapsed(oldest)}" if oldest else ""
    return line((letters, "plain")), (Run(shades, "waits"), Run(text, "dim"))


def _letters(runs: Sequence[ModeRun], ends: Sequence[int], bounds: Sequence[int]) -> str:
    letters, at = [], 0
    for begin, end in pairwise(bounds):
        while ends[at] <= begin:
            at += 1
        has_one_mode = ends[at] >= end
        letters.append(MODE_LETTERS[runs[at].mode] if has_one_mode else MIXED)
    return "".join(letters)


def _age(member: Member, now: Millis) -> Millis | None:
    return None if member.ctime is None else max(0, now - member.ctime)


def _shade(age: Millis, oldest: Millis) -> str:
    return SHADES[min(len(SHADES) - 1, age * len(SHADES) // max(1, oldest))]


def position_ranges(places: Iterable[int]) -> str:
    """Format positions, with runs shortened.

    >>> position_ranges([1, 2, 3, 7]), position_ranges([0, 1]), position_ranges([])
    ('1..3 7', '0 1', '')
    """
    return " ".join(_runs(sorted(places)))


def _runs(places: Sequence[int]) -> Iterator[str]:
    steps = enumerate(pairwise(places), start=1)
    starts = [index for index, (place, after) in steps if after != place + 1]
    for begin, end in pairwise([0, *starts, len(places)]):
        run = places[begin:end]
        if len(run) > 2:  # noqa: PLR2004  two are shorter by themselves
            yield f"{run[0]}..{run[-1]}"
        else:
            yield from map(str, run)
