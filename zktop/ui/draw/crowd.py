"""A queue too long to be read, by who stands in it: how many of each class, and how old."""

from collections import Counter
from typing import Final

from zktop.model.facts import Millis, session_text
from zktop.model.findings.words import count
from zktop.model.locks.lock import Member
from zktop.model.text import Text
from zktop.model.waits.order_classes import fold_name
from zktop.ui.draw.numbers import grouped
from zktop.ui.draw.scene import LockScene
from zktop.ui.draw.times import SECOND_MS, running
from zktop.ui.ink import Line, fitted, line, right

LONG_QUEUE: Final = 60  # waiters; fewer can be read one by one
SHOWN: Final = 8
NAME: Final = 22


class Crowd:
    """Counts classes of names; remembers the class of each node, because names are read slowly."""

    def __init__(self) -> None:
        """Begin with nobody known."""
        self._classes: dict[Text, str] = {}
        self._path = ""
        self._lines: list[Line] = []
        self._at: Millis | None = None

    def lines(self, scene: LockScene) -> list[Line]:
        """Draw the table, once a second; nothing for a queue that can be read one by one."""
        lineup = scene.lineup
        if len(lineup.members) - lineup.holding < LONG_QUEUE:
            return []
        if self._path != scene.path:
            self._classes, self._path, self._at = {}, scene.path, None
        if self._at is None or not 0 <= scene.report.now - self._at < SECOND_MS:
            self._lines, self._at = self._counted(scene), scene.report.now
        return self._lines

    def _counted(self, scene: LockScene) -> list[Line]:
        lineup = scene.lineup
        waiting = lineup.members[lineup.holding :]
        classes = {member.node: self._class(scene, member) for member in waiting}
        self._classes = classes
        oldest: dict[str, int | None] = {}
        for member in waiting:
            oldest.setdefault(classes[member.node], member.ctime)
        return _table(scene, Counter(classes.values()), oldest)

    def _class(self, scene: LockScene, member: Member) -> str:
        known = self._classes.get(member.node)
        if known is None:
            name = scene.report.naming(member.owner, member.label)
            known = fold_name(name or session_text(member.owner))
        return known


def _table(scene: LockScene, counts: Counter[str], oldest: dict[str, int | None]) -> list[Line]:
    total, now = counts.total(), scene.report.now
    head = fitted(
        line((f"BY IDENTITY  {count(len(counts), 'class', 'classes')}", "title")), NAME + 2
    )
    lines = [(*head, *line(("  COUNT  SHARE  OLDEST", "title")))]
    for name, number in counts.most_common(SHOWN):
        since = oldest[name]
        told = "?" if since is None else running(max(0, now - since))
        lines.append(
            (*fitted(line(f"  {name}"), NAME + 2), *right(line(grouped(number)), 7),
             *right(line((f"{100 * number // total} %", "dim")), 7), *right(line(told), 8))
        )  # fmt: skip
    hidden = len(counts) - SHOWN
    if hidden > 0:
        lines.append(line((f"  and {grouped(hidden)} more classes", "dim")))
    return lines
