"""Turns a live ensemble into a stream of reports.

All of it runs in the thread that iterates over `reports`. While that thread waits for the next
look, the source handles replies and events from the servers. At each look, the new facts are
folded into the world and the examiner makes a report. `LookPace` decides when to look.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Protocol, Self

from msgspec.structs import replace

from zktop.app.garbage_collection import no_collections
from zktop.app.look_pace import LookPace
from zktop.app.owners_file import OwnersFile
from zktop.errors import NoConnectionError
from zktop.model.examiner import Examiner
from zktop.model.facts import Cost, Millis, Session, SourceFact
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.zk import Access, Plan, Source
from zktop.zk.event_loop import WhileWaiting
from zktop.zk.wall_clock import now_ms

GATHER_S = 0.01  # pause before a look is due. Waking up for each event would double the cost.
RELIST_AGAIN_S = 1.0  # between two listings to confirm one suspicion
RATE_OVER_S = 1.0  # requests per second are counted over this time
FIRST_READING_S = 60.0  # enough for more than a hundred thousand znodes
FIRST_SAMPLE_S = 5.0  # the longest wait for the first tables of the servers
SLEEP_S = 3.0  # after a longer wait, zktop was suspended, or its machine was asleep
SLEPT = Text("zktop was not running")
SILENT = Text("the server did not answer for a while")
STEADY_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # runs on while Linux sleeps
TIMED_OUT = "reading timed out; the answer covers what was read"


class FactRecorder(Protocol):
    """Receives the facts of a run, and the times of its looks."""

    def facts(self, facts: Iterable[SourceFact]) -> None:
        """Record facts."""

    def look(self, at: Millis, *, thorough: bool = True) -> None:
        """Record that the world was examined at this time."""

    def close(self) -> None:
        """Finish the recording."""


class LiveRun:
    """Reads one ensemble and reports on it within a `with` block."""

    def __init__(
        self,
        access: Access,
        plan: Plan,
        settings: Settings,
        while_waiting: WhileWaiting = nullcontext,
        owners_file: str | None = None,
    ) -> None:
        """Prepare a run. `while_waiting` wraps every wait, where a command may be interrupted."""
        self.access, self.settings = access, settings
        self.recorder: FactRecorder | None = None
        self.on_progress: Callable[[str], None] = lambda _progress: None  # during `read`
        self.on_read: Callable[[], None] = lambda: None  # at its end
        self.ours: Callable[[], Collection[Session]] = frozenset  # sessions of demo contenders
        self.world = World()
        self._source = Source(access, plan, while_waiting)
        self._examiner = Examiner(settings)
        self._owners = OwnersFile(owners_file) if owners_file else None
        self._facts_read = 0
        self._is_timed_out = False
        self._now: Millis = 0
        self._pace = LookPace()
        self._is_woken = False
        self._relisted: dict[Text, float] = {}
        self._cost: Cost | None = None
        self._cost_at = 0.0

    def __enter__(self) -> Self:
        """Connect, or raise NoConnectionError with the reason."""
        self._source.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._source.close()

    @property
    def hosts(self) -> str:
        """The addresses, without the chroot."""
        return ",".join(map(str, self.access.hosts.addresses))

    @property
    def chroot(self) -> str:
        return self.access.hosts.chroot

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about data that is read late or incompletely, and why."""
        owners = (self._owners.note,) if self._owners and self._owners.note else ()
        unread = (TIMED_OUT,) if self._is_timed_out and not self._source.is_read else ()
        return (*owners, *unread, *self._source.degraded())

    # The first reading

    def read(self) -> bool:
        """Wait for the first complete reading, then for the tables.

        Return False if the reading times out. Raise NoConnectionError if the connection is lost
        and does not come back in time.
        """
        deadline = time.monotonic() + FIRST_READING_S
        try:
            for progress in self.reading():
                self.on_progress(progress)
                if time.monotonic() > deadline:
                    self._is_timed_out = True
                    return False
        finally:
            self.on_read()
        self._source.run_until_sampled(FIRST_SAMPLE_S)  # a late table is a blind spot
        return True

    def reading(self) -> Iterator[str]:
        """Wait for the first complete reading, and yield its progress."""
        with no_collections():
            while not self._source.run_until_read(0.1):
                self._fold()  # facts that are not folded yet take twice the memory
                self.raise_if_lost()
                yield self._source.progress() or f"{self._facts_read:,} znodes read so far"

    @property
    def reads_more(self) -> bool:
        """Whether empty lock folders, perhaps thousands, are still to be read."""
        return self._source.reads_more

    # The connection

    def raise_if_lost(self, patience_s: float | None = None) -> None:
        """Raise NoConnectionError if the connection has been lost for too long."""
        lost_s = self.lost_s()
        if lost_s > (self.access.connect_timeout if patience_s is None else patience_s):
            raise NoConnectionError(
                f"The connection to {self.access.hosts} was lost {lost_s:.0f} s ago "
                "and has not come back."
            )

    def lost_s(self) -> float:
        """Return for how long the connection has been lost, or 0 if it is up."""
        link = self._source.link
        if link is None or link.is_up:
            return 0.0
        since = link.at if link.gone_since is None else link.gone_since
        return max(0.001, (now_ms() - since) / 1000)

    def known_until(self, report: Report) -> Millis:
        """Return up to when a report of a lost connection knows everything.

        A closed connection is noticed at once, but a server that does not answer or a network that
        is cut only after seconds.
        """
        return min(report.now, self._source.silent_from or report.now)

    # Reports

    def reports(self, seconds: float | None = None) -> Iterator[Report]:
        """Yield a report after every change, and at least every second. The last is thorough."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        is_last = time.monotonic() >= end
        yield self.look(thorough=is_last)
        while not is_last:
            waits_from = steady_s()
            self._wait(end)
            if steady_s() - waits_from > SLEEP_S and self._is_up():
                yield self._look_before_gap(self._now, SLEPT)
            elif since := self._end_of_silence():
                yield self._look_before_gap(since, SILENT)
            is_last = time.monotonic() >= end
            yield self.look(thorough=is_last)

    def keep_tables_new(self, is_needed: Callable[[], bool]) -> None:
        """While `is_needed()`, read the servers' tables at the full rate, even without changes."""
        self._source.shows_tables = is_needed

    def wake(self) -> None:
        """Make `reports` look now. Thread-safe."""
        self._source.post(self._wake)

    def _wake(self) -> None:
        self._is_woken = True

    def look(self, *, thorough: bool = True) -> Report:
        """Report on everything read so far. A thorough look leaves no examination overdue."""
        began, cpu = time.monotonic(), time.thread_time()
        is_first = not self._now
        with no_collections() if is_first else nullcontext():
            has_news = self._fold()
            self._now = now_ms()
            report = self._report(is_thorough=thorough)
        self._pace.looked(began, time.thread_time() - cpu if has_news else 0.0)
        self._relist(report.relist)
        return report

    def _is_up(self) -> bool:
        """Whether the connection was up at the last look."""
        return self.world.link is not None and self.world.link.is_up

    def _end_of_silence(self) -> Millis | None:
        """Return when our server stopped answering, if it has just answered again.

        Its events came late. Without late answers to other connections, zktop itself was slow.
        """
        since, link = self._source.pop_silence(), self.world.link
        if since is None or link is None or not link.is_up or not link.server or since <= link.at:
            return None
        tables = self.world.tables.get(link.server)
        known = tables.server if tables else None
        return since if known is not None and known.state == "no-answer" else None

    def _look_before_gap(self, since: Millis, why: Text) -> Report:
        """Report the time since then as unknown, like the time of a lost connection."""
        if link := self.world.link:
            self._add([replace(link, at=since, state="suspended", why=why)])
        report = self._report(is_thorough=False)
        link = self._source.link
        if link is not None and link.is_up:
            self._add([replace(link, at=now_ms())])
            self._source.relist(report.paths)  # as after a reconnection, or they stay unknown
        return report

    def _report(self, *, is_thorough: bool) -> Report:
        """Examine the world at the time of this look."""
        if self.recorder:
            self.recorder.look(self._now, thorough=is_thorough)
        return self._examiner.look(
            self.world, self._now, thorough=is_thorough, ours=self.ours(), cost=self._count_cost()
        )

    def _wait(self, end: float) -> None:
        """Handle replies and events until the next look is due."""
        reading_first = self._pace.reading_first_until(time.monotonic())
        until = min(end, max(reading_first, self._pace.latest(is_behind=self._examiner.is_behind)))
        look_by = None  # look then, even if reads caused by the new facts are unanswered
        self._is_woken = has_more = False
        while (now := time.monotonic()) < until or (has_more and now < reading_first):
            has_more = self._source.run(until)
            if self._is_woken or self._source.has_facts:
                now = time.monotonic()
                look_by = look_by or now + GATHER_S
                due = self._pace.earliest()
                if self._source.is_reading:
                    due = max(due, look_by)
                until = min(end, due)
                if until - now > 2 * GATHER_S:
                    time.sleep(GATHER_S)

    def _fold(self) -> bool:
        """Fold the new facts into the world. Return whether there were any."""
        facts = self._source.take()
        facts += self._owners.changes() if self._owners else []
        if facts:
            self._add(facts)
        return bool(facts)

    def _add(self, facts: list[SourceFact]) -> None:
        self._facts_read += len(facts)
        self.world = self.world.after(*facts)
        if self.recorder:
            self.recorder.facts(facts)

    def _relist(self, paths: Sequence[Text]) -> None:
        """Make the source list these paths again, to confirm or refute a suspicion."""
        now = time.monotonic()
        due = [path for path in paths if now - self._relisted.get(path, 0.0) > RELIST_AGAIN_S]
        self._relisted = {path: self._relisted.get(path, now) for path in paths}
        self._relisted.update(dict.fromkeys(due, now))
        if due:
            self._source.relist(due)

    def _count_cost(self) -> Cost:
        """Count what watching costs the ensemble, in total and per second."""
        now = time.monotonic()
        elapsed_s = now - self._cost_at
        if self._cost is None:
            self._cost, self._cost_at = self._source.cost(), now
        elif elapsed_s >= RATE_OVER_S:
            spent = self._source.cost()
            rate = round((spent.requests - self._cost.requests) / elapsed_s, 1)
            self._cost, self._cost_at = replace(spent, requests_per_s=rate), now
        return self._cost


def steady_s() -> float:
    """Return the seconds of a clock that cannot be set."""
    return time.clock_gettime(STEADY_CLOCK)
