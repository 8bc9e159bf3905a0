"""ZooKeeper client of a contender: kazoo's client, which also reports each step of a lock.

The client, not the recipe, reports the steps. So a recipe reads like the article from which it was
taken, and the steps of kazoo's own recipes are reported as well.
"""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import EventType, KazooState, WatchedEvent, ZnodeStat

from zktop.demo.step_reporter import StepReporter
from zktop.demo.stoppable_wait import StoppableEvent
from zktop.demo_types.contender_order import ClientSettings
from zktop.demo_types.contender_state import WatchedPart
from zktop.errors import NoConnectionError, UsageError
from zktop.model.session_ids import session_id, session_text

MAX_LISTED_NAMES = 8  # in the sentence about a listing
UNREACHABLE_HOSTS = [("127.0.0.1", 1)]
RETRY_FOREVER = {"max_tries": -1, "delay": 0.05, "max_delay": 0.3, "ignore_expire": False}
EVENT_TEXTS = {
    EventType.CREATED: "{} was created",
    EventType.DELETED: "{} was deleted",
    EventType.CHANGED: "the data of {} changed",
    EventType.CHILD: "the children of {} changed",
}
Watch = Callable[[WatchedEvent], object]

_silent_logger = logging.getLogger("zktop.demo.kazoo")
_silent_logger.disabled = True  # its output would appear in the middle of the UI


class LockClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """The session of one contender. Only one thread uses it for locks."""

    hosts: list[tuple[str, int]]

    def __init__(
        self, connection: ClientSettings, reporter: StepReporter, wakeup: StoppableEvent
    ) -> None:
        super().__init__(
            hosts=connection.hosts,
            timeout=connection.session_timeout_s,
            auth_data=list(connection.auth) or None,
            sasl_options=connection.sasl or None,
            connection_retry=RETRY_FOREVER | {"ignore_expire": True},
            command_retry=RETRY_FOREVER,
            logger=_silent_logger,
            **(connection.tls.kazoo_options if connection.tls else {}),
        )
        self.reporter = reporter
        self.wakeup = wakeup
        self.losses = 0  # how many sessions were lost
        self.created: set[str] = set()  # paths that a create has returned
        self._settings = connection
        self._reachable = list(self.hosts)
        self._is_closing = False
        self.add_listener(self._on_state)

    def open(self) -> None:
        """Connect, or raise `NoConnectionError` with a sentence."""
        try:
            self.start(self._settings.connect_timeout_s)
        except KazooTimeoutError:
            hosts, within_s = self._settings.hosts, self._settings.connect_timeout_s
            raise NoConnectionError(f"no connection to {hosts} within {within_s:g} s") from None

    def end(self) -> None:
        """Close the session, which deletes its ephemeral nodes at once."""
        self._is_closing = True
        self.stop()
        self.close()

    @property
    def session(self) -> int:
        """The session id, signed as in ephemeralOwner, or 0 without a session."""
        return self.client_id[0] if self.client_id else 0

    def cut(self, seconds: float) -> None:
        """Cut the connection for a while, as if a network switch had failed."""
        self.hosts = UNREACHABLE_HOSTS
        self.drop()
        threading.Timer(seconds, setattr, (self, "hosts", self._reachable)).start()

    def drop(self) -> None:
        """Cut the connection. kazoo reconnects at once with the same session."""
        with contextlib.suppress(OSError, AttributeError):  # it may be disconnected
            self._connection._socket.shutdown(socket.SHUT_RDWR)  # noqa: SLF001  no public way

    def create(self, path: str, *arguments: object, **options: object) -> str:
        """Create a node, and report it."""
        self.reporter.requests += 1
        made = str(super().create(path, *arguments, **options))
        self.created.add(made)
        self.reporter.report("created", f"created {_name(made)}", lock=_parent(made), node=made)
        return made

    def get_children(self, path: str, watch: Watch | None = None) -> list[str]:
        """List the children of a node, and report it."""
        self.reporter.requests += 1
        names: list[str] = super().get_children(path, watch and self._reporting(watch))
        self.reporter.report("listed", f"listed {path}: {_first_names(sorted(names))}", lock=path)
        if watch:
            self._report_watch(path, f"watches the children of {path}", "children")
        return names

    def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, ZnodeStat]:
        """Read a node. Report the watch if one is set."""
        self.reporter.requests += 1
        read: tuple[bytes, ZnodeStat] = super().get(path, watch and self._reporting(watch))
        if watch:
            self._report_watch(path, f"watches {_name(path)}")
        return read

    def exists(self, path: str, watch: Watch | None = None) -> ZnodeStat | None:
        """Check whether a node exists. Report the watch if one is set."""
        self.reporter.requests += 1
        stat = super().exists(path, watch and self._reporting(watch))
        if watch and stat:
            self._report_watch(path, f"watches {_name(path)}")
        elif watch:
            self._report_watch(path, f"watches {_name(path)}, which does not exist", "absent")
        return stat

    def delete(self, path: str, *arguments: object, **options: object) -> None:
        self.reporter.requests += 1
        super().delete(path, *arguments, **options)
        self.created.discard(path)

    def _report_watch(self, path: str, says: str, watched: WatchedPart = "node") -> None:
        self.reporter.report("watching", says, lock=_parent(path), node=path, watched=watched)

    def _reporting(self, watch: Watch) -> Watch:
        """Wrap a watch so that it reports its notification, but no connection events."""

        def notified(event: WatchedEvent) -> None:
            if event.type in EVENT_TEXTS:
                says = EVENT_TEXTS[event.type].format(event.path)
                self.reporter.report("notified", f"notified: {says}", node=event.path)
            watch(event)

        return notified

    def _on_state(self, state: str) -> None:
        """Report a change of the connection. Called on kazoo's own thread."""
        if self._is_closing:
            return
        if state == KazooState.CONNECTED:
            session = session_text(session_id(self.session))
            self.reporter.report("connected", f"connected, session {session}", session=session)
        elif state == KazooState.SUSPENDED:
            self.reporter.report("suspended", "connection lost; the session may still exist")
        else:
            self.losses += 1
            self.reporter.report("lost", "the session expired: all its nodes and locks are gone")
        self.wakeup.set()


def connect(
    connection: ClientSettings, reporter: StepReporter, wakeup: StoppableEvent
) -> LockClient:
    """Open a client, but close it if it cannot connect."""
    try:
        client = LockClient(connection, reporter, wakeup)
    except ValueError as problem:
        raise UsageError(f"hosts {connection.hosts!r}: {problem}") from None
    try:
        client.open()
    except BaseException:
        client.end()
        raise
    return client


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _first_names(names: list[str]) -> str:
    if not names:
        return "no children"
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return ", ".join(names[:MAX_LISTED_NAMES]) + more
