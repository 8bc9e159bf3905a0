"""A long queue by client name: how many waiters have similar names, and how long they wait."""

from typing import Final

from zktop.model.format import count
from zktop.ui.screens.common.numbers_and_times import elapsed, with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import Line, fitted, line, right_aligned

MIN_WAITERS: Final = 60
MAX_CLASSES: Final = 8
NAME_CELLS: Final = 22


def waiter_classes(detail: LockDetail) -> list[Line]:
    """Draw the table. A queue short enough to be read row by row needs none."""
    waiting = len(detail.queue.members) - detail.queue.holder_count
    if waiting < MIN_WAITERS:
        return []
    classes = detail.waiters_by_name
    head = fitted(
        line((f"BY IDENTITY  {count(len(classes), 'class', 'classes')}", "title")), NAME_CELLS + 2
    )
    lines = [(*head, *line(("  COUNT  SHARE  OLDEST", "title")))]
    largest = sorted(classes.items(), key=lambda named: len(named[1]), reverse=True)
    for name, members in largest[:MAX_CLASSES]:
        since = members[0].ctime
        text = "?" if since is None else elapsed(detail.report.now - since)
        share = line((f"{100 * len(members) // waiting} %", "dim"))
        lines.append(
            (
                *fitted(line(f"  {name}"), NAME_CELLS + 2),
                *right_aligned(line(with_spaces(len(members))), 7),
                *right_aligned(share, 7),
                *right_aligned(line(text), 8),
            )
        )
    hidden = len(classes) - MAX_CLASSES
    if hidden > 0:
        lines.append(line((f"  and {with_spaces(hidden)} more classes", "dim")))
    return lines
