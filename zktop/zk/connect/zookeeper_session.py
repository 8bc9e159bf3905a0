"""The session with the ensemble: connect, log in, reconnect, and report each state.

kazoo announces a session before it has authenticated, so a session counts as open after the first
successful read. It begins with a sync, because the server of a new session may lag behind what an
earlier session has shown.
"""

import random
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from zktop.errors import NoConnectionError
from zktop.model.facts import Link, Millis, Session, SourceFact
from zktop.model.session_ids import session_id
from zktop.model.text import clean
from zktop.zk.connect.address import Access, Address, connection_string
from zktop.zk.connect.login import kerberos_message
from zktop.zk.connect.read_only_client import ReadOnlyClient, RecentLog
from zktop.zk.event_loop import EventLoop
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.read.requests import NO_AUTH, NO_NODE, Exists, Sync
from zktop.zk.read.requests_in_flight import Answer, Reader
from zktop.zk.read.zxid_clock import ZxidClock
from zktop.zk.wall_clock import now_ms

REVIVE_AFTER_S = 5.0  # from the end of a kazoo client to the start of the next
CLOSING_S = 2.0  # the longest wait for the session to close
CHROOT_CHECK_S = 5.0  # while the chroot is missing
SASL_REQUIRED = -124  # the server's error code
MAX_AHEAD_ZXIDS = 1_000  # how far `ZxidClock` may be ahead of the server

State = Literal["connecting", "connected", "suspended", "lost", "read-only"]


