"""The file with the user's list of owners, read again when it changes."""

import time

from zktop.config.files import expanded
from zktop.config.mistakes import ConfigError
from zktop.config.parse_owners import read_owners
from zktop.model.facts import OwnerNames
from zktop.zk.wall_clock import now_ms

LOOK_EVERY_S = 2.0


class OwnersFile:
    """Reads the file. If it cannot be read, keeps the last list and sets `note`."""

    def __init__(self, file: str) -> None:
        self.note = ""
        self._file = file
        self._last_state: tuple[int, ...] | None = None
        self._due = 0.0

    def changes(self) -> list[OwnerNames]:
        """Return the list as a fact if the file has changed since the last call."""
        if time.monotonic() < self._due:
            return []
        self._due = time.monotonic() + LOOK_EVERY_S
        state = self._state()
        if state is not None and state == self._last_state:
            return []
        self._last_state = state
        try:
            owners = read_owners(self._file)
        except ConfigError as error:
            self.note = f"owners_file: {error.mistakes[0]}"
            return []
        self.note = ""
        return [OwnerNames(zxid=0, at=now_ms(), owners=owners)]

    def _state(self) -> tuple[int, ...] | None:
        """Return a value that changes with the file or its mode, or None if there is no file."""
        try:
            stat = expanded(self._file).stat()
        except (OSError, ValueError):
            return None
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
