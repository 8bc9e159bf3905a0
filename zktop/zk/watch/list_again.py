"""When folders are listed again: after the event of a one-shot watch, or once they are quiet."""

import time

from zktop.zk.watch.tree_reader import ListedZnode
from zktop.zk.watch.watched_roots import WatchedRoot

PAUSE_S = 0.05  # between two listings of one folder, with one-shot watches
PAUSE_PER_NAME_S = 0.00001
QUIET_S = 0.5
QUIET_PER_NAME_S = 0.0001  # large listings cost more, so they wait longer
LONGEST_S = 5.0
LONGEST_PER_NAME_S = 0.001
MAX_AT_ONCE = 200
MAX_DELETIONS = 256  # or twice the number of children, whichever is more


def pause_left_s(folder: ListedZnode) -> float:
    """Seconds until a folder may be listed again, which sets its one-shot watch again."""
    pause = PAUSE_S + PAUSE_PER_NAME_S * len(folder.names)
    return folder.listed_at + pause - time.monotonic()


class ChangedFolders:
    """Folders that have changed since they were last listed, by path.

    Events name created and deleted children but not the parent's own counters, and a deletion that
    no listing confirms must be remembered. So a folder is listed again once it is quiet, or after
    a while if it never is.
    """

    def __init__(self) -> None:
        self._folders: dict[str, ListedZnode] = {}

    def __len__(self) -> int:
        return len(self._folders)

    def __contains__(self, path: object) -> bool:
        """True if a listing of this path is planned."""
        return path in self._folders

    def add(self, folder: ListedZnode) -> None:
        folder.last_event_at = time.monotonic()
        if folder.path not in self._folders:
            folder.first_event_at = folder.last_event_at
            self._folders[folder.path] = folder

    def forget(self, path: str) -> None:
        """Drop a folder that was listed or is gone."""
        self._folders.pop(path, None)

    def clear(self) -> None:
        self._folders.clear()

    def take_due(self) -> dict[WatchedRoot, list[str]]:
        """Remove and return the folders that are due, up to a limit."""
        now = time.monotonic()
        due: dict[WatchedRoot, list[str]] = {}
        ready = [folder for folder in self._folders.values() if _is_due(folder, now)]
        for folder in ready[:MAX_AT_ONCE]:
            due.setdefault(folder.root, []).append(folder.path)
            del self._folders[folder.path]
        return due


def has_many_deletions(folder: ListedZnode) -> bool:
    """True if its remembered deletions exceed the limit, so it must be listed without waiting."""
    return folder.deletions > max(MAX_DELETIONS, 2 * len(folder.names))


def _is_due(folder: ListedZnode, now: float) -> bool:
    names = len(folder.names)
    if now - folder.last_event_at >= QUIET_S + names * QUIET_PER_NAME_S:
        return True
    return now - folder.first_event_at >= LONGEST_S + names * LONGEST_PER_NAME_S