class ZooKeeperSession:
    """The session. When a kazoo client gives up, a new client replaces it."""

    def __init__(
        self,
        access: Access,
        loop: EventLoop,
        clock: ZxidClock,
        emit: Callable[[SourceFact], None],
        log: RecentLog,
        pace: RequestBudget,
    ) -> None:
        self._access, self._loop, self._clock = access, loop, clock
        self._emit, self._log = emit, log
        self._client = ReadOnlyClient(access, self, log)
        self.reader = Reader(self._client, access.hosts, loop, clock, pace)
        self.on_event: Callable[[int, str, int, Millis], None] = lambda *_: None
        self.on_ready: Callable[[], None] = lambda: None
        self.names: dict[str, str] = {}  # numeric address -> as the user wrote it
        self.link: Link | None = None
        self.silent_from: Millis | None = None  # if the last loss was noticed by silence
        self.note: str | None = None
        self.ready = False
        self._order = access.hosts.addresses
        self._others: tuple[Address, ...] = ()  # members that are not in --hosts
        self._ever_ready = False
        self._refusal: str | None = None
        self._bytes_of_earlier_clients = 0
        self._lost_at: Millis | None = None  # stays until the connection is back
        self._connected_at: Millis | None = None
        self._session: Session | None = None
        self._server: str | None = None

    @property
    def bytes_in(self) -> int:
        """Received bytes, over all clients."""
        return self._bytes_of_earlier_clients + self._client.bytes_in

    def pop_silence(self) -> Millis | None:
        """Return once when a long silence of the server began that is now over, or None."""
        since, self._client.silent_since = self._client.silent_since, None
        return since

    def prefer(self, addresses: Sequence[Address]) -> None:
        """Try these addresses first, in random order, because a host that hangs costs time."""
        first = random.sample(addresses, len(addresses))
        self._order = tuple(dict.fromkeys([*first, *self._access.hosts.addresses]))
        self._set_hosts()

    def extend(self, addresses: Sequence[Address]) -> None:
        """Also try these addresses, after the user's. This replaces an earlier extension."""
        self._others = tuple(addresses)
        self._set_hosts()

    def _set_hosts(self) -> None:
        addresses = dict.fromkeys([*self._order, *self._others])
        self._client.set_hosts(connection_string(addresses), randomize_hosts=False)

    def open(self, seconds: float) -> None:
        """Connect and read once. Raise NoConnectionError on failure or timeout."""
        self._report("connecting")
        self._client.start_async()
        self._loop.run_until(lambda: self._ever_ready or self._refusal is not None, seconds)
        if not self._ever_ready:
            raise NoConnectionError(self._refusal or self._timeout_sentence())

    def close(self, seconds: float = CLOSING_S) -> None:
        """Close the session. A daemon thread continues if that takes more than these seconds."""
        closing = threading.Thread(
            target=self._close, args=(self._client,), name="zktop-closing", daemon=True
        )
        closing.start()
        closing.join(seconds)

    def _close(self, client: ReadOnlyClient) -> None:
        try:
            client.stop()
            client.close()
        except Exception:  # noqa: BLE001  nothing else can be done
            self._log.exception("closing failed")

    def _timeout_sentence(self) -> str:
        seconds = self._access.connect_timeout
        sentence = f"No session with {self._access.hosts} within {seconds:g} s."
        lines = self._log.lines
        return f"{sentence} Last client error: {lines[-1]}." if lines else sentence

    def event(self, kind: int, path: str, zxid: int) -> None:
        """Post a watch event to the event loop. Runs on kazoo's thread."""
        self._loop.post(self.on_event, kind, path, zxid, now_ms())

    def state(self, state: str, session: int | None, server: str | None) -> None:
        """Post a state change to the event loop. Runs on kazoo's thread."""
        self._loop.post(self._on_state, state, session, server)

    # Called by the event loop

    def _on_state(self, state: str, session: int | None, server: str | None) -> None:
        self.ready = False
        alive = state in ("connected", "read-only")
        self.reader.next_connection(connected=alive)
        self._connected_at = now_ms() if alive else None
        if alive:
            self._session = session_id(session) if session is not None else None
            self._server = self.names.get(server or "", server)
            self._begin("read-only" if state == "read-only" else "connected")
        elif state == "suspended":
            self._server = None
            self.silent_from = self._client.silent_from(now_ms())
            self._report("suspended")
        else:
            self._on_end(state)

    def _on_end(self, state: str) -> None:
        self._session = self._server = None
        why = _WHY_ENDED.get(state, _WHY_ENDED["closed"])
        if state == "closed" and self._access.sasl and not self._ever_ready:
            why = _WHY_ENDED["auth-failed"]  # kazoo reports nothing else
        if why == _WHY_ENDED["auth-failed"] and self._access.sasl:
            why = self._why_no_ticket() or why
        if state != "expired":  # after an expiry kazoo itself opens a new session
            self._refuse(f"{self._access.hosts}: {why}.")
            self._loop.after(REVIVE_AFTER_S, self._revive)
        self._report("lost", why)

    def _why_no_ticket(self) -> str | None:
        """The reason that Kerberos gave, if it ended the login before a server was contacted."""
        message = kerberos_message(self._log.cause)
        if message is None:
            return None
        return (
            f"Kerberos gave no ticket: {message}; "
            "check klist, and use the server name that Kerberos knows"
        )

    def _revive(self) -> None:
        if not self._ever_ready:
            return
        self._bytes_of_earlier_clients += self._client.bytes_in
        threading.Thread(target=self._close, args=(self._client,), daemon=True).start()
        self._client = self.reader.client = ReadOnlyClient(self._access, self, self._log)
        self.prefer(self._order)
        self._client.start_async()

    def _begin(self, state: State) -> None:
        known_zxid = self._clock.seen
        root = self._access.hosts.full("/")

        def on_synced(answer: Answer) -> None:  # ignore that a read-only server refuses the sync
            if answer.code == SASL_REQUIRED:
                self._refuse(f"{self._access.hosts}: the server requires SASL (see --sasl).")
                return
            self.reader.ask(Exists(root), partial(self._on_first_read, state, known_zxid))

        self.reader.ask(Sync(root), on_synced)

    def _on_first_read(self, state: State, known_zxid: int, answer: Answer) -> None:
        if answer.code not in (0, NO_NODE, NO_AUTH):
            self._refuse(f"{self._access.hosts} cannot be read: {answer.error!r}.")
            return
        self.note = None
        if self._clock.last_answer < known_zxid - MAX_AHEAD_ZXIDS:
            self.note = "the ensemble lost its history: restart zktop"
        elif answer.code == NO_NODE and self._access.hosts.chroot:  # zetcd has no root znode
            self.note = f"the chroot {self._access.hosts.chroot} does not exist"
            self._loop.after(
                CHROOT_CHECK_S, self._look_for_chroot, state, self.reader.connection_number
            )
        self.ready = self._ever_ready = True
        self._report(state, self.note)
        self.on_ready()

    def _look_for_chroot(self, state: State, connection_number: int) -> None:
        def on_answer(answer: Answer) -> None:
            if answer.code == NO_NODE:
                self._loop.after(CHROOT_CHECK_S, self._look_for_chroot, state, connection_number)
            else:
                self.note = None
                self._report(state)

        if connection_number == self.reader.connection_number:
            self.reader.ask(Exists(self._access.hosts.full("/")), on_answer)

    def _refuse(self, sentence: str) -> None:
        if not self._ever_ready:
            self._refusal = sentence

    def _report(self, state: State, why: str | None = None) -> None:
        at = now_ms()
        if self.ready or not self._ever_ready:
            self._lost_at = None
        elif self._lost_at is None:
            self._lost_at = at
        self.link = Link(
            zxid=self._clock.seen,
            at=at,
            lost_at=self._lost_at,
            connected_at=self._connected_at,
            state=state,
            session=self._session,
            server=clean(self._server) if self._server else None,
            why=clean(why) if why else None,
        )
        self._emit(self.link)


_WHY_ENDED = {
    "expired": "the session expired",
    "auth-failed": "the credentials were refused (see --auth and --sasl)",
    "closed": "the client gave up",
}
