"""A long queue by client name: how many waiters have similar names, and how long they wait."""

from collections import Counter
from functools import lru_cache
from typing import Final

from zktop.model.format import count, fold_name
from zktop.model.session_ids import session_text
from zktop.ui.screens.common.numbers_and_times import elapsed, with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import Line, fitted, line, right_aligned

MIN_WAITERS: Final = 60
MAX_CLASSES: Final = 8
NAME_CELLS: Final = 22


@lru_cache(maxsize=1)  # the same table while only the cursor or the filter moves
def waiter_classes(detail: LockDetail) -> list[Line]:
    """Draw the table. A queue short enough to be read row by row needs none."""
    waiting = detail.queue.members[detail.queue.holder_count :]
    if len(waiting) < MIN_WAITERS:
        return []
    counts: Counter[str] = Counter()
    oldest: dict[str, int | None] = {}
    for member in waiting:
        name = detail.report.owner_name(member.owner, member.label)
        group = fold_name(name or session_text(member.owner))
        counts[group] += 1
        oldest.setdefault(group, member.ctime)
    return _table(detail, counts, oldest)


def _table(detail: LockDetail, counts: Counter[str], oldest: dict[str, int | None]) -> list[Line]:
    total, now = counts.total(), detail.report.now
    head = fitted(
        line((f"BY IDENTITY  {count(len(counts), 'class', 'classes')}", "title")), NAME_CELLS + 2
    )
    lines = [(*head, *line(("  COUNT  SHARE  OLDEST", "title")))]
    for name, number in counts.most_common(MAX_CLASSES):
        since = oldest[name]
        text = "?" if since is None else elapsed(now - since)
        share = line((f"{100 * number // total} %", "dim"))
        lines.append(
            (
                *fitted(line(f"  {name}"), NAME_CELLS + 2),
                *right_aligned(line(with_spaces(number)), 7),
                *right_aligned(share, 7),
                *right_aligned(line(text), 8),
            )
        )
    hidden = len(counts) - MAX_CLASSES
    if hidden > 0:
        lines.append(line((f"  and {with_spaces(hidden)} more classes", "dim")))
    return lines
