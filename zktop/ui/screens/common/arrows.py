"""Arrows in the margin of a list: from each line to the lines that it points to.

Lines that point to the same line share a lane, so a herd has many strokes and one arrowhead:

    ann   ◀─╮
    bob   ──┤◀─╮
    cid   ──╯  │
    dot   ─────╯
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

LANE: Final = 3  # cells
STROKES, SUPPOSED_STROKES = "─│", "┄┊"  # across, and down


class Lane(NamedTuple):
    """The column of all arrows to one line."""

    target: int
    sources: frozenset[int]
    column: int = 0
    is_supposed: bool = False  # dotted

    @property
    def first(self) -> int:
        """The uppermost line that it touches."""
        return min(self.target, *self.sources)

    @property
    def last(self) -> int:
        """The lowest line that it touches."""
        return max(self.target, *self.sources)


def margin(
    targets: Sequence[Sequence[int]], most: int, supposed: Collection[int] = ()
) -> list[str]:
    """Draw the arrows of each line to its targets, in at most `most` lanes.

    Arrows without a free lane are left out. Arrows from the lines in `supposed` are dotted.

    >>> for drawn in margin([[], [0], [0, 1]], 4): print(drawn)
    ◀─╮
    ──┤◀─╮
    ──╯──╯
    >>> for drawn in margin([[], [0], [1], [2]], 4): print(drawn)
    ◀─╮
    ──╯◀─╮
    ─────╯◀─╮
    ────────╯
    >>> for drawn in margin([[], [0], [0]], 4, {1, 2}): print(drawn)
    ◀┄╮
    ┄┄┤
    ┄┄╯
    """
    lanes = placed(targets, most, supposed)
    width = LANE * (1 + max((lane.column for lane in lanes), default=-1))
    rows: list[list[Lane]] = [[] for _ in targets]
    for lane in lanes:
        for row in range(lane.first, lane.last + 1):
            rows[row].append(lane)
    return [_row(row, touching, width) for row, touching in enumerate(rows)]


def placed(
    targets: Sequence[Sequence[int]], most: int, supposed: Collection[int] = ()
) -> list[Lane]:
    """Give each target a lane. Two lanes in the same column never touch the same line.

    Where there is room, an arrowhead is to the right of the stroke that leaves its line, so that
    a chain goes down like a staircase.
    """
    free_from = [-1] * most  # the first line that a column may touch again
    lanes: list[Lane] = []
    for lane in sorted(_unplaced(targets, supposed), key=lambda lane: lane.first):
        strokes = [other.column for other in lanes if lane.target in other.sources]
        free = [column for column in range(most) if free_from[column] <= lane.first]
        to_the_right = [column for column in free if column > max(strokes, default=-1)]
        candidates = to_the_right or free
        if candidates:
            free_from[candidates[0]] = lane.last + 1
            lanes.append(lane._replace(column=candidates[0]))
    return lanes


def _unplaced(targets: Sequence[Sequence[int]], supposed: Collection[int]) -> list[Lane]:
    """Return a lane for each target, and another one for its supposed arrows."""
    sources: dict[tuple[int, bool], set[int]] = {}
    for source, line_targets in enumerate(targets):
        for target in line_targets:
            if target != source:
                sources.setdefault((target, source in supposed), set()).add(source)
    return [
        Lane(target, frozenset(lines), is_supposed=is_supposed)
        for (target, is_supposed), lines in sources.items()
    ]


def _row(row: int, touching: Sequence[Lane], width: int) -> str:
    cells = [" "] * width
    for lane in touching:
        cells[LANE * lane.column + LANE - 1] = _strokes(lane)[1]
    for lane in touching:
        if row in lane.sources:
            _stroke(cells, lane, row)
    for lane in touching:
        if row == lane.target:
            corner = "╯" if row > min(lane.sources) else "╮"
            head = f"◀{_strokes(lane)[0]}{corner}"
            cells[LANE * lane.column : LANE * (lane.column + 1)] = head
    return "".join(cells).rstrip()


def _strokes(lane: Lane) -> str:
    return SUPPOSED_STROKES if lane.is_supposed else STROKES


def _stroke(cells: list[str], lane: Lane, row: int) -> None:
    """Draw a line from the text to the lane, across the lanes between them."""
    end = LANE * lane.column + LANE - 1
    across = _strokes(lane)[0]
    for cell in range(end):
        if cells[cell] in "│┊┼":
            cells[cell] = "┼"
        elif cells[cell] == " ":
            cells[cell] = across
    if row == lane.first:
        cells[end] = "╮"
    else:
        cells[end] = "╯" if row == lane.last else "┤"
