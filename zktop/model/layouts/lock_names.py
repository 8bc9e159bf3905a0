"""Names that sound like a lock or an election, and names of folders that hold several locks."""

import re
from typing import Final

from zktop.model.facts import last_name

_LOCKISH_PARTS: Final = (
    "lock",
    "mutex",
    "leader",
    "elect",
    "latch",
    "master",
    "owner",
    "running",
    "active",
    "controller",
    "sem",
    "lease",
)
# Matches no block, clock, leaderboard, selection, electronics, release or assembly. The words of
# the fourth line stand alone, in camel case too; those of the last may end a word: jobmaster.
_LOCKISH: Final = re.compile(
    r"(?<![bcBC])(?i:lock)|Lock|(?i:joblock|dblock|mutex|latch|semaphore|leader(?!board))"
    r"|(?:(?<![sS])(?i:elect)|Elect)(?![rR])"
    r"|(?:(?<![a-zA-Z])|(?<=[a-z])(?=[A-Z]))"
    r"(?i:(?:sem|master(?![-_.]?data)|owner|running|active|controller|lease)s?)(?![a-z])"
    r"|(?i:(?:master(?![-_.]?data)|owner|leaseholder)(?![a-z]))"
)
# The last is the default folder of zktop's own demos.
_LOCK_FOLDER: Final = re.compile(
    r"(?i:(?:.*[-_.])?(?:locks|mutexes))|.*[a-z](?:Locks|Mutexes)|zktop-demo"
)
_LOCK_FOLDER_ENDINGS: Final = ("locks", "mutexes", "zktop-demo")


def sounds_like_lock(name: str) -> bool:
    """Return whether a name sounds like a lock or an election.

    >>> [sounds_like_lock(name) for name in ("ordersLock", "block-7", "release-service")]
    [True, False, False]
    """
    lowered = name.lower()  # faster than the pattern for a million names
    return any(part in lowered for part in _LOCKISH_PARTS) and _LOCKISH.search(name) is not None


def is_folder_of_locks(path: str) -> bool:
    """Return whether a folder's name says that it holds several locks: locks, db-mutexes."""
    if not path.casefold().endswith(_LOCK_FOLDER_ENDINGS):  # faster than the pattern
        return False
    return _LOCK_FOLDER.fullmatch(last_name(path)) is not None


def sounds_like_one_lock(path: str) -> bool:
    """Return whether the name at the end of a path says that it is a lock, and holds no others.

    >>> sounds_like_one_lock("/app/lock"), sounds_like_one_lock("/app/locks")
    (True, False)
    """
    return sounds_like_lock(last_name(path)) and not is_folder_of_locks(path)
