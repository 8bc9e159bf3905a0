"""One listed znode: what its children were when it was listed, and what events changed since."""

from zktop.model.facts import Stat
from zktop.zk.reach import Scope, looks_like_a_place


class Branch:
    """A znode whose children are followed."""

    __slots__ = ("_names", "changed", "deletions", "listed", "path", "scope", "stat", "touched")

    def __init__(self, path: str, scope: Scope) -> None:
        self.path, self.scope = path, scope
        self._names: tuple[str, ...] | set[str] = ()
        self.stat: Stat | None = None  # by the newest listing
        self.deletions = 0  # told by events since then
        self.changed = self.touched = 0.0  # when the first and the last event since then came
        self.listed = 0.0

    @property
    def names(self) -> set[str]:
        """The children, by the newest listing and the events since; whoever hears one adds it.

        Until somebody asks they are kept as they were listed: a set takes ten times the room.
        """
        if isinstance(self._names, tuple):
            self._names = set(self._names)
        return self._names

    def relisted(self, names: tuple[str, ...]) -> set[str]:
        """Take the names of a new listing; give the known ones."""
        known = self.names if self._names else set()
        self._names = names
        return known


def differs(branch: Branch | None, found: Stat) -> bool:
    """Tell whether its own data may be other than when it was last listed."""
    return branch is None or branch.stat is None or branch.stat.mzxid != found.mzxid


def created_again(branch: Branch, known: set[str], found: Stat) -> set[str]:
    """Give the names that may stand for another znode than before.

    A place in a queue never gets the same name twice, but a lock that is one znode does. The
    parent counts what was created in it: more than the new names, and some may have come back.
    """
    if branch.stat is None:
        return set()
    created = (found.next_sequence or 0) - (branch.stat.next_sequence or 0)
    if created <= len(branch.names - known):
        return set()
    return {name for name in known & branch.names if not looks_like_a_place(name)}
