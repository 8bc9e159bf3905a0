"""Asks every ensemble member for its tables, slowly, on its own thread.

Each round begins with a short probe of all members at once. Then the members that have answered
are asked for their tables, one at a time, and slow ones less often, so that the load does not
depend on the health of the ensemble. The thread hands tables over without waiting, so that it can
always read an answer to its end.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from zktop.model.facts import Connection, Server, ServerFact
from zktop.model.text import Text, clean
from zktop.zk.connect.address import Access, Address, AdminAccess, tls_context
from zktop.zk.connect.preflight import Probe, probes
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.servers.flavours import ServerKind
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.known_servers import KnownServers
from zktop.zk.servers.known_tables import share
from zktop.zk.servers.large_table_reader import TableReader
from zktop.zk.servers.sample import Sample, SampleSettings, by_admin, by_words, unreached
from zktop.zk.servers.server_schedule import ServerSchedule
from zktop.zk.servers.table_facts import facts
from zktop.zk.servers.table_formats import EnsembleMember
from zktop.zk.wall_clock import now_ms

PROBE_TIMEOUT_S = 1.5
RETRY_S = 0.5  # between a first miss and the second probe
ADMIN_AGAIN_S = 60.0  # until a server without AdminServer is asked again
GONE_AFTER_S = 60.0  # a name server may omit an address for a while
MEMBERS_WITHIN_S = 1.0  # longest wait of the first round for the list of members


class Introspection:
    """Samples all servers in rounds."""

    def __init__(  # noqa: PLR0913  source, receiver and pace
        self,
        access: Access,
        admin: AdminAccess,
        deliver: Callable[[Sequence[ServerFact]], None],
        newest_zxid: Callable[[], int],
        pace: RequestBudget,
        *,
        every: float,
        large_tables: bool,
    ) -> None:
        self._access, self._admin, self._large_tables = access, admin, large_tables
        self._deliver, self._newest_zxid = deliver, newest_zxid
        self._pace, self._every = pace, every
        self._context = tls_context(access.tls)
        self._admin_context = tls_context(admin.tls)
        # Not over TLS: the process would need our keys.
        self._table_reader = None if access.tls else TableReader()
        self._schedules: dict[str, ServerSchedule] = {}
        self._unasked: tuple[str, ...] = ()  # as last reported
        self._stopped, self._has_members = threading.Event(), threading.Event()
        self._woken = threading.Event()  # ends the pause between two rounds
        self._asked_hidden: tuple[str, ...] = ()  # in the round under way
        self._answered_hidden: tuple[str, ...] = ()  # in the last complete round
        self._thread = threading.Thread(target=self._run, name="zktop-introspection", daemon=True)
        self._members: tuple[EnsembleMember, ...] = ()  # in the last round
        self.ensemble = KnownServers(access.hosts)
        self.on_round: Callable[[], None] = lambda: None
        self.hidden: Callable[[], tuple[str, ...]] = tuple  # znodes that an ACL hides
        self.changes: Callable[[], int] = int  # how often a znode has changed so far
        self.may_rest: Callable[[], bool] = lambda: True  # while no znode changes
        # Receives the full paths of all ephemerals that one server lists, whenever they have
        # changed. None if nothing needs them.
        self.on_ephemerals: Callable[[Sequence[str]], None] | None = None
        self.probed: Mapping[Address, Probe] = {}  # from the preflight, for the first round
        self.requests_sent = self.bytes_in = 0

    def start(self) -> None:
        self._thread.start()

    def set_members(self, members: tuple[EnsembleMember, ...] | None) -> None:
        """Set the members of the ensemble, or None if they are unknown."""
        if members is not None:
            self.ensemble.members = members
        self._has_members.set()

    @property
    def has_asked_for_hidden(self) -> bool:
        """True if the last complete round asked for the owners of all znodes that an ACL hides."""
        return set(self.hidden()) <= set(self._answered_hidden)

    def ask_again(self) -> None:
        """Begin the next round at once. Thread-safe."""
        self._woken.set()

    def stop(self) -> None:
        """Stop after the current answer, or at once if a separate process reads it."""
        self._stopped.set()
        self._woken.set()
        if self._table_reader is not None:
            self._table_reader.close()

    def _run(self) -> None:
        self._has_members.wait(MEMBERS_WITHIN_S)
        while not self._stopped.is_set():
            self._asked_hidden = self.hidden()
            try:
                self._round()
            except RefusedError:  # zktop is closing
                return
            self._report_unasked()
            self._answered_hidden = self._asked_hidden
            self.on_round()
            is_unsure = any(
                schedule.answer_state.is_unsure for schedule in self._schedules.values()
            )
            self._woken.wait(min(RETRY_S, self._every) if is_unsure else self._every)
            if self._woken.is_set():
                self._woken.clear()
                for schedule in self._schedules.values():
                    schedule.ask_now()

    def _round(self) -> None:
        """Ask the servers that are due."""
        now, members = time.monotonic(), self.ensemble.members
        was_reconfigured, self._members = members != self._members, members
        servers = {
            name: address
            for name, address in self.ensemble.servers().items()
            if not self._answers_by_another_name(name)
        }
        for name in servers:
            is_given = name in self.ensemble.named
            schedule = self._schedules.setdefault(name, ServerSchedule(is_given=is_given))
            schedule.known_at = now
        for name in [*self._schedules]:
            is_dismissed = was_reconfigured and name not in servers
            if is_dismissed or now - self._schedules[name].known_at > GONE_AFTER_S:
                self._drop(name)
        changes, may_rest = self.changes(), self.may_rest()
        due = {
            name: address
            for name, address in servers.items()
            if self._schedules[name].is_due(now, changes, may_rest=may_rest)
        }
        for name, probe in self._probe(due).items():
            if self._stopped.is_set():
                return
            is_known = self._given_name(name) is not None
            if self._answers_by_another_name(name) or (is_known and not probe.serves):
                self._drop(name)
            elif probe.serves:
                self._sample(name, probe.address, self._schedules[name])
            else:
                self._note_failure(name, probe, self._schedules[name])

    def _probe(self, due: Mapping[str, Address]) -> dict[str, Probe]:
        """Probe these servers and note whether they answer."""
        begun = now_ms()
        not_probed = [address for address in due.values() if address not in self.probed]
        for _ in not_probed:
            self._take_request()
        kinds = {address: self._schedules[name].kind for name, address in due.items()}
        new_probes = probes(not_probed, self._context, PROBE_TIMEOUT_S, kinds)
        by_address = {**self.probed, **{probe.address: probe for probe in new_probes}}
        by_name = {name: by_address[address] for name, address in due.items()}
        self.probed = {}
        for name, probe in by_name.items():
            schedule = self._schedules[name]
            schedule.answer_state.update(probe, begun)
            schedule.kind = probe.kind or schedule.kind
        return by_name

    def _note_failure(self, name: str, probe: Probe, schedule: ServerSchedule) -> None:
        """Report a server that does not answer. After a single miss its tables stay valid."""
        if schedule.answer_state.is_unsure and schedule.facts:
            return
        schedule.clock.forget()
        schedule.watches = {}
        sample = unreached(probe.why, schedule.kind or ServerKind())
        sample.state, sample.since = schedule.answer_state.state, schedule.answer_state.since
        schedule.facts = facts(sample, name, self._newest_zxid(), self._access.hosts)
        self._deliver(schedule.facts)

    def _report_unasked(self) -> None:
        why = "/zookeeper/config does not include its client port: add it to --hosts"
        previously_unasked, self._unasked = self._unasked, self.ensemble.unasked()
        for name in set(previously_unasked).difference(self._unasked):
            self._report_departure(name)
        for name in self._unasked:
            sample = unreached(why)
            sample.state = "unreached"
            self._deliver(facts(sample, name, self._newest_zxid(), self._access.hosts))

    def _report_departure(self, name: str) -> None:
        """Report that a server is no longer known, neither by a name nor as a member."""
        departure = Server(
            server=clean(name),
            zxid=self._newest_zxid(),
            at=now_ms(),
            why=Text("it is no longer a member"),
            state="unreached",
            left=True,
        )
        self._deliver([departure])

    def _take_request(self) -> None:
        """Wait for the request budget, and count a request."""
        while (wait_s := self._pace.wait_s()) > 0.0:
            if self._stopped.wait(wait_s):
                raise RefusedError("zktop is closing")
        self.requests_sent += 1

    def _count_bytes(self, count: int) -> None:
        self.bytes_in += count

    def _sample(self, name: str, address: Address, schedule: ServerSchedule) -> None:
        newest_zxid = self._newest_zxid()
        changes: int | None = self.changes()
        begun, cpu_before = time.monotonic(), time.thread_time()
        sample = self._request_sample(address, schedule)
        schedule.server_id = sample.server_id or schedule.server_id
        if self.on_ephemerals is not None and sample.all_ephemerals:
            self.on_ephemerals(sample.all_ephemerals)
        sample.state = schedule.answer_state.state
        took = time.monotonic() - begun
        # A lagging server shows an earlier zxid than the newest that we know.
        zxid = newest_zxid if sample.zxid is None else min(newest_zxid, sample.zxid)
        new_facts = facts(sample, name, zxid, self._access.hosts)
        share(new_facts, schedule.facts)
        schedule.watches, schedule.facts = sample.watches or {}, new_facts
        self._deliver(new_facts)
        ended, spent = time.monotonic(), time.thread_time() - cpu_before
        if any(map(_is_silent, sample.connections or ())):
            changes = None  # so that the next sample is not delayed
        schedule.sampled(ended, changes, took=took, spent=spent, every=self._every)

    def _given_name(self, name: str) -> str | None:
        """Return the name in --hosts of the server that this member is, by its id.

        Such a name may be a local address, or have the TLS port, which the configuration lacks.
        Counted twice, each client of the server would seem to change servers all the time.
        """
        member_id = self.ensemble.member_ids.get(name)
        given = (one for one in self._schedules if one in self.ensemble.named)
        same = (one for one in given if self._schedules[one].server_id == member_id)
        return next(same, None) if member_id else None

    def _answers_by_another_name(self, name: str) -> bool:
        given = self._given_name(name)
        return given is not None and self._schedules[given].answer_state.since is None

    def _drop(self, name: str) -> None:
        """Forget a server, and report that it left if it was reported."""
        if self._schedules.pop(name).facts:
            self._report_departure(name)

    def _request_sample(self, address: Address, schedule: ServerSchedule) -> Sample:
        """Ask the AdminServer, or use four-letter words."""
        kind = schedule.kind
        if kind is not None and not kind.traits.answers_words:
            return unreached(f"{kind} does not report it", kind)
        settings = self._sample_settings(address, schedule)
        has_admin = kind is None or kind.traits.admin
        if has_admin and schedule.admin_due <= time.monotonic():
            try:
                return by_admin(settings, schedule.clock)
            except RefusedError as refusal:
                schedule.admin_due = time.monotonic() + ADMIN_AGAIN_S
                schedule.why_no_admin = str(refusal)
        try:
            sample = by_words(settings, schedule.clock)
        except RefusedError as refusal:
            schedule.clock.forget()
            why = "; ".join(filter(None, (str(refusal), schedule.why_no_admin)))
            return unreached(why, kind or ServerKind())
        if sample.kind.traits.admin:
            for table, why in sample.why.items():
                sample.why[table] = f"{why}; {schedule.why_no_admin}"
        return sample

    def _sample_settings(self, address: Address, schedule: ServerSchedule) -> SampleSettings:
        return SampleSettings(
            address=address,
            hosts=self._access.hosts,
            context=self._context,
            admin=self._admin,
            admin_context=self._admin_context,
            large_tables=self._large_tables,
            count_bytes=self._count_bytes,
            take_request=self._take_request,
            table_reader=self._table_reader,
            sizes=schedule.sizes,
            known_tables=schedule.known_tables,
            other_watches=tuple(
                other.watches for other in self._schedules.values() if other is not schedule
            ),
            hidden=self._asked_hidden,
            notes_ephemerals=self.on_ephemerals is not None,
        )


def _is_silent(connection: Connection) -> bool:
    """True if a client may be paused or dead, which the next table may show."""
    quiet_ms, timeout_ms = connection.quiet_ms, connection.timeout_ms
    return quiet_ms is not None and timeout_ms is not None and 2 * quiet_ms > timeout_ms
