"""When things happened, in transactions.

An answer says at which transaction it was read; before 3.9 an event says nothing. But events and
answers share one ordered stream, so an event is newer than every answer before it and not newer
than the next one: the transaction after the last answer is a safe lower bound. A second event of
the same znode moves the bound on. One transaction can delete and create the same znode, and then
the bound is ahead of the server; answers keep up with it until the server has overtaken it.
"""

from collections.abc import Iterable


class Clock:
    """Follows one ordered stream of answers and events."""

    def __init__(self) -> None:
        self.seen = 0  # the newest transaction that anything was read at, or happened at
        self.answer = 0  # what the newest answer itself said
        self._since: dict[str, int] = {}  # events since the last answer, by path
        self._newest = 0  # of those events
        self._gone: dict[str, int] = {}  # deletions that no answer is newer than

    def answered(self, zxid: int) -> int:
        """Give the transaction that an answer counts as."""
        self.answer = zxid
        self.seen = max(self.seen, zxid, self._newest)
        self._since.clear()
        if self._gone:
            self._gone = {path: bound for path, bound in self._gone.items() if bound >= self.seen}
        return self.seen

    @property
    def is_plain(self) -> bool:
        """Tell whether every answer counts as what it was read at: no deletion is so new."""
        return not self._gone

    def present(self, paths: Iterable[str], zxid: int) -> int:
        """Give what an answer counts as that proves that these exist; a deletion wins a tie."""
        if self._gone and any(self._gone.get(path) == zxid for path in paths):
            self._gone.clear()
            self.seen += 1
            return self.seen
        return zxid

    def happened(self, path: str, zxid: int = -1, *, gone: bool = False) -> int:
        """Give the transaction that an event counts as."""
        if zxid > 0:
            self.seen = bound = max(self.seen, zxid)
        else:
            bound = max(self.seen + 1, self._newest, self._since.get(path, 0) + 1)
        self._since[path] = self._newest = bound
        if gone:
            self._gone[path] = bound
        return bound
