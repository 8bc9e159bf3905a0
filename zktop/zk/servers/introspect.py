"""Asks every ensemble member for its tables, slowly, on a thread of its own.

Each round begins with a short probe of all members at once; a member that does not answer is not
asked for tables. Then one server at a time, and a slow server less often: the load must not depend
on the health of the ensemble. The thread hands tables over without waiting, so that it can always
read an answer to its end.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from zktop.model.facts import ServerFact
from zktop.model.text import clean
from zktop.zk.connect.address import Access, Address, AdminAccess
from zktop.zk.connect.preflight import Probe, probes
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.servers.answering import AnswerState
from zktop.zk.servers.expiry import ServerClock
from zktop.zk.servers.flavours import ServerKind
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.sample import Sample, SampleSettings, by_admin, by_words, share, unreached
from zktop.zk.servers.table_facts import Stamp, facts
from zktop.zk.servers.table_formats import EnsembleMember, Paths
from zktop.zk.servers.table_reader import Sizes, TableReader


class KnownServers:
    """The known servers by display name: those of the connection string, and other members."""

    def __init__(self, given: Iterable[Address]) -> None:
        self._given = tuple(given)
        self._hosts: set[str] = set()
        self.named: set[str] = set()  # servers of the connection string
        self.members: tuple[EnsembleMember, ...] = ()

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
        """The servers of one address, without those that are known by another name."""
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
        """Members that cannot be asked: the configuration does not name their port."""
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


ANSWER_S = 1.5  # for a probe
AGAIN_S = 0.5  # between a first miss and the second probe
SLOW_S = 1.0
REST_FOR = 50  # pause after a sample, as a multiple of its CPU time
LONGEST_REST_S = 60.0
ADMIN_AGAIN_S = 60.0  # until a server without AdminServer is asked again
MEMBERS_WITHIN_S = 1.0  # longest wait of the first round for the list of members


class ServerSchedule:
    """When to ask one server again, and what to remember of it."""

    def __init__(self, *, is_given: bool = True) -> None:
        self.clock = ServerClock()
        self.standing = AnswerState(is_given=is_given)
        self.sizes = Sizes()
        self.kind: ServerKind | None = None  # as last reported
        self.due = 0.0
        self.admin_due = 0.0
        self.why_no_admin = ""
        self.watches: Paths = {}  # of the last sample
        self.facts: Sequence[ServerFact] = ()  # of the last sample
        self._pause = 0.0

    def after(self, took: float, spent: float, every: float) -> None:
        """Set the next time: later while the server is slow or our own cost is high."""
        if took > SLOW_S:
            self._pause = min(LONGEST_REST_S, max(2 * self._pause, every))
        else:
            self._pause = 0.0
        self.due = time.monotonic() + max(self._pause, REST_FOR * spent)


class Introspection:
    """Samples all servers in rounds."""

    def __init__(  # noqa: PLR0913  source, receiver and pace
        self,
        access: Access,
        admin: AdminAccess,
        deliver: Callable[[Sequence[ServerFact]], None],
        seen: Callable[[], int],
        pace: RequestBudget,
        *,
        every: float,
        large_tables: bool,
    ) -> None:
        self._access, self._admin, self._large_tables = access, admin, large_tables
        self._deliver, self._seen, self._pace, self._every = deliver, seen, pace, every
        self._context = access.tls.context() if access.tls else None
        self._admin_context = admin.tls.context() if admin.tls else None
        # Not over TLS: the process would need our keys.
        self._separate = None if access.tls else TableReader()
        self._rests: dict[str, ServerSchedule] = {}
        self._stopped, self._introduced = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="zktop-introspection", daemon=True)
        self.ensemble = KnownServers(access.hosts.addresses)
        self.on_round: Callable[[], None] = lambda: None
        self.met: Mapping[Address, Probe] = {}  # from the preflight, for the first round
        self.asked = self.bytes_in = 0

    def start(self) -> None:
        self._thread.start()

    def introduce(self, members: tuple[EnsembleMember, ...] | None) -> None:
        """Set the other members of the ensemble; None when they are unknown."""
        if members is not None:
            self.ensemble.members = members
        self._introduced.set()

    def stop(self) -> None:
        """Stop after the current answer, or at once if a separate process reads it."""
        self._stopped.set()
        if self._separate is not None:
            self._separate.close()

    def _run(self) -> None:
        self._introduced.wait(MEMBERS_WITHIN_S)
        while not self._stopped.is_set():
            try:
                self._round()
            except RefusedError:  # zktop is closing
                return
            self._tell_of_unasked()
            self.on_round()
            is_unsure = any(rest.standing.is_unsure for rest in self._rests.values())
            self._stopped.wait(min(AGAIN_S, self._every) if is_unsure else self._every)

    def _round(self) -> None:
        """Ask the servers that are due."""
        now = time.monotonic()
        servers = self.ensemble.servers()
        for name in servers:
            self._rests.setdefault(name, ServerSchedule(is_given=name in self.ensemble.named))
        due = {name: one for name, one in servers.items() if self._rests[name].due <= now}
        for name, probe in self._probed(due).items():
            if self._stopped.is_set():
                return
            if probe.serves:
                self._sample(name, probe.address, self._rests[name])
            else:
                self._note_failure(name, probe, self._rests[name])

    def _probed(self, due: Mapping[str, Address]) -> dict[str, Probe]:
        """Probe these servers and note whether they answer."""
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

    def _note_failure(self, name: str, probe: Probe, rest: ServerSchedule) -> None:
        """Report a server that does not answer; after one miss its tables stay valid."""
        if rest.standing.is_unsure and rest.facts:
            return
        rest.clock.forget()
        rest.watches = {}
        told = unreached(probe.why, rest.kind or ServerKind())
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
        """Wait for the request budget, and count a request."""
        while (wait_s := self._pace.wait_s()) > 0.0:
            if self._stopped.wait(wait_s):
                raise RefusedError("zktop is ending")
        self.asked += 1

    def _tally(self, count: int) -> None:
        self.bytes_in += count

    def _sample(self, name: str, address: Address, rest: ServerSchedule) -> None:
        seen, begun, busy = self._seen(), time.monotonic(), time.thread_time()
        told = self._told(address, rest)
        told.state = rest.standing.state
        took = time.monotonic() - begun
        at = time.time_ns() // 1_000_000
        # A lagging server shows an earlier zxid than we know.
        zxid = seen if told.zxid is None else min(seen, told.zxid)
        news = facts(told, Stamp(clean(name), zxid, at), self._access.hosts)
        share(news, rest.facts)
        rest.watches, rest.facts = told.watches or {}, news
        self._deliver(news)
        rest.after(took, time.thread_time() - busy, self._every)

    def _told(self, address: Address, rest: ServerSchedule) -> Sample:
        kind = rest.kind
        if kind is not None and not kind.traits.tells:
            return unreached(f"{kind} answers no word that tells it", kind)
        way = SampleSettings(
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
            return unreached(why, kind or ServerKind())
        for table, why in told.why.items() if told.kind.traits.admin else ():
            told.why[table] = f"{why}; {rest.why_no_admin}"
        return told
