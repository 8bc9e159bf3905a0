"""Assigns a zxid to every answer and event, from one ordered stream.

An answer carries the zxid at which it was read; before 3.9 an event carries none. Events and
answers share one ordered stream, so an event is newer than every answer before it and not newer
than the next one: the zxid after the last answer is a safe lower bound. A second event of the same
znode raises the bound. One transaction can delete and create the same znode; then the bound is
ahead of the server until the server catches up.
"""

from collections.abc import Iterable


class ZxidClock:
    """The zxids of the answers and events of one ensemble."""

    def __init__(self) -> None:
        self.seen = 0  # the newest zxid. An event without one counts from the next answer on.
        self.last_answer = 0  # as the server sent it
        self._event_zxids: dict[str, int] = {}  # since the last answer, by path
        self._newest_event = 0
        self._deletions: dict[str, int] = {}  # zxids that no answer has passed, by path

    def answered(self, zxid: int) -> int:
        """Note an answer and return the zxid to assign to it."""
        self.last_answer = zxid
        self.seen = max(self.seen, zxid, self._newest_event)
        self._event_zxids.clear()
        if self._deletions:
            self._deletions = {
                path: deleted for path, deleted in self._deletions.items() if deleted >= self.seen
            }
        return self.seen

    @property
    def is_plain(self) -> bool:
        """True if answers keep their own zxids, because no deletion is newer."""
        return not self._deletions

    def present(self, paths: Iterable[str], zxid: int) -> int:
        """Return a zxid for an answer that proves that these paths exist.

        It is later than a deletion of one of them that has the zxid of the answer.
        """
        if self._deletions and any(self._deletions.get(path) == zxid for path in paths):
            self._deletions.clear()
            self.seen += 1
            return self.seen
        return zxid

    def happened(self, path: str, zxid: int = -1, *, gone: bool = False) -> int:
        """Note an event and return the zxid to assign to it."""
        if zxid > 0:
            self.seen = assigned = max(self.seen, zxid)
        else:
            earlier = self._event_zxids.get(path, 0)
            assigned = max(self.seen + 1, self._newest_event, earlier + 1)
        self._event_zxids[path] = self._newest_event = assigned
        if gone:
            self._deletions[path] = assigned
        return assigned
