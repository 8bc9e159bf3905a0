"""Proof that a critical section is exclusive: the server itself is asked.

Whoever is in leaves an ephemeral node beside the lock, made after the lock was acquired and taken
away before it is released. Both nodes go in one transaction when the session ends. So whoever
finds another's node there proves that two live sessions were in at the same time.
"""

import contextlib

from kazoo.exceptions import NoNodeError, SessionExpiredError

from zktop.demo.client import Client


class Witness:
    """One contender's mark in the critical section, and its look around."""

    def __init__(self, client: Client, path: str, name: str, *, shares: bool) -> None:
        """Be about to enter; readers share."""
        self._client = client
        self._path = path
        self._shares = shares
        self._mark = f"{path}/{'r' if shares else 'w'}-{name}"

    def enter(self) -> list[str]:
        """Leave the mark, then look: gives the marks of those who must not be in."""
        self._client.ensure_path_async(self._path).get()
        self._client.create_async(self._mark, ephemeral=True).get()
        names = self._client.get_children_async(self._path).get()
        own = self._mark.rpartition("/")[2]
        return sorted(
            name for name in names if name != own and not (self._shares and name[0] == "r")
        )

    def leave(self) -> None:
        """Take the mark away; call it before the lock is released."""
        with contextlib.suppress(NoNodeError, SessionExpiredError):
            self._client.retry(lambda: self._client.delete_async(self._mark).get())
