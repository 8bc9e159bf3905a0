"""The ZooKeeper client of a contender: kazoo's, which tells each step that matters to a lock.

Recipes read like the articles that they come from because the telling happens down here, in the
calls that every one of them makes; kazoo's own recipes are narrated by the same few lines.

How a contender waits: until something rings, its time is over, or it is told to stop.
"""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import EventType, KazooState, WatchedEvent, ZnodeStat

from zktop.demo.messages import StepReporter
from zktop.demo_types import ClientSettings
from zktop.errors import NoConnectionError, UsageError
from zktop.model.facts import session_id, session_text


class StoppedError(Exception):
    """The contender was told to stop: release what it holds and go."""


class Timeout:
    """How long somebody is ready to wait; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        """Start counting now."""
        self._until = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The seconds that are left, at least 0."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left == 0.0


class StoppableEvent:
    """Rung by watches, by changes of the connection and by commands; one thread waits for it."""

    def __init__(self) -> None:
        """Be silent."""
        self._rung = threading.Event()
        self._stopped = False

    def set(self, *_event: object) -> None:
        """Wake whoever waits. Takes what kazoo passes to watches, and ignores it."""
        self._rung.set()

    def clear(self) -> None:
        """Forget earlier rings; do this before setting the watch that shall ring."""
        self._rung.clear()
        self.check()

    def stop(self) -> None:
        """Make this wait and every later one end at once."""
        self._stopped = True
        self._rung.set()

    def check(self) -> None:
        """Raise if the contender was told to stop."""
        if self._stopped:
            raise StoppedError

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for a ring; False when there was none in time."""
        rung = self._rung.wait(seconds)
        self.check()
        return rung


UNREACHABLE_HOSTS = [("127.0.0.1", 1)]
RETRY_FOREVER = {"max_tries": -1, "delay": 0.05, "max_delay": 0.3, "ignore_expire": False}
EVENT_TEXTS = {
    EventType.CREATED: "{} was created",
    EventType.DELETED: "{} is gone",
    EventType.CHANGED: "the data of {} changed",
    EventType.CHILD: "the children of {} changed",
}
Watch = Callable[[WatchedEvent], object]

_quiet = logging.getLogger("zktop.demo.kazoo")
_quiet.disabled = True  # it would write into a terminal that others draw on


class LockClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """A session of one contender; one thread uses it for locks."""

    hosts: list[tuple[str, int]]

    def __init__(
        self, connection: ClientSettings, reporter: StepReporter, wakeup: StoppableEvent
    ) -> None:
        """Prepare a connection; `open` makes it."""
        super().__init__(
            hosts=connection.hosts,
            timeout=connection.session_timeout_s,
            auth_data=list(connection.auth) or None,
            sasl_options=connection.sasl or None,
            connection_retry=RETRY_FOREVER | {"ignore_expire": True},
            command_retry=RETRY_FOREVER,
            logger=_quiet,
            use_ssl=connection.tls,
            ca=connection.tls_ca,
            certfile=connection.tls_cert,
            keyfile=connection.tls_key,
            verify_certs=connection.tls_verify,
        )
        self.reporter = reporter
        self.wakeup = wakeup
        self.losses = 0  # how many sessions were lost
        self.mine: set[str] = set()  # every path that a create was answered with
        self._given = connection
        self._ends = False
        self.add_listener(self._changed)

    def open(self) -> None:
        """Connect, or say in a sentence that it cannot be done."""
        try:
            self.start(self._given.connect_timeout_s)
        except KazooTimeoutError:
            raise NoConnectionError(
                f"no connection to {self._given.hosts} within {self._given.connect_timeout_s:g} s"
            ) from None

    def end(self) -> None:
        """Close the session: its ephemeral nodes go at once."""
        self._ends = True
        self.stop()
        self.close()

    @property
    def session(self) -> int:
        """The id of the session, signed as ZooKeeper's Stat has it; 0 while there is none."""
        return self.client_id[0] if self.client_id else 0

    def cut(self, seconds: float) -> None:
        """Cut the line to the server and stay away for a while, as a broken switch would."""
        reachable, self.hosts = list(self.hosts), UNREACHABLE_HOSTS
        self.drop()
        threading.Timer(seconds, setattr, (self, "hosts", reachable)).start()

    def drop(self) -> None:
        """Cut the line to the server; kazoo connects again at once, with the same session."""
        with contextlib.suppress(OSError, AttributeError):  # there may be no line just now
            self._connection._socket.shutdown(socket.SHUT_RDWR)  # noqa: SLF001  no public way

    def create(self, path: str, *arguments: object, **options: object) -> str:
        """Create a node, and tell it."""
        self.reporter.requests += 1
        made = str(super().create(path, *arguments, **options))
        self.mine.add(made)
        self.reporter.report("created", f"created {_name(made)}", lock=_parent(made), node=made)
        return made

    def get_children(self, path: str, watch: Watch | None = None) -> list[str]:
        """List the children of a node, and tell it."""
        self.reporter.requests += 1
        names: list[str] = super().get_children(path, watch and self._told(watch))
        self.reporter.report("listed", f"listed {path}: {_few(sorted(names))}", lock=path)
        if watch:
            self._tell_watch(path, f"watches the children of {path}")
        return names

    def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, ZnodeStat]:
        """Read a node; tell it when a watch is set with it."""
        self.reporter.requests += 1
        found: tuple[bytes, ZnodeStat] = super().get(path, watch and self._told(watch))
        if watch:
            self._tell_watch(path, f"watches {_name(path)}")
        return found

    def exists(self, path: str, watch: Watch | None = None) -> ZnodeStat | None:
        """Look whether a node is there; tell it when a watch is set with it."""
        self.reporter.requests += 1
        stat = super().exists(path, watch and self._told(watch))
        if watch:
            gone = "" if stat else ", which is not there"
            self._tell_watch(path, f"watches {_name(path)}{gone}")
        return stat

    def delete(self, path: str, *arguments: object, **options: object) -> None:
        """Delete a node."""
        self.reporter.requests += 1
        super().delete(path, *arguments, **options)

    def _tell_watch(self, path: str, says: str) -> None:
        self.reporter.report("watching", says, lock=_parent(path), node=path)

    def _told(self, watch: Watch) -> Watch:
        """Make the watch tell what it was notified of, unless only the connection changed."""

        def notified(event: WatchedEvent) -> None:
            if event.type in EVENT_TEXTS:
                says = EVENT_TEXTS[event.type].format(event.path)
                self.reporter.report("notified", f"notified: {says}", node=event.path)
            watch(event)

        return notified

    def _changed(self, state: str) -> None:
        """Hear what became of the connection; called in kazoo's own thread."""
        if self._ends:
            return
        if state == KazooState.CONNECTED:
            session = session_text(session_id(self.session))
            self.reporter.report("connected", f"connected, session {session}", session=session)
        elif state == KazooState.SUSPENDED:
            self.reporter.report("suspended", "the connection is gone; the session may still live")
        else:
            self.losses += 1
            self.reporter.report("lost", "the session is gone, and with it every node and lock")
        self.wakeup.set()


def connect(
    connection: ClientSettings, reporter: StepReporter, wakeup: StoppableEvent
) -> LockClient:
    """Give a connected client."""
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


def _few(names: list[str], most: int = 8) -> str:
    if not names:
        return "nothing there"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
