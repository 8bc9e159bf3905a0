"""Asks every ensemble member for its tables, slowly, on a thread that waits for nothing else.

Each round begins with a short question to all of them at once; who does not answer is not asked
for tables. Then one server at a time, and a server that is slow is asked less often: what this
costs an ensemble must not depend on how well the ensemble is. The thread hands tables over and
never waits for anybody to look at them, so that it can always read an answer to its end.

Which servers there are to ask: those in the connection string, and the other members.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from zktop.model.facts import ServerFact
from zktop.model.text import clean
from zktop.zk.connect.address import Access, Address, Admin
from zktop.zk.connect.preflight import Probe, probes
from zktop.zk.read.request_budget import Pace
from zktop.zk.servers.answering import Standing
from zktop.zk.servers.expiry import ServerClock
from zktop.zk.servers.flavours import Kind
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.sample import Told, Way, by_admin, by_words, share, unreached
from zktop.zk.servers.table_facts import Stamp, facts
from zktop.zk.servers.table_formats import Member, Paths
from zktop.zk.servers.table_reader import Sizes, TableReader


class Ensemble:
    """The known servers by the name they are shown under."""

    def __init__(self, given: Iterable[Address]) -> None:
        self._given = tuple(given)
        self._hosts: set[str] = set()
        self.named: set[str] = set()  # servers that the connection string names
        self.members: tuple[Member, ...] = ()

    def servers(self) -> dict[str, Address]:
        """Resolve all names; a name with several addresses stands for several servers."""
        servers: dict[str, Address] = {}
        met: set[Address] = set()
        self._hosts = {address.host for address in self._given}
        for address in self._given:
            servers |= self._behind(address, met)
        self.named = set(servers)
        for address in self._others():
            servers |= self._behind(address, met)
        return servers

    def _behind(self, address: Address, met: set[Address]) -> dict[str, Address]:
        """Give the servers of one address, without those that were met under another name."""
        found = _resolved(address)
        if not found:
            return {str(address): address}
        if met & set(found):
            return {}
        met.update(found)
        self._hosts.update(one.host for one in found)
        if len(found) == 1 or _is_loopback(found):
            return {str(address): address}
        return {str(one): one for one in found}

    def unasked(self) -> tuple[str, ...]:
        """Name the members that cannot be asked: the configuration does not tell their port."""
        hosts = (member.host for member in self.members if member.port is None)
        return tuple(host for host in hosts if host not in self._hosts)

    def _others(self) -> list[Address]:
        return [Address(member.host, member.port) for member in self.members if member.port]


def _resolved(address: Address) -> list[Address]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(Address(str(one[4][0]), int(one[4][1])) for one in found))


def _is_loopback(addresses: list[Address]) -> bool:
    return all(ipaddress.ip_address(one.host.partition("%")[0]).is_loopback for one in addresses)


ANSWER_S = 1.5  # for the question whether a server answers at all
AGAIN_S = 0.5  # after a first silence: was that a slow moment, or is the server gone?
SLOW_S = 1.0
REST_FOR = 50  # a look is followed by so many times the processor time that it took
LONGEST_REST_S = 60.0
ADMIN_AGAIN_S = 60.0  # when a server had no AdminServer
MEMBERS_WITHIN_S = 1.0  # longer the first round does not wait to learn who else there is


class Rest:
    """How long one server is left in peace, and what is remembered of it."""

    def __init__(self, *, is_given: bool = True) -> None:
        self.clock = ServerClock()
        self.standing = Standing(is_given=is_given)
        self.sizes = Sizes()
        self.kind: Kind | None = None  # which server it is, when it said so last
        self.due = 0.0
        self.admin_due = 0.0
        self.why_no_admin = ""
        self.watches: Paths = {}  # as the server told them
        self.facts: Sequence[ServerFact] = ()  # of the last look
        self._pause = 0.0

    def after(self, took: float, spent: float, every: float) -> None:
        """Set when it is asked again: later and later while it is slow, and as we can afford."""
        if took > SLOW_S:
            self._pause = min(LONGEST_REST_S, max(2 * self._pause, every))
        else:
            self._pause = 0.0
        self.due = time.monotonic() + max(self._pause, REST_FOR * spent)


class Introspection:
    """The sampling of all servers."""

    def __init__(  # noqa: PLR0913  what it reads, for whom, and how often
        self,
        access: Access,
        admin: Admin,
        deliver: Callable[[Sequence[ServerFact]], None],
        seen: Callable[[], int],
        pace: Pace,
        *,
        every: float,
        large_tables: bool,
    ) -> None:
        self._access, self._admin, self._large_tables = access, admin, large_tables
        self._deliver, self._seen, self._pace, self._every = deliver, seen, pace, every
        self._context = access.tls.context() if access.tls else None
        self._admin_context = admin.tls.context() if admin.tls else None
        # Over TLS there is no such process: it would need our keys.
        self._separate = None if access.tls else TableReader()
        self._rests: dict[str, Rest] = {}
        self._stopped, self._introduced = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="zktop-introspection", daemon=True)
        self.ensemble = Ensemble(access.hosts.addresses)
        self.on_round: Callable[[], None] = lambda: None
        self.met: Mapping[Address, Probe] = {}  # a moment ago: good for the first round
        self.asked = self.bytes_in = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def introduce(self, members: tuple[Member, ...] | None) -> None:
        """Tell who else is in the ensemble; None when that is not to be had."""
        if members is not None:
            self.ensemble.members = members
        self._introduced.set()

    def stop(self) -> None:
        """End after the answer that is being read, or at once where a process reads it."""
        self._stopped.set()
        if self._separate is not None:
            self._separate.close()

    def _run(self) -> None:
        self._introduced.wait(MEMBERS_WITHIN_S)
        while not self._stopped.is_set():
            try:
                self._round()
            except RefusedError:  # zktop is ending
                return
            self._tell_of_unasked()
            self.on_round()
            is_unsure = any(rest.standing.is_unsure for rest in self._rests.values())
            self._stopped.wait(min(AGAIN_S, self._every) if is_unsure else self._every)

    def _round(self) -> None:
        """Ask the servers that it is time for."""
        now = time.monotonic()
        servers = self.ensemble.servers()
        for name in servers:
            self._rests.setdefault(name, Rest(is_given=name in self.ensemble.named))
        due = {name: one for name, one in servers.items() if self._rests[name].due <= now}
        for name, probe in self._probed(due).items():
            if self._stopped.is_set():
                return
            if probe.serves:
                self._sample(name, probe.address, self._rests[name])
            else:
                self._note_failure(name, probe, self._rests[name])

    def _probed(self, due: Mapping[str, Address]) -> dict[str, Probe]:
        """Ask these whether they answer, and note it."""
        begun = time.time_ns() // 1_000_000
        unmet = [address for address in due.values() if address not in self.met]
        for _ in unmet:
            self._turn()
        known = {one: self._rests[name].kind for name, one in due.items()}
        found = {one.address: one for one in probes(unmet, self._context, ANSWER_S, known)}
        told = {name: found.get(address) or self.met[address] for name, address in due.items()}
        self.met = {}
        for name, probe in told.items():
            rest = self._rests[name]
            rest.standing.after(probe, begun)
            rest.kind = probe.kind or rest.kind
        return told

    def _note_failure(self, name: str, probe: Probe, rest: Rest) -> None:
        """Tell that a server does not answer; after a first silence its tables still stand."""
        if rest.standing.is_unsure and rest.facts:
            return
        rest.clock.forget()
        rest.watches = {}
        told = unreached(probe.why, rest.kind or Kind())
        told.state, told.since = rest.standing.state, rest.standing.since
        stamp = Stamp(clean(name), self._seen(), time.time_ns() // 1_000_000)
        rest.facts = facts(told, stamp, self._access.hosts)
        self._deliver(rest.facts)

    def _tell_of_unasked(self) -> None:
        why = "/zookeeper/config does not tell its client port: add it to --hosts"
        for name in self.ensemble.unasked():
            stamp = Stamp(clean(name), self._seen(), time.time_ns() // 1_000_000)
            told = unreached(why)
            told.state = "unreached"
            self._deliver(facts(told, stamp, self._access.hosts))

    def _turn(self) -> None:
        """Wait until one more question is within the budget, and count it."""
        while (wait_s := self._pace.wait_s()) > 0.0:
            if self._stopped.wait(wait_s):
                raise RefusedError("zktop is ending")
        self.asked += 1

    def _tally(self, count: int) -> None:
        self.bytes_in += count

    def _sample(self, name: str, address: Address, rest: Rest) -> None:
        seen, begun, busy = self._seen(), time.monotonic(), time.thread_time()
        told = self._told(address, rest)
        told.state = rest.standing.state
        took = time.monotonic() - begun
        at = time.time_ns() // 1_000_000
        # A server that lags shows an earlier moment than the one that we know of.
        zxid = seen if told.zxid is None else min(seen, told.zxid)
        news = facts(told, Stamp(clean(name), zxid, at), self._access.hosts)
        share(news, rest.facts)
        rest.watches, rest.facts = told.watches or {}, news
        self._deliver(news)
        rest.after(took, time.thread_time() - busy, self._every)

    def _told(self, address: Address, rest: Rest) -> Told:
        kind = rest.kind
        if kind is not None and not kind.traits.tells:
            return unreached(f"{kind} answers no word that tells it", kind)
        way = Way(
            address,
            self._access.hosts,
            self._context,
            self._admin,
            self._admin_context,
            self._large_tables,
            self._tally,
            self._turn,
            self._separate,
            rest.sizes,
            tuple(other.watches for other in self._rests.values() if other is not rest),
        )
        has_admin = kind is None or kind.traits.admin
        if has_admin and rest.admin_due <= time.monotonic():
            try:
                return by_admin(way, rest.clock)
            except RefusedError as refusal:
                rest.admin_due = time.monotonic() + ADMIN_AGAIN_S
                rest.why_no_admin = str(refusal)
        try:
            told = by_words(way, rest.clock)
        except RefusedError as refusal:
            rest.clock.forget()
            why = "; ".join(filter(None, (str(refusal), rest.why_no_admin)))
            return unreached(why, kind or Kind())
        for table, why in told.why.items() if told.kind.traits.admin else ():
            told.why[table] = f"{why}; {rest.why_no_admin}"
        return told
