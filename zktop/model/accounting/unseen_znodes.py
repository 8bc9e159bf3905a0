"""Znodes next to locks that came and went between two looks: they may have been locks.

A lock that exists for a few milliseconds is in no report, but the counter of its folder shows it.
"""

from collections import Counter
from typing import Final

from zktop.model.facts import Millis, split
from zktop.model.history.missed_events import RootCounters
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family

MAX_CHILDREN: Final = 2_000  # each look compares all; in a larger folder, none are counted


class UnseenZnodes:
    """Takes every report of a run in order; `by_folder` has the counts of folders of locks."""

    def __init__(self, since: Millis | None = None) -> None:
        """Begin to count at this time, or with the first report."""
        self.by_folder: Counter[Text] = Counter()
        self._since = since or 0
        self._report: Report | None = None
        self._folders: set[Text] = set()
        self._counters: dict[Text, RootCounters] = {}

    def look(self, report: Report) -> None:
        before, self._report = self._report, report
        self._folders.update(split(path)[0] for path in report.changed_since(before))
        if before is None:
            return
        changed = report.world.changed_since(before.world).paths & self._folders
        for path in changed - report.records.keys():
            missed = self._missed(path, before.world.family(path), report.world.family(path))
            if missed and report.now >= self._since:
                self.by_folder[path] += missed

    def _missed(self, path: Text, before: Family, after: Family) -> int:
        """Return how many more children were created that neither look shows."""
        counters = self._counters.get(path)
        is_same = before.stat and after.stat and before.stat.czxid == after.stat.czxid
        if not is_same or max(len(before.members), len(after.members)) > MAX_CHILDREN:
            self._counters.pop(path, None)
            return 0
        if counters is None:
            counters = self._counters[path] = RootCounters(before.stat, before.creations)
        created = after.members.keys() - before.members.keys()
        deleted = before.members.keys() - after.members.keys()
        return counters.after(after.stat, len(created), len(deleted))[0]
