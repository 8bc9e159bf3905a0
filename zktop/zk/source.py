"""The source of facts about one live ensemble: combines connecting, reading and watching."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

import msgspec

from zktop.errors import NoConnectionError
from zktop.model.facts import Cost, Link, Millis, Server, ServerFact, SourceFact
from zktop.zk.connect.address import Access, Address, AdminAccess
from zktop.zk.connect.login import check_login
from zktop.zk.connect.preflight import Probe, preflight
from zktop.zk.connect.read_only_client import RecentLog
from zktop.zk.connect.zookeeper_session import CLOSING_S, ZooKeeperSession
from zktop.zk.event_loop import EventLoop, WhileWaiting
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.read.requests import GetData, check_kazoo, decode_data
from zktop.zk.read.requests_in_flight import Answer
from zktop.zk.read.zxid_clock import ZxidClock
from zktop.zk.servers import flavours
from zktop.zk.servers.introspect import Introspection
from zktop.zk.servers.known_servers import names_of
from zktop.zk.servers.table_formats import EnsembleMember, members
from zktop.zk.watch.discovery import Discovery
from zktop.zk.watch.lock_signs import LooksLikeALock, might_be_a_lock, places_of
from zktop.zk.watch.parents_of_missing_roots import ParentsOfMissingRoots
from zktop.zk.watch.polling import Polling
from zktop.zk.watch.root_pattern import RootPattern, root_patterns
from zktop.zk.watch.root_watcher import RootWatcher
from zktop.zk.watch.run_when_caught_up import Barrier

MEMBERS_EVERY_S = 60.0
CONFIG = "/zookeeper/config"
BACKGROUND_ZNODES_PER_S = 500  # at most, for polling and for later walks of discovery
BEHIND_S = 2.0  # a longer wait for the request budget is reported


class Plan(msgspec.Struct, frozen=True):
    """What to read and watch, and how much load that may cause."""

    roots: tuple[str, ...] = ()  # none: discover from `/`
    looks_like_a_lock: LooksLikeALock = might_be_a_lock
    introspect: bool = True
    sample_every: float = 5.0  # seconds between two samples of the servers' tables
    large_tables: bool = False  # read watch tables of any size by four-letter words
    admin: AdminAccess = AdminAccess()
    watch_budget: int = 20_000
    requests_per_second: int = 20_000  # a batch of reads counts as one
    flood_per_second: int = 20_000  # events of one root, above which fewer paths are watched
    audit_every: float = 10.0  # seconds between two checks for changes that watches missed
    persistent: bool = True  # use persistent watches if the servers support them


class Source:
    """Reads an ensemble while `run` or `run_until_...` runs. `take` returns the facts."""

    def __init__(
        self, access: Access, plan: Plan | None = None, while_waiting: WhileWaiting = nullcontext
    ) -> None:
        self.access, self.plan = access, plan or Plan()
        self.log = RecentLog()
        self.is_read = False  # True once all roots have been read
        # True once every known server has been asked for its tables.
        self.is_sampled = not self.plan.introspect
        # While it returns True, the tables are sampled at the full rate, even without changes.
        self.shows_tables: Callable[[], bool] = lambda: False
        self._facts: list[SourceFact] = []
        self._taken = self._from_tables = 0  # numbers of facts so far
        self._emit: Callable[[SourceFact], None] = self._facts.append
        self._while_waiting = while_waiting
        self._loop = EventLoop(self._after_batch, while_waiting, self.log)
        self._others: list[Address] = []  # members that are not in --hosts
        self._clock = ZxidClock()
        self._traits = flavours.ZOOKEEPER
        self._pace = RequestBudget(self.plan.requests_per_second)
        self._connection = ZooKeeperSession(
            access, self._loop, self._clock, self._emit, self.log, self._pace
        )
        self._reader = self._connection.reader
        self._barrier = Barrier(self._reader, lambda: self._connection.ready)
        self._set_up_watching()
        self._set_up_introspection()

    def _set_up_watching(self) -> None:
        reader, plan = self._reader, self.plan
        self._watcher = RootWatcher(
            reader,
            self._emit,
            watch_budget=plan.watch_budget,
            flood_per_s=plan.flood_per_second,
        )
        patterns = root_patterns(plan.roots)
        wide = [pattern for pattern in patterns if pattern.is_ensemble_wide]
        items_per_s = min(BACKGROUND_ZNODES_PER_S, plan.requests_per_second)
        self._discovery = Discovery(
            reader, self._watcher, wide, plan.looks_like_a_lock, items_per_s
        )
        self._polling = Polling(reader, self._watcher, items_per_s, plan.audit_every)
        self._watcher.on_flood = self._discovery.take_over
        bases = (RootPattern(root).base for root in plan.roots)
        look = ParentsOfMissingRoots(reader, self._emit, bases).look
        self._watcher.on_missing = self._watcher.tree.on_missing = look
        for pattern in patterns:
            if not pattern.is_ensemble_wide:
                self._watcher.add(pattern, start=False)
        self._connection.on_event = self._watcher.event
        self._connection.on_ready = self._ready

    def _set_up_introspection(self) -> None:
        self._introspection = Introspection(
            self.access,
            self.plan.admin,
            lambda facts: self._loop.post(self._emit_tables, facts),
            lambda: self._clock.seen,
            self._pace,
            every=self.plan.sample_every,
            large_tables=self.plan.large_tables,
        )
        self._introspection.hidden = lambda: (
            *self._watcher.tree.hidden,
            *self._discovery.denied,
        )
        self._introspection.changes = self._count_changes
        self._introspection.may_rest = lambda: not self.shows_tables()
        if any(pattern.is_ensemble_wide for pattern in root_patterns(self.plan.roots)):
            self._introspection.on_ephemerals = self._note_places
        self._introspection.on_round = lambda: self._loop.post(
            self._barrier.after, self._end_round
        )

    def _count_changes(self) -> int:
        """Count the facts so far that are not about servers. Thread-safe."""
        return self._taken + len(self._facts) - self._from_tables

    def _note_places(self, ephemerals: Sequence[str]) -> None:
        """Make discovery examine places of ephemerals first. Runs on introspection's thread."""
        inside = filter(None, map(self.access.hosts.inside, ephemerals))
        self._loop.post(self._discovery.prefer, places_of(inside))

    def start(self) -> None:
        """Connect and start reading, or raise NoConnectionError with the reason."""
        check_kazoo()
        if self.access.sasl:
            check_login(self.access.sasl)
        deadline = time.monotonic() + self.access.connect_timeout
        with self._while_waiting():
            probes = preflight_of(self.access)
            self._connection.names = names_of(probes)
        self._adapt_to(probes)
        try:
            self._connection.open(max(0.1, deadline - time.monotonic()))
        except BaseException:
            self.close(0.0)  # kazoo may take a long time to abandon an attempt
            raise
        if self.plan.introspect:
            self._introspection.start()

    def close(self, seconds: float = CLOSING_S) -> None:
        """Stop reading and close the session, waiting at most this long."""
        self._introspection.stop()
        self._connection.close(seconds)

    def run(self, until: float) -> bool:
        """Handle what arrives, waiting at most until `until`. Return whether more has arrived."""
        return self._loop.run(until)

    def run_until_read(self, seconds: float) -> bool:
        """Wait for the first complete reading of all roots. Return False after the timeout."""
        return self._loop.run_until(lambda: self.is_read, seconds)

    def run_until_sampled(self, seconds: float) -> bool:
        """Wait until the tables of every known server have been requested once."""
        return self._loop.run_until(lambda: self.is_sampled, seconds)

    def post(self, job: Callable[[], object]) -> None:
        """Wake `run`, which then calls this. Thread-safe."""
        self._loop.post(job)

    @property
    def has_facts(self) -> bool:
        return bool(self._facts)

    @property
    def is_reading(self) -> bool:
        """True while answers are outstanding."""
        return not self._reader.idle

    def take(self) -> list[SourceFact]:
        """Return the facts since the last call, in wire order."""
        facts = self._facts.copy()
        self._facts.clear()
        self._taken += len(facts)
        return flavours.trusted(facts, self._traits)

    def relist(self, paths: Iterable[str]) -> None:
        """List these paths again. The facts arrive like all others."""
        self._loop.post(self._watcher.relist, tuple(paths))

    @property
    def link(self) -> Link | None:
        """The newest state of the connection."""
        return self._connection.link

    @property
    def silent_from(self) -> Millis | None:
        """When the server fell silent, if the last loss was noticed by that."""
        return self._connection.silent_from

    def pop_silence(self) -> Millis | None:
        """Return once when a long silence of our server began that is now over, or None."""
        return self._connection.pop_silence()

    def cost(self) -> Cost:
        """The load on the ensemble, without its rate."""
        return Cost(
            self._watcher.watches(),
            self._reader.requests_sent + self._introspection.requests_sent,
            self._connection.bytes_in + self._introspection.bytes_in,
        )

    @property
    def reads_more(self) -> bool:
        """True while thousands of empty lock folders have been found but not read."""
        return self._discovery.reads_more

    def progress(self) -> str:
        """How much of the tree has been searched, as text that is empty once all of it has."""
        return self._discovery.progress()

    def degraded(self) -> tuple[str, ...]:
        """Sentences about what is watched less closely than usual, and why."""
        sentences = [*filter(None, [self._polling.sentence()]), *self._discovery.sentences()]
        if self._reader.behind_s > BEHIND_S:
            budget = self.plan.requests_per_second
            sentences.append(f"the display lags: the request budget is {budget} a second")
        if self._connection.note:
            sentences.append(self._connection.note)
        return tuple(sentences)

    def _adapt_to(self, probes: Sequence[Probe]) -> None:
        """Use what the probes found. Watch in a way that all reachable servers support."""
        self._traits = flavours.common_traits(probe.kind for probe in probes if probe.kind)
        self._reader.batches = self._traits.multi_read
        self._watcher.persistent = self._traits.recursive and self.plan.persistent
        self._connection.prefer([probe.address for probe in probes if probe.usable])
        self._discovery.znodes = max([probe.znodes or 0 for probe in probes]) or None
        self._introspection.probed = {probe.address: probe for probe in probes}

    def _after_batch(self) -> None:
        self._watcher.after_batch()
        if self._connection.ready and self._discovery.done_once and self._watcher.settled:
            self._end_reading()

    def _end_reading(self) -> None:
        """Once everything is read, ask the servers about znodes that turned out to be hidden."""
        if self.plan.introspect and not (self.is_read or self._introspection.has_asked_for_hidden):
            self.is_sampled = False
            self._introspection.ask_again()
        self.is_read = True

    def _end_round(self) -> None:
        self.is_sampled = self.is_sampled or self._introspection.has_asked_for_hidden

    def _ready(self) -> None:
        self._watcher.connected()
        self._discovery.start()
        self._polling.start()
        if self.plan.introspect:
            self._ask_for_members(self._reader.connection_number)

    def _ask_for_members(self, connection_number: int) -> None:
        if connection_number == self._reader.connection_number:
            self._reader.ask(GetData(CONFIG), self._on_config)
            self._loop.after(MEMBERS_EVERY_S, self._ask_for_members, connection_number)

    def _on_config(self, answer: Answer) -> None:
        ensemble = None
        if answer.error is None:
            config = decode_data(answer.value)[0] or b""
            ensemble = members(config.decode("utf-8", "replace"))
            self._look_for_others(ensemble)
        self._introspection.set_members(ensemble)

    def _look_for_others(self, ensemble: tuple[EnsembleMember, ...]) -> None:
        """Let the client also try ensemble members that are not in --hosts."""
        server = self.access.hosts.server
        addresses = {server(member.host, member.port) for member in ensemble if member.port}
        others = sorted(addresses - {*self.access.hosts.addresses})
        # The ensemble's configuration lists only ports without TLS.
        if self.access.tls is None and others != self._others:
            self._others = others
            threading.Thread(target=self._probe_others, args=(others,), daemon=True).start()

    def _probe_others(self, others: Sequence[Address]) -> None:
        """Probe new members before use: one that hangs would delay every connection attempt."""
        usable = [probe for probe in preflight(others) if probe.usable]
        self._loop.post(self._connection.extend, [probe.address for probe in usable])
        self._loop.post(self._connection.names.update, names_of(usable))

    def _emit_tables(self, facts: Sequence[ServerFact]) -> None:
        """Emit table facts after earlier events, but report a silent server at once."""

        def emit() -> None:
            self._facts.extend(facts)
            self._from_tables += len(facts)

        if any(isinstance(fact, Server) and fact.is_up for fact in facts):
            self._barrier.after(emit)
        else:
            emit()


def preflight_of(access: Access) -> list[Probe]:
    """Probe all hosts. Raise NoConnectionError if none is usable."""
    addresses: Sequence[Address] = access.hosts.addresses
    probes = preflight(addresses, access.tls, min(2.0, access.connect_timeout))
    if not any(probe.usable for probe in probes):
        raise NoConnectionError(" ".join(probe.sentence for probe in probes[:3]))
    return probes
