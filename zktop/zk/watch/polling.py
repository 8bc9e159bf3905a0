"""Polls Stats where watches do not report: beyond the watch budget, after a flood, behind ACLs.

A folder is listed again only when its Stat shows that children came or went. Slow rounds also
cover every other listed folder, because a changed ACL sends no event and suppresses later ones.
"""

from collections.abc import Sequence
from math import ceil

from zktop.model.facts import Stat
from zktop.zk.read.requests import GET_DATA
from zktop.zk.read.requests_in_flight import Answer, Item, Reader, Result
from zktop.zk.watch.root_watcher import RootWatcher
from zktop.zk.watch.watched_roots import WatchedRoot

POLL_EVERY_S = 1.0  # folders without a watch
DENIED_AT_ONCE = 50  # folders, in case their ACL has changed
AUDITED_AT_ONCE = 1_000


class Polling:
    """Reads the folders of a TreeReader in rounds, some of them at a time."""

    def __init__(
        self, reader: Reader, watcher: RootWatcher, items_per_s: int, audit_every: float
    ) -> None:
        self._reader, self._watcher = reader, watcher
        self._items_per_s = max(1, items_per_s * 3 // 4)  # the rest is for reading the changes
        self._rounds_per_audit = max(1, round(audit_every / POLL_EVERY_S))
        self._rounds = 0
        self._next_polled = self._next_denied = self._next_audited = 0
        self._started = False

    def start(self) -> None:
        """Start the rounds, which read nothing while the connection is lost."""
        if not self._started:
            self._started = True
            self._reader.loop.after(POLL_EVERY_S, self._round)

    def _round(self) -> None:
        self._reader.loop.after(POLL_EVERY_S, self._round)
        if self._reader.is_full:
            return  # still reading, or out of budget: a poll would only wait
        self._rounds += 1
        self._poll()
        self._try_denied_again()
        if self._rounds % self._rounds_per_audit == 0:
            self._audit()

    def _poll(self) -> None:
        """Read the Stats of folders without a watch, and list roots that may exist by now."""
        absent = self._absent_roots()
        polled = [*self._polled_paths(), *absent]
        self._next_polled, due = _next_slice(polled, self._next_polled, self._items_per_s)
        self._read_stats([path for path in due if path not in absent])
        for path in due:
            if path in absent:
                self._watcher.tree.open(absent[path], [path])

    def _try_denied_again(self) -> None:
        """List folders again that an ACL has denied."""
        denied = self._watcher.tree.denied
        at_once = min(DENIED_AT_ONCE, max(1, self._items_per_s // 5))
        self._next_denied, due = _next_slice(list(denied), self._next_denied, at_once)
        for path in due:
            self._watcher.tree.open(denied[path], [path])

    def _audit(self) -> None:
        """Check watched folders for changes that no event reported."""
        budget = AUDITED_AT_ONCE if self._reader.batches else self._items_per_s
        listed, at_once = list(self._watcher.tree.folders), min(AUDITED_AT_ONCE, budget)
        self._next_audited, due = _next_slice(listed, self._next_audited, at_once)
        self._read_stats(due)

    def sentence(self) -> str | None:
        """A sentence about how many folders are polled, how often and why, or None if none are."""
        polled = len(self._polled_paths()) + len(self._absent_roots())
        if not polled:
            return None
        are = "1 znode is" if polled == 1 else f"{polled} znodes are"
        seconds = ceil(polled / self._items_per_s) * round(POLL_EVERY_S)
        often = "once a second" if seconds == 1 else f"every {seconds} s"
        return (
            f"{are} polled {often} instead of watched: "
            "the watch budget is used up, they change too fast, or an ACL hides their events"
        )

    def _polled_paths(self) -> list[str]:
        tree = self._watcher.tree
        if not any(root.polled for root in self._watcher.roots):
            return list(tree.polled)
        folders = tree.folders.values()
        return [
            folder.path for folder in folders if folder.root.polled or folder.path in tree.polled
        ]

    def _absent_roots(self) -> dict[str, WatchedRoot]:
        """Roots that have no watch and do not exist yet."""
        folders = self._watcher.tree.folders
        roots = self._watcher.roots
        return {root.base: root for root in roots if root.polled and root.base not in folders}

    def _read_stats(self, paths: Sequence[str]) -> None:
        if paths:
            self._reader.read([(GET_DATA, path) for path in paths], self._on_stats)

    def _on_stats(self, batch: Sequence[Item], results: list[Result], _answer: Answer) -> None:
        tree = self._watcher.tree
        changed: dict[WatchedRoot, list[str]] = {}
        for (_, path), result in zip(batch, results, strict=True):
            folder = tree.folders.get(path)
            if folder is None or path in self._watcher.unconfirmed:
                continue  # gone, or about to be listed
            if isinstance(result, int) or _differs(folder.stat, result[1]):
                changed.setdefault(folder.root, []).append(path)
        for root, paths in changed.items():
            tree.open(root, paths)


def _differs(known: Stat | None, new: Stat) -> bool:
    if known is None:
        return True
    return (known.pzxid, known.cversion, known.num_children, known.aversion, known.mzxid) != (
        new.pzxid,
        new.cversion,
        new.num_children,
        new.aversion,
        new.mzxid,
    )


def _next_slice(paths: list[str], start: int, count: int) -> tuple[int, list[str]]:
    """The next slice of a round, and the start of the one after it."""
    if start >= len(paths):
        start = 0
    return start + count, paths[start : start + count]
